// Layers with weights in few bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
using enum QuantizedFormat;

struct LinearPair : nn::Module {
    nn::Linear first{64, 32}, second{32, 8};
    LinearPair()
    {
        register_module("first", first);
        register_module("second", second);
    }
    Tensor forward(Tensor x) override { return second(relu(first(x))); }
};

TEST(QuantizedLinear, ComputesWithTheBytes)
{
    manual_seed(1);
    nn::Linear layer(64, 6);
    const Tensor x = randn({3, 64}), weight = layer.weight.detach(), bias = layer.bias;
    const QuantizedTensor q = quantize(weight, q4_0);
    layer.quantize(q4_0);
    EXPECT_EQ(layer(x).to_vector<float>(), linear(x, q, bias).to_vector<float>());
    EXPECT_FALSE(layer.weight.defined());
    EXPECT_EQ(layer.quantized_weight.format(), q4_0);
    std::ostringstream text;
    text << layer;
    EXPECT_EQ(text.str(), "Linear(in_features=64, out_features=6, bias=True, format='q4_0')");
}

TEST(QuantizedLinear, HasNoWeightAmongItsParameters)
{
    LinearPair net;
    EXPECT_THAT(nn::quantize(
                    net, {.format = q8_0, .filter = [](const std::string& name) { return name == "first"; }}),
                ElementsAre("first"));
    EXPECT_THAT(net.named_parameters().keys(), ElementsAre("first.bias", "second.weight", "second.bias"));
    EXPECT_THAT(net.named_buffers().keys(), ElementsAre("first.weight.q8_0"));
    EXPECT_THAT(nn::quantize(net), ElementsAre("second"));
    EXPECT_THAT(nn::quantize(net), ElementsAre());

    optim::SGD opt(net.parameters(), {.lr = 0.1});
    const Tensor before = net.first.quantized_weight.bytes().clone();
    net(randn({4, 64})).sum().backward();
    opt.step();
    EXPECT_EQ(net.first.quantized_weight.bytes().to_vector<std::uint8_t>(), before.to_vector<std::uint8_t>());
}

TEST(QuantizedLinear, FreesTheWeight)
{
    nn::Linear layer(1024, 256);
    layer.weight.eval();
    const MemoryTracker memory;
    const std::uint64_t before = memory.current();
    layer.quantize(q4_0);
    layer.quantized_weight.bytes().to_vector<std::uint8_t>();
    EXPECT_LE(memory.current() + 1024 * 256 * 4 - 1024 * 256 / 32 * 18, before + 4096);
}

TEST(QuantizedLinear, IsSavedAndLoaded)
{
    manual_seed(1);
    LinearPair net;
    nn::quantize(net, {.format = q4_0});
    manual_seed(2);
    LinearPair other;
    EXPECT_THAT(error_of([&] { return other.load_state_dict(net.state_dict()), 0; }).text,
                HasSubstr("(first.weight.q4_0)"));
    nn::quantize(other, {.format = q4_0});
    std::stringstream file;
    save(net, file);
    load(other, file);
    const Tensor x = randn({3, 64});
    EXPECT_EQ(other(x).to_vector<float>(), net(x).to_vector<float>());
}

TEST(QuantizedLinear, TakesBytesOfAFile)
{
    manual_seed(1);
    nn::Linear layer(32, 4);
    const QuantizedTensor q = quantize(randn({4, 32}), q8_0);
    layer.quantize(q);
    const Tensor x = randn({2, 32});
    EXPECT_EQ(layer(x).to_vector<float>(), linear(x, q, layer.bias).to_vector<float>());
}

TEST(QuantizedLinear, TrainsWhatIsAddedToIt)
{
    manual_seed(3);
    nn::Linear base(32, 32);
    base.quantize(q4_0);
    base.bias.requires_grad_(false);
    Variable a(randn({4, 32}) * 0.2, true), b(zeros({32, 4}), true);
    optim::Adam opt({a, b}, {.lr = 0.02});
    auto step = record(
        [&](const Tensor& x, const Tensor& y) {
            const Tensor loss = mse_loss(base(x) + matmul(matmul(x, a.t()), b.t()), y);
            opt.zero_grad();
            loss.backward();
            opt.step();
            return loss;
        },
        {spec({symbol("n"), 32}), spec({symbol("n"), 32})});
    const Tensor x = randn({64, 32}), y = base(x).detach() + x.flip({1}) * 0.1;
    const float first = step(x, y).item<float>();
    float last = first;
    for (int i = 0; i < 100; ++i) last = step(x, y).item<float>();
    EXPECT_LT(last, 0.95f * first);
}

TEST(QuantizedLinear, MovesAndKeepsItsDtype)
{
    manual_seed(1);
    LinearPair net;
    nn::quantize(net);
    net.to(bf16);
    EXPECT_EQ(net.first.quantized_weight.bytes().dtype(), u8);
    EXPECT_EQ(net(randn({2, 64}).to(bf16)).dtype(), bf16);
    net.cpu();
    EXPECT_EQ(net.first.quantized_weight.device(), Device("reference"));
    LinearPair moved = std::move(net);
    EXPECT_EQ(moved(randn({2, 64}, {.device = Device("reference")}).to(bf16)).dtype(), bf16);
}

// Attention computes as with the dequantised weights, in one product for queries, keys and values, and in three.
TEST(QuantizedAttention, ComputesAsWithDequantisedWeights)
{
    for (const QuantizedFormat format : {q8_0, q4_0, int8}) {
        manual_seed(4);
        nn::TransformerDecoderLayer layer(32, 4, {.dim_feedforward = 64, .dropout = 0}),
            plain(32, 4, {.dim_feedforward = 64, .dropout = 0});
        plain.load_state_dict(layer.state_dict());
        EXPECT_THAT(nn::quantize(layer, {.format = format}),
                    ElementsAre("self_attn", "self_attn.out_proj", "multihead_attn",
                                "multihead_attn.out_proj", "linear1", "linear2"));
        EXPECT_FALSE(layer.self_attn.in_proj_weight.defined());
        const auto copy = [](Variable& to, const QuantizedTensor& from) { to.assign(dequantize(from)); };
        copy(plain.self_attn.in_proj_weight, layer.self_attn.quantized_in_proj_weight);
        copy(plain.self_attn.out_proj.weight, layer.self_attn.out_proj.quantized_weight);
        copy(plain.multihead_attn.in_proj_weight, layer.multihead_attn.quantized_in_proj_weight);
        copy(plain.multihead_attn.out_proj.weight, layer.multihead_attn.out_proj.quantized_weight);
        copy(plain.linear1.weight, layer.linear1.quantized_weight);
        copy(plain.linear2.weight, layer.linear2.quantized_weight);
        const auto result = [](nn::TransformerDecoderLayer& net, const Tensor& target, const Tensor& memory) {
            const Variable x(target.detach(), true);
            const Tensor y = net(x, memory);
            (y * y).sum().backward();
            return std::vector<Tensor>{y, x.grad()};
        };
        const Tensor target = randn({5, 2, 32}), memory = randn({7, 2, 32});
        const auto got = result(layer, target, memory), expected = result(plain, target, memory);
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_LT(max(abs(got[i] - expected[i])).item<float>(), 1e-4f) << name_of(format) << ' ' << i;
    }
}

TEST(QuantizedAttention, RefusesOtherSizesOfKeys)
{
    nn::MultiheadAttention layer(32, 4, {.kdim = 64});
    EXPECT_THAT(nn::quantize(layer, {.format = q8_0}), ElementsAre("out_proj"));
    EXPECT_THAT(error_of([&] { return layer.quantize(q8_0), 0; }).text,
                HasSubstr("The layer has no weight to quantise."));
}

TEST(QuantizedEmbedding, TakesRowsOfTheBytes)
{
    for (const QuantizedFormat format : {q8_0, q4_0, q4_k, int8}) {
        manual_seed(6);
        nn::Embedding layer(9, 256, {.padding_idx = 2});
        const QuantizedTensor q = quantize(layer.weight, format);
        const Tensor indices = tensor({8, 0, 2, 2, 5, 1}).reshape({2, 3});
        const Tensor expected = embedding(indices, dequantize(q));
        layer.quantize(format);
        EXPECT_FALSE(layer.weight.defined());
        EXPECT_THAT(layer.named_parameters().keys(), ElementsAre());
        EXPECT_THAT(layer.named_buffers().keys(), ElementsAre(std::string("weight.") + name_of(format)));
        const Tensor rows = layer(indices);
        EXPECT_EQ(rows.dtype(), f32);
        EXPECT_EQ(rows.to_vector<float>(), expected.to_vector<float>()) << name_of(format);
        EXPECT_FALSE(rows.requires_grad());
        EXPECT_EQ(to_string(layer(zeros({0}, {.dtype = i32})).shape()), "[0, 256]");
        std::ostringstream text;
        text << layer;
        EXPECT_EQ(text.str(),
                  std::string("Embedding(9, 256, padding_idx=2, format='") + name_of(format) + "')");
    }
}

// Embeddings are quantised where asked; a weight that two layers share is quantised once.
TEST(QuantizedEmbedding, SharesItsBytesWithAHead)
{
    struct Tied : nn::Module {
        nn::Embedding words{500, 64};
        nn::Linear head{64, 500, {.bias = false}};
        Tied()
        {
            head.weight = words.weight;
            register_module("words", words);
            register_module("head", head);
        }
        Tensor forward(Tensor x) override { return head(words(x)); }
    };
    manual_seed(7);
    Tied net;
    const Tensor indices = tensor({3, 499, 0});
    const QuantizedTensor q = quantize(net.words.weight, q4_0);
    q.bytes().eval(); // else q keeps the weight
    const MemoryTracker memory;
    const std::uint64_t before = memory.current();
    EXPECT_THAT(nn::quantize(net, {.embeddings = true}), ElementsAre("words", "head"));
    EXPECT_LE(memory.current() + 500 * 64 * 4, before + 500 * 64 / 32 * 18 + 4096);
    EXPECT_EQ(net(indices).to_vector<float>(), linear(embedding(indices, q), q).to_vector<float>());
}

TEST(QuantizedLinear, HasBytesOfItsOwnUnlessTheyAreShared)
{
    const QuantizedTensor q = quantize(randn({4, 32}), q4_0), other = quantize(randn({4, 32}), q4_0);
    const Tensor x = randn({2, 32});
    for (const bool shared : {false, true}) {
        nn::Linear a(32, 4, {.bias = false}), b(32, 4, {.bias = false});
        a.quantize(q);
        b.quantize(a.quantized_weight, shared);
        b.load_state_dict({{"weight.q4_0", other.bytes()}});
        EXPECT_EQ(a(x).to_vector<float>(), linear(x, shared ? other : q).to_vector<float>());
        EXPECT_EQ(b(x).to_vector<float>(), linear(x, other).to_vector<float>());
        if (default_device() == Device("reference")) continue;
        b.to(Device("reference"));
        EXPECT_EQ(a.quantized_weight.device(), shared ? Device("reference") : default_device());
    }
    EXPECT_EQ(q.device(), default_device());
}

TEST(QuantizedEmbedding, RefusesWhatDoesNotFit)
{
    nn::Embedding layer(4, 40);
    EXPECT_THAT(nn::quantize(layer), ElementsAre()); // embeddings are left alone where not asked
    EXPECT_THAT(error_of([&] { return nn::quantize(layer, {.embeddings = true}); }).text,
                HasSubstr("has rows of (40) elements, no multiple of (32) for q4_0"));
    EXPECT_EQ(error_of([&] {
                  return layer.quantize(quantize(ones({5, 40}), int8)), 0;
              }).kind,
              ErrorKind::shape);
    layer.quantize(int8);
    EXPECT_THAT(error_of([&] { return layer.quantize(int8), 0; }).text, HasSubstr("it is int8 already"));
}

TEST(QuantizedLinear, RefusesWhatDoesNotFit)
{
    struct Two : nn::Module {
        nn::Linear fits{256, 4}, odd{40, 4};
        Two()
        {
            register_module("fits", fits);
            register_module("odd", odd);
        }
    } two;
    EXPECT_THAT(error_of([&] { return nn::quantize(two, {.format = q4_k}); }).text,
                HasSubstr("The weight of (odd) has rows of (40) elements, no multiple of (256) for q4_k: "
                          "leave it out with a "
                          "filter."));
    EXPECT_TRUE(two.fits.weight.defined());
    EXPECT_EQ(error_of([&] { return two.odd.quantize(q4_0), 0; }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] {
                  return two.odd.quantize(quantize(ones({4, 32}), q4_0)), 0;
              }).kind,
              ErrorKind::shape);
    two.odd.quantize(int8);
    EXPECT_THAT(error_of([&] { return two.odd.quantize(int8), 0; }).text, HasSubstr("it is int8 already"));
    EXPECT_THAT(error_of([&] {
                    return record(
                        [&](const Tensor& x) {
                            two.fits.quantize(q8_0);
                            return two.fits(x);
                        },
                        {spec({2, 256})});
                }).text,
                HasSubstr("while a program is recorded"));
}

} // namespace
