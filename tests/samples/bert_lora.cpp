// The parts of bert_lora: texts, files of models, the command line, trainings that are resumed, and their memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <tuple>

#include "../../samples/bert_lora/options.hpp"
#include "../../samples/bert_lora/report.hpp"
#include "../../samples/bert_lora/texts.hpp"
#include "../../samples/bert_lora/training.hpp"
#include "../../samples/common/bert_files.hpp"
#include "../../samples/common/command_line.hpp"
#include "shape/error_of.hpp"

namespace {

namespace rp = reprise;
namespace fs = std::filesystem;
using namespace bert_lora;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path data = fs::path(REPRISE_SOURCE_DIR) / "tests/samples/topics";

// A new empty folder.
fs::path folder(const std::string& name)
{
    fs::path path = fs::path(testing::TempDir()) / ("bert_lora-" + name);
    fs::remove_all(path);
    fs::create_directories(path);
    return path;
}

TEST(Topics, AreReadFromFiles)
{
    const Texts texts = read_texts(data);
    ASSERT_EQ(texts.size(), 4u);
    EXPECT_EQ(texts.at("birds").size(), 6u);
    EXPECT_EQ(texts.at("ships")[2], "The captain wrote in the log: fog, no wind.\n");
}

TEST(Topics, LeaveOutOtherFilesAndEmptyTexts)
{
    const fs::path path = folder("texts");
    std::ofstream(path / "a.txt") << "%\r\none\r\nline\r\n%\n \n%\ntwo";
    std::ofstream(path / "a.dat") << "x";
    std::ofstream(path / "empty") << "%\n";
    EXPECT_THAT(read_texts(path), ElementsAre(testing::Pair("a", ElementsAre("one\nline\n", "two\n"))));
}

TEST(Topics, AreRefusedWhereThereAreNone)
{
    EXPECT_EQ(error_of([] { return read_texts("/no/such/folder"); }).kind, rp::ErrorKind::file);
    EXPECT_EQ(error_of([] { return read_texts(folder("none")); }).kind, rp::ErrorKind::argument);
    Texts texts = read_texts(data);
    texts["few"] = {"a", "b", "c", "d"};
    const WordPiece vocabulary = WordPiece::train({"a"}, 9);
    EXPECT_EQ(error_of([&] { return encode(texts, vocabulary, 9); }).kind, rp::ErrorKind::argument);
    texts.erase("few");
    EXPECT_EQ(error_of([&] { return encode({*texts.begin()}, vocabulary, 9); }).kind,
              rp::ErrorKind::argument);
    const Caught error = error_of([&] { return take(texts, {"birds", "cars"}); });
    EXPECT_EQ(error.kind, rp::ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("(cars) is not one of the texts': birds, ships, stars, trees"));
}

TEST(Topics, AreSplitAndPadded)
{
    Texts texts = read_texts(data);
    const Texts two = take(texts, {"trees", "birds"});
    EXPECT_EQ(texts.size(), 2u);
    const WordPiece vocabulary = WordPiece::train({two.at("birds")[5], two.at("trees")[4]}, 300);
    const Examples examples = encode(two, vocabulary, 40);
    EXPECT_THAT(examples.topics, ElementsAre("birds", "trees"));
    EXPECT_EQ(examples.train.size(), 10u);
    ASSERT_EQ(examples.test.size(), 2u);
    EXPECT_EQ(*examples.train[5].text, two.at("trees")[0]);
    EXPECT_EQ(*examples.test[1].text, two.at("trees")[4]);
    EXPECT_EQ(examples.test[1].topic, 1);

    const auto a = vocabulary.encode(two.at("trees")[4], 40), b = vocabulary.encode(two.at("birds")[5], 40);
    const Batch batch = make_batch({{b, 0}, {{2, 3}, 7}, {a, 1}}, {2, 1, 0});
    const std::size_t length = std::max(a.size(), b.size());
    ASSERT_NE(a.size(), b.size());
    std::vector<std::int32_t> want(3 * length, 0);
    std::copy(a.begin(), a.end(), want.begin());
    std::copy_n(std::begin({2, 3}), 2, want.begin() + static_cast<std::ptrdiff_t>(length));
    std::copy(b.begin(), b.end(), want.begin() + static_cast<std::ptrdiff_t>(2 * length));
    EXPECT_EQ(rp::to_string(batch.tokens.shape()), "[3, " + std::to_string(length) + "]");
    EXPECT_EQ(batch.tokens.to_vector<std::int32_t>(), want);
    EXPECT_THAT(batch.topics.to_vector<std::int32_t>(), ElementsAre(1, 7, 0));
}

TEST(BertLoraOptions, HelpNamesEveryOption)
{
    std::ostringstream out, err;
    EXPECT_EQ(parse({"--help"}, out, err).exit_code, 0);
    for (const char* name :
         {"--data",    "--topics",    "--base",     "--methods", "--epochs",     "--base-epochs",
          "--batch",   "--longest",   "--features", "--layers",  "--vocabulary", "--rank",
          "--weights", "--precision", "--budget",   "--rate",    "--steps",      "--resume",
          "--device",  "--out",       "--seed",     "--help"})
        EXPECT_THAT(out.str(), HasSubstr(name));
    EXPECT_EQ(err.str(), "");
}

TEST(BertLoraOptions, TakesListsAndRefusesNonsense)
{
    std::ostringstream out, err;
    const bert_lora::CommandLine line =
        parse({"--topics", "a,b", "--methods=full,qlora", "--budget", "2.5", "--resume"}, out, err);
    ASSERT_FALSE(line.exit_code) << err.str();
    EXPECT_THAT(line.options.topics, ElementsAre("a", "b"));
    EXPECT_THAT(line.options.methods, ElementsAre("full", "qlora"));
    EXPECT_EQ(line.options.budget, 2.5);
    EXPECT_TRUE(line.options.resume);
    for (const auto& wrong : std::vector<std::vector<std::string>>{{"--methods", "head"},
                                                                   {"--features", "100"},
                                                                   {"--weights", "q2"},
                                                                   {"--rank", "0"},
                                                                   {"--budget", "0"},
                                                                   {"--longest", "2"}}) {
        err.str("");
        EXPECT_EQ(parse(wrong, out, err).exit_code, exit_usage) << wrong[0];
        EXPECT_NE(err.str(), "");
    }
}

struct BertLora : testing::Test {
    Texts texts = read_texts(data);
    Options options{.epochs = 3, .batch = 4, .longest = 12, .features = 64, .layers = 1, .rank = 4};
    WordPiece vocabulary = WordPiece::train(all_texts(), 300);
    Examples examples = encode(texts, vocabulary, options.longest);
    bert::Config config{.vocab_size = static_cast<std::int64_t>(vocabulary.pieces().size()),
                        .hidden_size = 64,
                        .num_hidden_layers = 1,
                        .num_attention_heads = 2,
                        .intermediate_size = 128,
                        .max_position_embeddings = 12,
                        .labels = examples.topics};

    std::vector<std::string> all_texts() const
    {
        std::vector<std::string> out;
        for (const auto& [topic, list] : texts) out.insert(out.end(), list.begin(), list.end());
        return out;
    }
    // A reporter that stops before the step with this number, counted from 0.
    static Reporter stopping_at(int step)
    {
        return {.step = [](const reprise::train::Progress&) {},
                .epoch = [](const History&) {},
                .stop = [step, made = 0]() mutable { return made++ == step; }};
    }
};

// Stopped within the second epoch, at the end of the first, or before the first step; and resumed when it has ended,
// within the third epoch.
TEST_F(BertLora, AResumedTrainingHasTheBitsOfOneWithoutAStop)
{
    options.steps = 12;
    for (const char* method : {"qlora", "full"}) {
        const fs::path path = folder(method);
        Training undisturbed(options, method_of(options, method), config, examples);
        const History want = undisturbed.run(path / "12", stopping_at(-1));
        ASSERT_EQ(want.loss.size(), 12u);
        ASSERT_EQ(want.steps_per_epoch, 5);
        ASSERT_EQ(want.epoch_loss.size(), 3u);
        for (const int stop : {7, 5, 0, 12}) {
            SCOPED_TRACE(std::string(method) + " stopped at " + std::to_string(stop));
            const fs::path checkpoint = path / std::to_string(stop);
            Options resumed = options;
            if (stop < 12) {
                Training first(options, method_of(options, method), config, examples);
                const History part = first.run(checkpoint, stopping_at(stop));
                EXPECT_TRUE(part.interrupted);
                EXPECT_EQ(part.loss.size(), static_cast<std::size_t>(stop));
            }
            resumed.resume = true;
            Training second(resumed, method_of(resumed, method), config, examples);
            const History found = second.run(checkpoint, stopping_at(-1));
            EXPECT_FALSE(found.interrupted);
            EXPECT_EQ(found.loss, want.loss);
            EXPECT_EQ(found.epoch_loss, want.epoch_loss);
            EXPECT_EQ(found.test_loss, want.test_loss);
            EXPECT_EQ(found.test_accuracy, want.test_accuracy);
            EXPECT_EQ(found.recordings, 0u);
            EXPECT_GT(found.texts_per_second, 0);
            EXPECT_EQ(second.predict({0, 2}), undisturbed.predict({0, 2}));
        }
    }
}

TEST_F(BertLora, ACheckpointOfAnotherRunIsRefused)
{
    const fs::path checkpoint = folder("other") / "checkpoint";
    Training(options, method_of(options, "qlora"), config, examples).run(checkpoint, stopping_at(1));
    const auto resume = [&](const std::function<void(Options&)>& change) {
        Options other = options;
        other.resume = true;
        change(other);
        return error_of([&] {
            return Training(other, method_of(other, "qlora"), config, examples)
                .run(checkpoint, stopping_at(0));
        });
    };
    EXPECT_EQ(resume([](Options&) {}).text, "nothing was thrown");
    const Caught error = resume([](Options& o) { o.rank = 8; });
    EXPECT_EQ(error.kind, rp::ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("the checkpoint is of another run (qlora over q4_0, bf16"));
    EXPECT_THAT(error.text, HasSubstr("rank 8"));
    for (const std::function<void(Options&)>& change : std::vector<std::function<void(Options&)>>{
             [](Options& o) { o.rate = 2.0000001e-3; }, [](Options& o) { o.base_epochs = 9; },
             [](Options& o) { o.data = "elsewhere"; }, [](Options& o) { o.base = "another"; },
             [](Options& o) { o.seed = 1; }, [](Options& o) { o.precision = "f32"; }})
        EXPECT_THAT(resume(change).text, HasSubstr("the checkpoint is of another run"));
    std::map<std::string, rp::Tensor> tensors;
    rp::SaveOptions changed;
    {
        const rp::ModelFile file(checkpoint);
        for (const auto& [name, stored] : file.tensors()) tensors.emplace(name, file.load(name));
        for (const auto& [name, value] : file.metadata()) changed.metadata.emplace(name, value.to_text());
    }
    tensors["texts"] = rp::ones({2});
    rp::save_safetensors(checkpoint, tensors, changed);
    const Caught damaged = resume([](Options&) {});
    EXPECT_EQ(damaged.kind, rp::ErrorKind::argument);
    EXPECT_THAT(damaged.text, HasSubstr("The part is (texts)"));
}

TEST_F(BertLora, ABaseIsSavedAndLoaded)
{
    const fs::path path = folder("base");
    rp::manual_seed(7);
    bert::Classifier net(config);
    net.eval();
    bert::save(path, net, config, vocabulary);
    EXPECT_EQ(bert::read_config(path).hidden_size, 64);
    bert::Config two = config; // another head
    two.labels.resize(2);
    bert::Classifier other(two);
    other.eval();
    bert::load_encoder(other.bert, path);
    const Batch batch = make_batch(examples.train, {0, 5, 9});
    EXPECT_EQ(other.bert(batch.tokens).to_vector<float>(), net.bert(batch.tokens).to_vector<float>());
    Training over(options, method_of(options, "full"), config, examples, path);
    EXPECT_EQ(over.net().state_dict().at("bert.pooler.dense.weight").to_vector<float>(),
              net.state_dict().at("bert.pooler.dense.weight").to_vector<float>());

    // A file of BertModel with the names of old ones, without a pooler.
    std::map<std::string, rp::Tensor> old;
    const auto replace = [](std::string& name, const std::string& what, const char* by) {
        if (const auto at = name.find(what); at != std::string::npos) name.replace(at, what.size(), by);
    };
    for (const auto& [name, value] : net.bert.state_dict()) {
        std::string in_file = name;
        replace(in_file, "LayerNorm.weight", "LayerNorm.gamma");
        replace(in_file, "LayerNorm.bias", "LayerNorm.beta");
        if (!name.starts_with("pooler")) old.emplace(in_file, value);
    }
    rp::save_safetensors(path / "model.safetensors", old);
    bert::Classifier third(two);
    const std::vector<float> pooler = third.bert.pooler.dense.weight.to_vector<float>();
    bert::load_encoder(third.bert, path);
    for (const auto& [name, value] : third.bert.state_dict())
        if (!name.starts_with("pooler")) {
            EXPECT_EQ(value.to_vector<float>(), net.bert.state_dict().at(name).to_vector<float>()) << name;
        }
    EXPECT_EQ(third.bert.pooler.dense.weight.to_vector<float>(), pooler);
    old.erase("encoder.layer.0.output.dense.weight");
    rp::save_safetensors(path / "model.safetensors", old);
    EXPECT_THAT(error_of([&] { return bert::load_encoder(third.bert, path), 0; }).text,
                HasSubstr("the weight encoder.layer.0.output.dense.weight is missing"));
}

TEST_F(BertLora, OtherModelsAreRefused)
{
    const fs::path path = folder("wrong");
    EXPECT_EQ(error_of([&] { return bert::read_config(path); }).kind, rp::ErrorKind::file);
    bert::save(path, bert::Classifier(config), config, vocabulary);
    std::stringstream text;
    text << std::ifstream(path / "config.json").rdbuf();
    std::string json = text.str();
    std::ofstream(path / "config.json") << json.substr(0, json.size() / 2);
    EXPECT_EQ(error_of([&] { return bert::read_config(path); }).kind, rp::ErrorKind::file);
    using Kind = rp::ErrorKind;
    for (const auto& [what, by, kind] : std::vector<std::tuple<std::string, std::string, Kind>>{
             {"\"num_attention_heads\": 2", "\"num_attention_heads\": 0", Kind::file},
             {"\"num_attention_heads\": 2", "\"num_attention_heads\": 3", Kind::file},
             {"\"hidden_size\": 64", "\"hidden_size\": \"64\"", Kind::file},
             {"\"hidden_dropout_prob\": 0.1", "\"hidden_dropout_prob\": 1.0", Kind::file},
             {"\"gelu\"", "\"relu\"", Kind::unsupported},
             {"\"pad_token_id\": 0", "\"pad_token_id\": 1", Kind::unsupported},
             {"\"pad_token_id\": 0", "\"position_embedding_type\": \"relative_key\"", Kind::unsupported}}) {
        std::string changed = json;
        ASSERT_NE(changed.find(what), std::string::npos) << what;
        std::ofstream(path / "config.json") << changed.replace(changed.find(what), what.size(), by);
        EXPECT_EQ(error_of([&] { return bert::read_config(path); }).kind, kind) << by;
    }
    std::ofstream(path / "config.json") << "{\"hidden_size\": 128, \"num_attention_heads\": 2}";
    EXPECT_EQ(bert::read_config(path).layer_norm_eps, 1e-12); // the default
    std::ofstream(path / "tokenizer_config.json") << "{\"do_lower_case\": false}";
    EXPECT_EQ(error_of([&] { return bert::read_config(path); }).kind, Kind::unsupported);
}

// Four layers of 256 features, a vocabulary of 8,192 and four texts of 64 tokens.
TEST(BertLoraMemory, OfQLoraIsAtMostThirtyFivePercentOfFullFineTuning)
{
    const Options options{.batch = 4, .longest = 64};
    const bert::Config config{.vocab_size = 8192,
                              .hidden_size = 256,
                              .num_hidden_layers = 4,
                              .num_attention_heads = 8,
                              .intermediate_size = 1024,
                              .max_position_embeddings = 64};
    Examples examples;
    examples.train.resize(4);
    const auto bytes = [&](const char* method, rp::DType precision) {
        Method m = method_of(options, method);
        m.precision = precision;
        return static_cast<double>(bytes_of(Training(options, m, config, examples).history().memory));
    };
    const double full = bytes("full", rp::f32);
    EXPECT_LE(bytes("qlora", rp::f32), 0.35 * full);
    EXPECT_LE(bytes("qlora", rp::bf16), 0.30 * full);
}

TEST(BertLoraReport, DrawsAndCountsWhatThereIs)
{
    History h{.method = "qlora", .steps_per_epoch = 30};
    for (int i = 0; i < 60; ++i) h.loss.push_back(2.0 / (1 + i));
    h.test_loss = {0.4, 0.2};
    h.test_accuracy = {0.6, 0.7};
    const std::string svg = rp::train::to_svg(picture({h, History{.method = "full"}}, "vulkan:0"));
    for (const char* part : {"bert_lora on vulkan:0", "qlora, mean of 6 steps", "Accuracy"})
        EXPECT_THAT(svg, HasSubstr(part));
    const std::string json = figures({h}, {h}, {}, "vulkan:0").json();
    for (const char* part : {"qlora_memory", "test_accuracies", "\"precision\": \"bf16\""})
        EXPECT_THAT(json, HasSubstr(part));
}

} // namespace
