// An encoder as exporters write it, with shapes computed from those of the inputs, trains as one of the library's own
// layers does.
#include <gtest/gtest.h>

#include <reprise/onnx.hpp>

#include "onnx/builder.hpp"

namespace {

using namespace onnx_test;
namespace nn = reprise::nn;
using proto::TensorProto;

constexpr int vocabulary = 40, features = 16, heads = 4, inner = 32, longest = 24, layers = 2;

struct Block : nn::ModuleOf<rp::Tensor(rp::Tensor, rp::Tensor)> {
    nn::Linear query{features, features}, key{features, features}, value{features, features};
    nn::Linear merge{features, features}, up{features, inner}, down{inner, features};
    nn::LayerNorm first{features}, second{features};
    Block()
    {
        register_module("query", query);
        register_module("key", key);
        register_module("value", value);
        register_module("merge", merge);
        register_module("up", up);
        register_module("down", down);
        register_module("first", first);
        register_module("second", second);
    }
    rp::Tensor forward(rp::Tensor x, rp::Tensor mask) override
    {
        const auto split = [&](const rp::Tensor& t) {
            return t.reshape({x.size(0), x.size(1), heads, features / heads}).transpose(1, 2);
        };
        const rp::Tensor y = rp::scaled_dot_product_attention(split(query(x)), split(key(x)), split(value(x)),
                                                              rp::AttentionOptions{.attn_mask = mask});
        x = first(x + merge(y.transpose(1, 2).reshape(x.shape())));
        return second(x + down(rp::gelu(up(x))));
    }
};

// Token and position embeddings, post-norm blocks, the mean over the tokens, and a classifier.
struct Encoder : nn::ModuleOf<rp::Tensor(rp::Tensor, rp::Tensor)> {
    nn::Embedding tokens{vocabulary, features}, positions{longest, features};
    std::vector<std::shared_ptr<Block>> blocks;
    nn::Linear head{features, 3};
    Encoder()
    {
        register_module("tokens", tokens);
        register_module("positions", positions);
        for (int i = 0; i < layers; ++i)
            blocks.push_back(register_module("block" + std::to_string(i), std::make_shared<Block>()));
        register_module("head", head);
    }
    rp::Tensor forward(rp::Tensor ids, rp::Tensor mask) override
    {
        const rp::Tensor places = rp::arange(ids.size(1), {.dtype = rp::i64});
        rp::Tensor x = tokens(ids) + positions(places);
        const rp::Tensor added = (1.0 - mask.to(rp::f32).reshape({ids.size(0), 1, 1, ids.size(1)})) * -1e4;
        for (auto& block : blocks) x = block->forward(x, added);
        return head(x.mean({1}));
    }
};

class Exporter {
public:
    explicit Exporter(Encoder& encoder) : state_(encoder.state_dict()) {}

    Builder build()
    {
        b_.input("ids", TensorProto::INT64, {"batch", "length"});
        b_.input("mask", TensorProto::INT64, {"batch", "length"});
        b_.output("logits", TensorProto::FLOAT, {"batch", 3});
        std::string x = b_.node("Add", {b_.node("Gather", {parameter("tokens.weight"), "ids"}), places()});
        const std::string added = mask();
        for (int i = 0; i < layers; ++i) x = block("block" + std::to_string(i), x, added);
        const std::string pooled = b_.node("ReduceMean", {x});
        b_.with("axes", std::vector<std::int64_t>{1}).with("keepdims", std::int64_t{0});
        const std::string logits = linear("head", pooled);
        b_.node("Identity", {logits}, {"logits"});
        return b_;
    }

private:
    std::string parameter(const std::string& name)
    {
        for (const auto& t : b_.graph().initializer())
            if (t.name() == name) return name;
        return b_.weight(name, state_.at(name));
    }
    std::string size(const std::string& of, std::int64_t dim)
    {
        return b_.node("Gather", {b_.node("Shape", {of}), b_.integer(dim)});
    }
    std::string list(const Names& items)
    {
        Names parts;
        for (const auto& item : items) parts.push_back(b_.node("Unsqueeze", {item, b_.integers({0})}));
        const std::string all = b_.node("Concat", parts);
        b_.with("axis", std::int64_t{0});
        return all;
    }
    // Positions as a slice of a constant list.
    std::string places()
    {
        std::vector<std::int64_t> all(longest);
        for (int i = 0; i < longest; ++i) all[static_cast<std::size_t>(i)] = i;
        const std::string row = b_.weight("position_ids", rp::from_vector(all, {1, longest}));
        const std::string end = b_.node("Unsqueeze", {size("ids", 1), b_.integers({0})});
        const std::string cut =
            b_.node("Slice", {row, b_.integers({0}), end, b_.integers({1}), b_.integers({1})});
        return b_.node("Gather", {parameter("positions.weight"), cut});
    }
    // (1 - mask) * -10000, expanded to [batch, 1, length, length].
    std::string mask()
    {
        std::string m =
            b_.node("Unsqueeze", {b_.node("Unsqueeze", {"mask", b_.integers({1})}), b_.integers({2})});
        const std::string length = size("ids", 1);
        const std::string shape = list({size("ids", 0), b_.integer(1), length, length});
        m = b_.node("Expand", {m, shape});
        m = b_.node("Cast", {m});
        b_.with("to", std::int64_t{TensorProto::FLOAT});
        return b_.node("Mul", {b_.node("Sub", {b_.number(1), m}), b_.number(-1e4f)});
    }
    std::string linear(const std::string& name, const std::string& x)
    {
        const std::string turned = b_.node("Transpose", {parameter(name + ".weight")});
        b_.with("perm", std::vector<std::int64_t>{1, 0});
        return b_.node("Add", {b_.node("MatMul", {x, turned}), parameter(name + ".bias")});
    }
    std::string norm(const std::string& name, const std::string& x)
    {
        const auto mean = [&](const std::string& of) {
            const std::string m = b_.node("ReduceMean", {of});
            b_.with("axes", std::vector<std::int64_t>{-1});
            return m;
        };
        const std::string away = b_.node("Sub", {x, mean(x)});
        const std::string variance = mean(b_.node("Pow", {away, b_.number(2)}));
        const std::string root = b_.node("Sqrt", {b_.node("Add", {variance, b_.number(1e-5f)})});
        const std::string scaled =
            b_.node("Mul", {b_.node("Div", {away, root}), parameter(name + ".weight")});
        return b_.node("Add", {scaled, parameter(name + ".bias")});
    }
    std::string split(const std::string& x, const std::vector<std::int64_t>& order)
    {
        const std::string shape =
            list({size(x, 0), size(x, 1), b_.integer(heads), b_.integer(features / heads)});
        const std::string parts = b_.node("Reshape", {x, shape});
        const std::string turned = b_.node("Transpose", {parts});
        b_.with("perm", order);
        return turned;
    }
    std::string gelu(const std::string& x)
    {
        const std::string e = b_.node("Erf", {b_.node("Div", {x, b_.number(1.41421356f)})});
        return b_.node("Mul", {b_.node("Mul", {x, b_.node("Add", {e, b_.number(1)})}), b_.number(0.5f)});
    }
    std::string block(const std::string& name, const std::string& x, const std::string& added)
    {
        const std::string q = split(linear(name + ".query", x), {0, 2, 1, 3});
        const std::string k = split(linear(name + ".key", x), {0, 2, 3, 1});
        const std::string v = split(linear(name + ".value", x), {0, 2, 1, 3});
        std::string scores =
            b_.node("Div", {b_.node("MatMul", {q, k}), b_.number(2)}); // sqrt(features / heads)
        scores = b_.node("Softmax", {b_.node("Add", {scores, added})});
        b_.with("axis", std::int64_t{-1});
        const std::string y = b_.node("Transpose", {b_.node("MatMul", {scores, v})});
        b_.with("perm", std::vector<std::int64_t>{0, 2, 1, 3});
        const std::string merged =
            b_.node("Reshape", {y, list({size(y, 0), size(y, 1), b_.integer(features)})});
        const std::string one = norm(name + ".first", b_.node("Add", {x, linear(name + ".merge", merged)}));
        const std::string wide = gelu(linear(name + ".up", one));
        return norm(name + ".second", b_.node("Add", {one, linear(name + ".down", wide)}));
    }

    std::map<std::string, rp::Tensor> state_;
    Builder b_;
};

struct Batch {
    rp::Tensor ids, mask, classes;
};

std::vector<Batch> batches()
{
    std::vector<Batch> all;
    for (const auto& [rows, length] : {std::pair(4, 7), {3, 12}, {6, 5}, {1, 24}, {2, 1}}) {
        const rp::Tensor mask = (rp::rand({rows, length}) < 0.8).to(rp::i64);
        all.push_back({rp::randint(vocabulary, {rows, length}, {.dtype = rp::i64}), mask,
                       rp::randint(3, {rows}, {.dtype = rp::i64})});
    }
    return all;
}

// The losses of training by a step that is recorded at a symbolic batch and length.
template <class Forward>
std::vector<float> train(nn::Module& net, const Forward& forward, const std::vector<Batch>& data)
{
    rp::optim::AdamW optimizer(net.parameters(), {.lr = 1e-2});
    const rp::Dim batch = rp::symbol("batch", {.min = 1}),
                  length = rp::symbol("length", {.min = 1, .max = longest});
    const rp::Program step = rp::record(
        [&](rp::Tensor ids, rp::Tensor mask, rp::Tensor classes) {
            const rp::Tensor loss = rp::cross_entropy(forward(ids, mask), classes);
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss;
        },
        {rp::spec({batch, length}, rp::i64), rp::spec({batch, length}, rp::i64), rp::spec({batch}, rp::i64)});
    std::vector<float> losses;
    for (int epoch = 0; epoch < 4; ++epoch)
        for (const Batch& b : data) losses.push_back(step(b.ids, b.mask, b.classes).template item<float>());
    return losses;
}

TEST(OnnxEncoder, TrainsAsTheNativeOne)
{
    rp::manual_seed(3);
    Encoder native;
    rp::onnx::Model imported(Exporter(native).build().bytes());
    ASSERT_EQ(imported.num_parameters(), native.num_parameters());
    const auto data = batches();
    const auto a = train(
        native, [&](auto ids, auto mask) { return native.forward(ids, mask); }, data);
    const auto b = train(
        imported,
        [&](auto ids, auto mask) {
            return imported(std::vector<rp::Tensor>{ids, mask})[0];
        },
        data);
    EXPECT_LT(a.back(), a.front());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4 * std::abs(a[i])) << i;
}

TEST(OnnxEncoder, RunsWithinAutocast)
{
    Encoder native;
    rp::onnx::Model imported(Exporter(native).build().bytes());
    const Batch b = batches()[0];
    const rp::Tensor exact = imported(std::vector<rp::Tensor>{b.ids, b.mask})[0];
    const rp::autocast on(rp::bf16);
    const rp::Tensor y = imported(std::vector<rp::Tensor>{b.ids, b.mask})[0];
    const float error = rp::max(rp::abs(y.to(rp::f32) - exact)).item<float>();
    EXPECT_LT(error, 0.05f);
    EXPECT_GT(error, 0.0f);
}

TEST(OnnxEncoder, HasTheNamesOfTheFile)
{
    Encoder native;
    rp::onnx::Model imported(Exporter(native).build().bytes());
    const auto expected = native.state_dict();
    const auto state = imported.state_dict();
    ASSERT_EQ(state.size(), expected.size());
    for (const auto& [name, value] : expected) {
        ASSERT_TRUE(state.count(name)) << name;
        EXPECT_TRUE(rp::equal(state.at(name), value)) << name;
    }
    Encoder other;
    imported.load_state_dict(other.state_dict());
    const Batch b = batches()[0];
    const rp::Tensor y = imported(std::vector<rp::Tensor>{b.ids, b.mask})[0];
    EXPECT_TRUE(rp::allclose(y, other.forward(b.ids, b.mask), 1e-4, 1e-5));
}

} // namespace
