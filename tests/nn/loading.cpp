// Loading modules from files, with other names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include <reprise/reprise.hpp>

#include "io/gguf_text.hpp"
#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using OptionalName = std::optional<std::string>;

struct TwoLayers : nn::Module {
    nn::Linear first = register_module("first", nn::Linear(3, 2)),
               second = register_module("second", nn::Linear(2, 1));
    Tensor forward(Tensor x) override { return second(first(x)); }
};

nn::StateDict layers_of(double value)
{
    return {{"first.weight", full({2, 3}, value)},
            {"first.bias", full({2}, value)},
            {"second.weight", full({1, 2}, value)},
            {"second.bias", full({1}, value)}};
}

std::vector<float> elements_of(const Tensor& t) { return t.to_vector<float>(); }

// Calls f with a function that loads the values into a module: from the map, and from a file.
template <class F> void with_both_ways(const nn::StateDict& values, const F& f)
{
    const Scratch scratch;
    save_safetensors(scratch / "net.safetensors", values);
    const ModelFile file(scratch / "net.safetensors");
    f([&](nn::Module& net, const nn::LoadOptions& options) { return net.load_state_dict(values, options); });
    f([&](nn::Module& net, const nn::LoadOptions& options) { return net.load_state_dict(file, options); });
}

TEST(Loading, TakesTheSameValuesFromAMapAndAFile)
{
    with_both_ways(layers_of(3), [](const auto& load) {
        TwoLayers net;
        const nn::LoadResult left = load(net, {});
        EXPECT_TRUE(left.missing_keys.empty() && left.unexpected_keys.empty() && left.dropped_keys.empty());
        for (const Tensor& p : net.parameters()) {
            EXPECT_THAT(elements_of(p), Each(3.0f));
            EXPECT_TRUE(p.requires_grad() && p.is_leaf());
        }
    });
}

TEST(Loading, Renames)
{
    nn::StateDict values;
    for (const auto& [name, value] : layers_of(2))
        values.emplace("model.layers." + std::regex_replace(name, std::regex("weight"), "gamma"), value);
    values.emplace("model.rotary.inv_freq", ones({7}));
    values.emplace("other", ones({1}));
    with_both_ways(values, [](const auto& load) {
        TwoLayers net;
        const auto rename = [](const std::string& name) -> OptionalName {
            if (name.ends_with("inv_freq")) return std::nullopt;
            return std::regex_replace(std::regex_replace(name, std::regex("^layers\\."), ""),
                                      std::regex("gamma$"), "weight");
        };
        const nn::LoadResult left = load(net, {.prefix = "model.", .rename = rename});
        EXPECT_THAT(left.dropped_keys, ElementsAre("model.rotary.inv_freq", "other"));
        EXPECT_TRUE(left.missing_keys.empty() && left.unexpected_keys.empty());
        EXPECT_THAT(elements_of(net.first.weight), Each(2.0f));
    });
}

TEST(Loading, OneErrorTellsAllThatDoesNotFitAndNothingChanges)
{
    nn::StateDict values = layers_of(2);
    values.at("first.weight") = ones({2, 4});
    values.at("first.bias") = ones({2}, {.dtype = i32});
    values.emplace("third.weight", ones({1}));
    values.erase("second.bias");
    values.emplace("second.offset", ones({1}));
    values.emplace("first.gain", ones({1}));
    with_both_ways(values, [](const auto& load) {
        TwoLayers net;
        const auto before = elements_of(net.second.weight);
        const auto rename = [](const std::string& name) -> OptionalName {
            return name == "third.weight" ? "first.scale" : name == "first.gain" ? "first.bias" : name;
        };
        const Caught caught = error_of([&] { return load(net, {.rename = rename}); });
        EXPECT_EQ(caught.kind, ErrorKind::shape);
        for (const char* part :
             {"missing: (second.bias)", "unexpected: (third.weight, renamed to first.scale), (second.offset)",
              "(first.weight) has the shape [2, 4] where [2, 3]", "(first.bias) has the dtype i32 where f32",
              "(first.gain, renamed to first.bias) has the name of (first.bias)"})
            EXPECT_THAT(caught.text, HasSubstr(part));
        EXPECT_EQ(elements_of(net.second.weight), before);
    });
}

TEST(Loading, NotStrictReturnsWhatIsLeftOut)
{
    nn::StateDict values = layers_of(2);
    values.erase("second.bias");
    values.emplace("third", ones({1}));
    with_both_ways(values, [](const auto& load) {
        TwoLayers net;
        const nn::LoadResult left = load(net, {.strict = false});
        EXPECT_THAT(left.missing_keys, ElementsAre("second.bias"));
        EXPECT_THAT(left.unexpected_keys, ElementsAre("third"));
        EXPECT_THAT(elements_of(net.second.weight), Each(2.0f));
    });
}

TEST(Loading, CastsWhereAsked)
{
    nn::StateDict values;
    for (const auto& [name, value] : layers_of(0.5)) values.emplace(name, value.to(f16));
    with_both_ways(values, [](const auto& load) {
        TwoLayers net;
        EXPECT_EQ(error_of([&] { return load(net, {}); }).kind, ErrorKind::dtype);
        load(net, {.cast = true});
        EXPECT_EQ(net.first.weight.dtype(), f32);
        EXPECT_THAT(elements_of(net.first.weight), Each(0.5f));
    });
}

// A file with "blk.0.attn_q.weight", a matrix of these bytes in blocks of a type of GGUF files, and its bias of zeros.
ModelFile gguf_of(const Scratch& scratch, std::uint32_t type, const QuantizedTensor& q)
{
    const std::vector<std::uint8_t> bytes = q.bytes().to_vector<std::uint8_t>();
    const std::uint64_t rows = static_cast<std::uint64_t>(q.shape()[0].value()),
                        columns = static_cast<std::uint64_t>(q.shape()[1].value());
    std::string data(bytes.begin(), bytes.end());
    data.resize((data.size() + 31) / 32 * 32);
    write_text(scratch / "net.gguf",
               gguf_text::file({},
                               {gguf_text::entry("blk.0.attn_q.weight", {columns, rows}, type, 0),
                                gguf_text::entry("blk.0.attn_q.bias", {rows}, 0, data.size())},
                               data + std::string(4 * rows, '\0')));
    return ModelFile(scratch / "net.gguf");
}

struct OneLayer : nn::Module {
    nn::Linear first = register_module("first", nn::Linear(256, 4));
};

OptionalName first_of(const std::string& name) { return "first." + name.substr(name.rfind('.') + 1); }

TEST(Loading, AQuantisedModuleTakesTheMatricesOfAGgufFile)
{
    const std::pair<QuantizedFormat, std::uint32_t> formats[] = {
        {QuantizedFormat::q4_0, 2}, {QuantizedFormat::q8_0, 8}, {QuantizedFormat::q4_k, 12}};
    for (const auto& [format, type] : formats) {
        const Scratch scratch;
        const QuantizedTensor q = quantize(randn({4, 256}), format);
        OneLayer net;
        nn::quantize(net, {.format = format});
        const nn::LoadResult left = net.load_state_dict(gguf_of(scratch, type, q), {.rename = first_of});
        EXPECT_THAT(left.missing_keys, ElementsAre());
        EXPECT_EQ(net.first.quantized_weight.bytes().to_vector<std::uint8_t>(),
                  q.bytes().to_vector<std::uint8_t>())
            << name_of(format);
        const Tensor x = randn({3, 256});
        EXPECT_EQ(elements_of(net.first(x)), elements_of(linear(x, q)));
    }
}

TEST(Loading, BlocksFollowPrefixesAndAreMissedByTheirName)
{
    const Scratch scratch;
    OneLayer net;
    nn::quantize(net, {.format = QuantizedFormat::q8_0});
    const QuantizedTensor q = quantize(randn({4, 256}), QuantizedFormat::q8_0);
    const ModelFile file = gguf_of(scratch, 8, q);
    const nn::LoadResult dropped = net.load_state_dict(file, {.strict = false, .prefix = "other."});
    EXPECT_THAT(dropped.missing_keys, ElementsAre("first.bias", "first.weight.q8_0"));
    EXPECT_THAT(dropped.dropped_keys, ElementsAre("blk.0.attn_q.bias", "blk.0.attn_q.weight"));
    // A name may also be that of the bytes, as state_dict() has it.
    net.load_state_dict(file, {.prefix = "blk.0.", .rename = [](const std::string& name) {
                                   return OptionalName(name == "attn_q.weight" ? "first.weight.q8_0"
                                                                               : "first.bias");
                               }});
    EXPECT_EQ(net.first.quantized_weight.bytes().to_vector<std::uint8_t>(),
              q.bytes().to_vector<std::uint8_t>());
}

TEST(Loading, EmbeddingsAndAttentionTakeTheMatricesOfAGgufFile)
{
    struct Net : nn::Module {
        nn::Embedding table = register_module("table", nn::Embedding(6, 32));
        nn::MultiheadAttention attention = register_module("attention", nn::MultiheadAttention(32, 2));
    };
    Net net;
    nn::quantize(net, {.format = QuantizedFormat::q4_0, .embeddings = true});
    const Scratch scratch;
    for (const auto& [rows, name] :
         {std::pair{6, "table.weight"}, std::pair{96, "attention.in_proj_weight"}}) {
        const QuantizedTensor q = quantize(randn({rows, 32}), QuantizedFormat::q4_0);
        const nn::LoadResult left = net.load_state_dict(
            gguf_of(scratch, 2, q),
            {.strict = false, .rename = [&, name = std::string(name)](const std::string& of) {
                 return of.ends_with("weight") ? OptionalName(name) : std::nullopt;
             }});
        EXPECT_THAT(left.unexpected_keys, ElementsAre()) << name;
        EXPECT_EQ(net.state_dict().at(std::string(name) + ".q4_0").to_vector<std::uint8_t>(),
                  q.bytes().to_vector<std::uint8_t>());
    }
}

// Files of models with tied weights have one matrix for the embedding and the head.
TEST(Loading, ATiedHeadHasTheBytesThatItsEmbeddingTakes)
{
    struct Tied : nn::Module {
        nn::Embedding words = register_module("words", nn::Embedding(6, 32));
        nn::Linear head{32, 6, {.bias = false}};
        Tied()
        {
            head.weight = words.weight;
            register_module("head", head);
        }
        Tensor forward(Tensor x) override { return head(words(x)); }
    };
    const Scratch scratch;
    const QuantizedTensor q = quantize(randn({6, 32}), QuantizedFormat::q4_0);
    const Tensor indices = tensor({5, 0, 3});
    const Tensor wide = dequantize(q);
    for (const bool is_quantised : {true, false}) {
        Tied net;
        if (is_quantised) nn::quantize(net, {.format = QuantizedFormat::q4_0, .embeddings = true});
        const nn::LoadResult left =
            net.load_state_dict(gguf_of(scratch, 2, q), {.strict = false,
                                                         .rename =
                                                             [](const std::string& name) {
                                                                 return name.ends_with("weight")
                                                                            ? OptionalName("words.weight")
                                                                            : std::nullopt;
                                                             },
                                                         .cast = true});
        EXPECT_THAT(left.missing_keys, ElementsAre(is_quantised ? "head.weight.q4_0" : "head.weight"));
        EXPECT_EQ(elements_of(net(indices)),
                  elements_of(is_quantised ? linear(embedding(indices, q), q)
                                           : linear(embedding(indices, wide), wide)));
    }
}

TEST(Loading, TheQuantisedBaseOfALoraTakesTheMatricesOfAGgufFile)
{
    const Scratch scratch;
    const QuantizedTensor q = quantize(randn({4, 256}), QuantizedFormat::q4_0);
    struct Net : OneLayer {
        Tensor forward(Tensor x) override { return first(x); }
    } net;
    nn::quantize(net, {.format = QuantizedFormat::q4_0});
    nn::Lora lora(net, {.rank = 2, .alpha = 2, .target_modules = {"first"}});
    const Tensor b = randn({4, 2});
    for (Variable p : lora.parameters())
        if (p.shape() == b.shape()) p.assign(b);
    Tensor a;
    for (const Variable& p : lora.parameters())
        if (p.shape() != b.shape()) a = p.detach();
    net.load_state_dict(gguf_of(scratch, 2, q), {.rename = first_of});
    const Tensor x = randn({3, 256});
    EXPECT_EQ(elements_of(net(x)), elements_of(linear(x, q) + linear(linear(x, a), b)));
}

TEST(Loading, ABlockWithABadScaleNamesItsTensor)
{
    const Scratch scratch;
    std::vector<std::uint8_t> bytes(4 * 272);
    bytes[1] = 0x7e; // the scale of the first block, an f16, is NaN
    const QuantizedTensor q(from_vector(bytes, {4, 272}), QuantizedFormat::q8_0);
    OneLayer net;
    nn::quantize(net, {.format = QuantizedFormat::q8_0});
    const Caught caught =
        error_of([&] { return net.load_state_dict(gguf_of(scratch, 8, q), {.rename = first_of}); });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text, HasSubstr("(blk.0.attn_q.weight) of the file"));
}

TEST(Loading, AFloatingModuleDequantisesTheMatricesOfAGgufFileWhereAsked)
{
    const Scratch scratch;
    const QuantizedTensor q = quantize(randn({4, 256}), QuantizedFormat::q4_0);
    const ModelFile file = gguf_of(scratch, 2, q);
    OneLayer net;
    const Caught caught = error_of([&] { return net.load_state_dict(file, {.rename = first_of}); });
    EXPECT_EQ(caught.kind, ErrorKind::dtype);
    EXPECT_THAT(caught.text,
                HasSubstr("(blk.0.attn_q.weight, renamed to first.weight) has the dtype q4_0 where f32 is "
                          "needed"));
    net.load_state_dict(file, {.rename = first_of, .cast = true});
    EXPECT_EQ(elements_of(net.first.weight), elements_of(dequantize(q)));
    net.to(bf16);
    net.load_state_dict(file, {.rename = first_of, .cast = true});
    EXPECT_EQ(elements_of(net.first.weight.to(f32)), elements_of(dequantize(q, bf16).to(f32)));
}

TEST(Loading, BlocksThatTheModuleHasNoPlaceForDoNotFit)
{
    const Scratch scratch;
    OneLayer net;
    nn::quantize(net, {.format = QuantizedFormat::q8_0});
    const ModelFile other = gguf_of(scratch, 2, quantize(randn({4, 256}), QuantizedFormat::q4_0));
    const Caught format = error_of([&] { return net.load_state_dict(other, {.rename = first_of}); });
    EXPECT_EQ(format.kind, ErrorKind::argument);
    EXPECT_THAT(format.text,
                HasSubstr("missing: (first.weight.q8_0); unexpected: (blk.0.attn_q.weight, renamed to "
                          "first.weight)"));
    OneLayer rows; // no file of GGUF has rows of int8
    nn::quantize(rows, {.format = QuantizedFormat::int8});
    EXPECT_THAT(
        error_of([&] { return rows.load_state_dict(other, {.rename = first_of, .cast = true}); }).text,
        HasSubstr(
            "missing: (first.weight.int8); unexpected: (blk.0.attn_q.weight, renamed to first.weight)"));
    const ModelFile smaller = gguf_of(scratch, 8, quantize(randn({4, 128}), QuantizedFormat::q8_0));
    const Caught shape = error_of([&] { return net.load_state_dict(smaller, {.rename = first_of}); });
    EXPECT_EQ(shape.kind, ErrorKind::shape);
    EXPECT_THAT(shape.text, HasSubstr("has the shape [4, 136] where [4, 272] is needed"));

    write_text(scratch / "q6_k.gguf",
               gguf_text::file({}, {gguf_text::entry("weight", {256, 4}, 14, 0)}, std::string(4 * 210, 'x')));
    nn::Linear plain(256, 4, {.bias = false});
    const Caught type =
        error_of([&] { return plain.load_state_dict(ModelFile(scratch / "q6_k.gguf"), {.cast = true}); });
    EXPECT_EQ(type.kind, ErrorKind::dtype);
    EXPECT_THAT(type.text, HasSubstr("(weight) has the dtype q6_k where f32 is needed"));
}

TEST(Loading, FromAFileWhileRecordingIsRefused)
{
    const Scratch scratch;
    nn::Linear net(2, 1);
    save(net, scratch / "net.safetensors");
    const ModelFile file(scratch / "net.safetensors");
    const Caught caught = error_of([&] {
        return record(
            [&](Tensor x) {
                net.load_state_dict(file);
                return net(x);
            },
            {spec({1, 2})});
    });
    EXPECT_EQ(caught.kind, ErrorKind::state);
}

} // namespace
