// Low-rank adapters in files: those that PEFT wrote (scripts/make_lora_fixture.py), and those of Lora::save().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using nn::Lora;
using test::bits;
using testing::HasSubstr;
using Json = nlohmann::json;

const std::filesystem::path fixture = std::filesystem::path(REPRISE_SOURCE_DIR) / "tests/nn/lora";

// The model of scripts/make_lora_fixture.py.
struct Net : nn::Module {
    nn::Embedding words = register_module("words", nn::Embedding(7, 4));
    nn::Conv1d mix = register_module("mix", nn::Conv1d(4, 4, {.kernel_size = 3, .padding = 1}));
    nn::MultiheadAttention attention =
        register_module("attention", nn::MultiheadAttention(4, 2, {.batch_first = true}));
    nn::Linear fc = register_module("fc", nn::Linear(4, 4));
    nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(4));
    nn::Linear head = register_module("head", nn::Linear(4, 2));
    Net()
    {
        load_state_dict(ModelFile(fixture / "model.safetensors"), {.cast = true});
        eval();
    }
    Tensor forward(Tensor indices) override
    {
        Tensor x = tanh(transpose(mix(transpose(words(indices), 1, 2)), 1, 2));
        x = x + attention(x);
        return head(norm(mean(tanh(fc(x)), {1})));
    }
};
const nn::LoraOptions options_of_fixture{.rank = 2,
                                         .alpha = 3,
                                         .target_modules = {"attention", "fc", "mix", "words"},
                                         .modules_to_save = {"norm", "head"},
                                         .bias = "lora_only"};

double difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item<float>(); }

Json config_of(const std::filesystem::path& folder)
{
    return Json::parse(read_text(folder / "adapter_config.json"));
}

std::vector<test::Bits> values_of(const Lora& lora)
{
    std::vector<test::Bits> out;
    for (const auto& [name, t] : lora.state_dict()) out.push_back(bits(t));
    return out;
}

TEST(LoraFiles, AdaptersOfPeftGiveItsResults)
{
    Net net;
    const auto values = load_safetensors(fixture / "values.safetensors");
    const Tensor x = values.at("indices").to(i32);
    EXPECT_LE(difference(net(x), values.at("before")), 1e-5);
    Lora lora = Lora::from_pretrained(net, fixture);
    EXPECT_LE(difference(net(x), values.at("after")), 1e-5);
    EXPECT_EQ(lora.targets().size(), 5u);
    lora.merge();
    EXPECT_LE(difference(net(x), values.at("after")), 1e-5);
}

TEST(LoraFiles, AreThoseOfPeft)
{
    Net net;
    Lora lora(net, options_of_fixture);
    lora.load(fixture);
    const Scratch scratch;
    lora.save(scratch / "new/adapter");
    const ModelFile own(scratch / "new/adapter/adapter_model.safetensors");
    const ModelFile theirs(fixture / "adapter_model.safetensors");
    EXPECT_EQ(own.metadata("format").to_text(), "pt");
    ASSERT_EQ(own.tensors().size(), theirs.tensors().size());
    for (const auto& [name, tensor] : theirs.tensors())
        EXPECT_EQ(bits(own.load(name, {.dtype = f32})), bits(theirs.load(name, {.dtype = f32}))) << name;
    const Json config = config_of(scratch / "new/adapter"), peft = config_of(fixture);
    for (const auto& [key, value] : config.items()) {
        if (key == "auto_mapping") continue; // the name of a Python class
        EXPECT_EQ(value, peft.at(key)) << key;
    }
}

TEST(LoraFiles, KeepAllOptions)
{
    Net net;
    const Scratch scratch;
    const nn::LoraOptions options{.rank = 3,
                                  .alpha = 1.5,
                                  .dropout = 0.25,
                                  .target_modules = ".*(fc|head)",
                                  .exclude_modules = {"head"},
                                  .bias = "all",
                                  .use_rslora = true};
    const Lora lora(net, options);
    lora.save(scratch.path());
    Net other;
    const Lora read = Lora::from_pretrained(other, scratch.path());
    EXPECT_EQ(read.options().rank, 3);
    EXPECT_EQ(read.options().alpha, 1.5);
    EXPECT_EQ(read.options().dropout, 0.25);
    EXPECT_EQ(read.options().target_modules.value(), options.target_modules.value());
    EXPECT_EQ(read.options().exclude_modules.value(), options.exclude_modules.value());
    EXPECT_TRUE(read.options().modules_to_save.empty());
    EXPECT_EQ(read.options().bias, nn::LoraBias::all);
    EXPECT_TRUE(read.options().use_rslora);
    for (const auto& [name, t] : lora.state_dict())
        EXPECT_EQ(bits(t), bits(read.state_dict().at(name))) << name;
}

TEST(LoraFiles, ThatDoNotFitChangeNothing)
{
    Net net;
    const auto refused = [&](nn::LoraOptions options, const std::filesystem::path& folder) {
        Lora lora(net, std::move(options));
        const auto before = values_of(lora);
        const Caught caught = error_of([&] {
            lora.load(folder);
            return 0;
        });
        EXPECT_EQ(values_of(lora), before);
        return caught;
    };
    nn::LoraOptions options = options_of_fixture;
    options.rank = 4;
    Caught caught = refused(options, fixture);
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text, HasSubstr("rank (2), alpha (3) and use_rslora (0) where (4), (3) and (0)"));
    options = options_of_fixture;
    options.target_modules = {"attention", "mix", "words", "fc"};
    options.modules_to_save = {"norm"};
    options.exclude_modules = {"words"};
    caught = refused(options, fixture);
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    for (const char* part : {"unexpected", "words.lora_embedding_A", "head.weight"})
        EXPECT_THAT(caught.text, HasSubstr(part));
    options = options_of_fixture;
    options.target_modules = {"attention", "mix", "words", "fc", "head"};
    options.modules_to_save = {"norm"};
    EXPECT_THAT(refused(options, fixture).text, HasSubstr("missing: (base_model.model.head"));
    const Scratch scratch;
    EXPECT_EQ(refused(options, scratch.path()).kind, ErrorKind::file);
}

TEST(LoraFiles, RefusesWhatLoraDoesNotHave)
{
    Net net;
    const Scratch scratch;
    Lora(net, options_of_fixture).save(scratch.path());
    const Json plain = config_of(scratch.path());
    const auto refused = [&](const Json& change) {
        Json config = plain;
        config.update(change);
        write_text(scratch / "adapter_config.json", config.dump());
        return error_of([&] { return Lora::from_pretrained(net, scratch.path()).scale(); });
    };
    EXPECT_EQ(refused(Json::object()).text, "nothing was thrown");
    EXPECT_EQ(refused({{"use_dora", true}}).kind, ErrorKind::unsupported);
    EXPECT_THAT(refused({{"rank_pattern", {{"fc", 3}}}}).text, HasSubstr("(rank_pattern)"));
    EXPECT_THAT(refused({{"init_lora_weights", "pissa_niter_4"}}).text, HasSubstr("(pissa)"));
    EXPECT_EQ(refused({{"peft_type", "IA3"}}).kind, ErrorKind::unsupported);
    EXPECT_EQ(refused({{"r", "many"}}).kind, ErrorKind::file);
    write_text(scratch / "adapter_config.json", "{");
    EXPECT_EQ(error_of([&] { return Lora::from_pretrained(net, scratch.path()).scale(); }).kind,
              ErrorKind::file);
    for (const Variable& p : net.parameters()) EXPECT_TRUE(p.requires_grad());
}

} // namespace
