// The parts of bert_lora: texts, files of models, the command line, trainings that are resumed, and their memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

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
    ASSERT_EQ(texts.size(), 3u);
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
    EXPECT_EQ(error_of([&] { return encode(texts, WordPiece::train({"a"}, 9), 9); }).kind,
              rp::ErrorKind::argument);
    texts.erase("few");
    const Caught error = error_of([&] { return take(texts, {"birds", "cars"}); });
    EXPECT_EQ(error.kind, rp::ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("(cars) is not one of the texts': birds, ships, trees"));
}

TEST(Topics, AreSplitAndPadded)
{
    Texts texts = read_texts(data);
    const Texts two = take(texts, {"trees", "birds"});
    EXPECT_EQ(texts.size(), 1u);
    const WordPiece vocabulary = WordPiece::train(two.at("birds"), 300);
    const Examples examples = encode(two, vocabulary, 9);
    EXPECT_THAT(examples.topics, ElementsAre("birds", "trees"));
    EXPECT_EQ(examples.train.size(), 10u);
    EXPECT_EQ(examples.test.size(), 2u);
    EXPECT_EQ(*examples.test[1].text, two.at("trees")[4]);
    const Batch batch = make_batch(examples.train, {7, 0});
    EXPECT_EQ(rp::to_string(batch.tokens.shape()), "[2, 9]");
    EXPECT_THAT(batch.topics.to_vector<std::int32_t>(), ElementsAre(1, 0));
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
                                                                   {"--features", "96"},
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
        return {.step = [](const Progress&) {},
                .epoch = [](const History&) {},
                .stop = [step, made = 0]() mutable { return made++ == step; }};
    }
};

// Stopped within the second epoch, at the end of the first, or before the first step.
TEST_F(BertLora, AResumedTrainingHasTheBitsOfOneWithoutAStop)
{
    for (const char* method : {"qlora", "full"}) {
        const fs::path path = folder(method);
        Training undisturbed(options, method_of(options, method), config, examples);
        const History want = undisturbed.run(path / "undisturbed", stopping_at(-1));
        ASSERT_EQ(want.loss.size(), 12u);
        for (const int stop : {6, 4, 0}) {
            SCOPED_TRACE(std::string(method) + " stopped at " + std::to_string(stop));
            const fs::path checkpoint = path / std::to_string(stop);
            Options resumed = options;
            {
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
        }
    }
}

TEST_F(BertLora, ACheckpointOfAnotherRunIsRefused)
{
    const fs::path checkpoint = folder("other") / "checkpoint";
    Training(options, method_of(options, "qlora"), config, examples).run(checkpoint, stopping_at(1));
    Options other = options;
    other.resume = true;
    other.rank = 8;
    const Caught error = error_of([&] {
        return Training(other, method_of(other, "qlora"), config, examples).run(checkpoint, stopping_at(-1));
    });
    EXPECT_EQ(error.kind, rp::ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("the checkpoint is of another run (qlora over q4_0, bf16"));
    EXPECT_THAT(error.text, HasSubstr("rank 8"));
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
    bert::load_encoder(third.bert, path);
    EXPECT_EQ(third.bert.encoder.state_dict().at("layer.0.output.LayerNorm.weight").to_vector<float>(),
              net.bert.encoder.state_dict().at("layer.0.output.LayerNorm.weight").to_vector<float>());
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
    std::string heads = json;
    heads.replace(heads.find("num_attention_heads\": 2"), 23, "num_attention_heads\": 0");
    std::ofstream(path / "config.json") << heads;
    EXPECT_EQ(error_of([&] { return bert::read_config(path); }).kind, rp::ErrorKind::file);
    json.replace(json.find("\"gelu\""), 6, "\"relu\"");
    std::ofstream(path / "config.json") << json;
    EXPECT_EQ(error_of([&] { return bert::read_config(path); }).kind, rp::ErrorKind::unsupported);
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
