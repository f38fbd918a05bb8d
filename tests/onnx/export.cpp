// Models that are exported: they are imported again here, and check_exports.py gives the files to ONNX's own checker
// and evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <reprise/onnx.hpp>
#include <reprise/reprise.hpp>

#include "onnx/proto.hpp"

namespace {

namespace rp = reprise;
namespace nn = reprise::nn;
namespace fs = std::filesystem;
namespace proto = reprise::onnx::proto;
using rp::Tensor;
using Tensors = std::vector<Tensor>;

fs::path folder()
{
    const char* given = std::getenv("REPRISE_ONNX_EXPORTS");
    const fs::path path = given ? fs::path(given) : fs::path(testing::TempDir()) / "onnx_exports";
    fs::create_directories(path);
    return path;
}

// Two units in the last place for 16 bits, in which ONNX rounds between the nodes of what is one kernel here.
double tolerance(rp::DType dtype) { return dtype == rp::f16 ? 0x1p-9 : dtype == rp::bf16 ? 0x1p-6 : 1e-4; }

// Exports a function, and compares the imported file with it at two sizes; stores inputs and outputs for the script.
template <class F> void check(const std::string& name, const F& f, const std::vector<rp::Spec>& specs,
                              const std::vector<Tensors>& calls, const nn::Module* module = nullptr)
{
    SCOPED_TRACE(name);
    const rp::no_grad off;
    const rp::Program program = rp::record_function(f, specs);
    const fs::path path = folder() / (name + ".onnx");
    rp::onnx::save(path, program, {.module = module});
    rp::onnx::Model imported(path);
    if (module) {
        const auto names = imported.named_parameters().keys();
        for (const auto& key : module->named_parameters().keys()) EXPECT_THAT(names, testing::Contains(key));
    }
    std::size_t number = 0;
    for (const Tensors& inputs : calls) {
        const Tensors expected = program.call(inputs), found = imported(inputs);
        ASSERT_EQ(found.size(), expected.size());
        std::map<std::string, Tensor> stored;
        for (std::size_t i = 0; i < inputs.size(); ++i) stored["input_" + std::to_string(i)] = inputs[i];
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double rtol = tolerance(expected[i].dtype());
            EXPECT_TRUE(rp::allclose(found[i].to(rp::f32), expected[i].to(rp::f32), rtol, 1e-5, true)) << i;
            EXPECT_EQ(found[i].dtype(), expected[i].dtype());
            stored["output_" + std::to_string(i)] = expected[i];
        }
        rp::save_safetensors(folder() / (name + "." + std::to_string(number++) + ".safetensors"), stored);
    }
}

Tensors one(const Tensor& x) { return {x}; }

TEST(OnnxExport, ConvolutionalNetwork)
{
    nn::Sequential net(nn::Conv2d(1, 4, {.kernel_size = 3, .stride = 2, .padding = 1}), nn::BatchNorm2d(4),
                       nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(4, 6, {.kernel_size = 3}), nn::SiLU(),
                       nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(6, 3));
    net.eval();
    const rp::Dim n = rp::symbol("batch", {.min = 1});
    check(
        "cnn", [&](const Tensors& in) { return one(net(in[0])); }, {rp::spec({n, 1, 16, 16})},
        {{rp::rand({2, 1, 16, 16})}, {rp::rand({5, 1, 16, 16})}}, &net);
}

TEST(OnnxExport, TransformerOfSymbolicLength)
{
    nn::Embedding tokens(30, 16);
    nn::TransformerEncoderLayer layer(16, 4, {.dim_feedforward = 32, .dropout = 0.1, .batch_first = true});
    layer.eval();
    const rp::Dim n = rp::symbol("batch", {.min = 1}), t = rp::symbol("length", {.min = 1});
    const auto ids = [](int rows, int length) { return rp::randint(30, {rows, length}, {.dtype = rp::i64}); };
    check("transformer", [&](const Tensors& in) { return one(layer(tokens(in[0]))); },
          {rp::spec({n, t}, rp::i64)}, {{ids(2, 5)}, {ids(3, 9)}});
}

TEST(OnnxExport, Attention)
{
    const rp::Dim n = rp::symbol("batch", {.min = 1}), t = rp::symbol("length", {.min = 1});
    const auto f = [](const Tensors& in) {
        return one(
            rp::scaled_dot_product_attention(in[0], in[1], in[1], rp::AttentionOptions{.is_causal = true}));
    };
    check("attention", f, {rp::spec({n, 2, t, 8}), rp::spec({n, 2, t, 8})},
          {{rp::randn({1, 2, 3, 8}), rp::randn({1, 2, 3, 8})},
           {rp::randn({2, 2, 7, 8}), rp::randn({2, 2, 7, 8})}});
}

TEST(OnnxExport, NormsAndActivations)
{
    const rp::Dim n = rp::symbol("n", {.min = 1});
    nn::GroupNorm norm(2, 4);
    const auto f = [&](const Tensors& in) {
        const Tensor x = norm(in[0]);
        return Tensors{rp::gelu(x) + rp::leaky_relu(x, 0.1) + rp::elu(x) + rp::celu(x, 0.5) + rp::selu(x),
                       rp::hardsigmoid(x) * rp::hardswish(x) + rp::mish(x) + rp::softsign(x) +
                           rp::gelu(x, "tanh"),
                       rp::softplus(x) + rp::logsigmoid(x),
                       rp::rms_norm(x, {3}),
                       rp::layer_norm(x, {3}),
                       rp::log_softmax(x, 1),
                       rp::clamp(x, -0.5, 0.5)};
    };
    check("activations", f, {rp::spec({n, 4, 3})}, {{rp::randn({2, 4, 3})}, {rp::randn({1, 4, 3})}}, &norm);
}

TEST(OnnxExport, ShapesAndReductions)
{
    const rp::Dim n = rp::symbol("n", {.min = 3}), m = rp::symbol("m", {.min = 1});
    const auto f = [](const Tensors& in) {
        const Tensor& x = in[0];
        const auto parts = rp::split(x, {2, 2}, 1);
        return Tensors{rp::cat({rp::narrow(x, 1, 1, 2), rp::flip(x, {1}), rp::pad(x, {0, 0, 1, 2}, 3.0)}, 1),
                       parts[0] * parts[1],
                       x.transpose(0, 2).reshape({x.size(2) * x.size(0), 4}),
                       rp::sum(x, {1}) + rp::mean(x, {1}) + rp::amax(x, {1}) + rp::prod(x, {1}) +
                           rp::amin(x, {1}),
                       rp::cumsum(x, 1),
                       rp::argmax(x, 1),
                       rp::topk(x, 2, 1).first,
                       rp::where(x > 0.5, x, -1.0).to(rp::i32),
                       rp::arange(x.size(0)).to(rp::f32) * 2 + 1,
                       rp::index_select(x, 0, in[1]),
                       rp::var(x, {1}),
                       rp::zeros({x.size(0), 2})};
    };
    const Tensor index = rp::tensor({0, 2, -1}, {.dtype = rp::i64});
    check("shapes", f, {rp::spec({n, 4, m}), rp::spec({3}, rp::i64)},
          {{rp::rand({3, 4, 2}), index}, {rp::rand({5, 4, 7}), index}});
}

TEST(OnnxExport, ImagesOfSymbolicSizes)
{
    const rp::Dim h = rp::symbol("height", {.min = 4});
    const Tensor weight = rp::randn({3, 2, 3, 3});
    const auto f = [&](const Tensors& in) {
        return Tensors{rp::interpolate(in[0], {.scale_factor = 2.0, .mode = "bilinear"}),
                       rp::interpolate(in[0], {.scale_factor = 3.0, .mode = "nearest"}),
                       rp::avg_pool2d(in[0], 2), rp::conv_transpose2d(in[0], weight, {}, 2, 1, 1)};
    };
    check("images", f, {rp::spec({1, 3, h, 8})}, {{rp::rand({1, 3, 6, 8})}, {rp::rand({1, 3, 9, 8})}});
}

// What the importer does with a file does not matter here: the file itself has the nodes.
proto::ModelProto exported(const std::function<Tensor(const Tensor&)>& f, const rp::Spec& spec)
{
    const fs::path path = fs::path(testing::TempDir()) / "nodes.onnx";
    rp::onnx::save(path, rp::record_function([&](const Tensors& in) { return one(f(in[0])); }, {spec}));
    proto::ModelProto model;
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(model.ParseFromString({std::istreambuf_iterator<char>(file), {}}));
    return model;
}

std::vector<std::string> operators(const proto::ModelProto& model)
{
    std::vector<std::string> names;
    for (const auto& node : model.graph().node()) names.push_back(node.op_type());
    return names;
}

// Products of f16 and bf16 have their bias as a third input.
TEST(OnnxExport, LinearOfHalfPrecisionHasItsBias)
{
    for (const rp::DType dtype : {rp::f16, rp::bf16}) {
        const Tensor weight = rp::rand({2, 3}).to(dtype), bias = rp::tensor({5., -7.}).to(dtype);
        check(std::string("linear_") + rp::name_of(dtype),
              [&](const Tensors& in) { return one(rp::linear(in[0], weight, bias)); },
              {rp::spec({4, 3}, dtype)}, {{rp::rand({4, 3}).to(dtype)}});
    }
}

TEST(OnnxExport, ResizesByTheFactor)
{
    for (const char* mode : {"nearest", "bilinear", "bicubic"})
        for (const double factor : {1.5, 1.1, 0.7, 2.3}) {
            const auto f = [&](const Tensors& in) {
                return one(rp::interpolate(in[0], {.scale_factor = factor, .mode = mode}));
            };
            check(std::string("resize_") + mode + std::to_string(static_cast<int>(factor * 10)), f,
                  {rp::spec({1, 2, 5, 7})}, {{rp::rand({1, 2, 5, 7})}});
        }
}

TEST(OnnxExport, PoolsOfAllKinds)
{
    const auto f = [](const Tensors& in) {
        const auto [y, places] =
            rp::max_pool2d_with_indices(in[0], rp::MaxPoolOptions<2>{.kernel_size = {2, 2}});
        const auto [one_image, inside] =
            rp::max_pool2d_with_indices(in[1], rp::MaxPoolOptions<2>{.kernel_size = {2, 2}});
        return Tensors{y, places, one_image, inside, rp::avg_pool2d(in[1], 2), rp::max_pool1d(in[1], 2)};
    };
    check("pools", f, {rp::spec({2, 3, 4, 6}), rp::spec({3, 4, 6})},
          {{rp::rand({2, 3, 4, 6}), rp::rand({3, 4, 6})}});
    const auto adaptive = [](const Tensor& x) { return rp::adaptive_max_pool2d(x, {2, 2}); };
    try {
        exported(adaptive, rp::spec({2, 3, 5, 5}));
        ADD_FAILURE() << "no error";
    } catch (const rp::Error& error) {
        EXPECT_EQ(error.kind(), rp::ErrorKind::unsupported);
        EXPECT_THAT(error.what(), testing::HasSubstr("max_pool: it is adaptive"));
    }
}

// Opset 20 has no bfloat16 for these operators.
TEST(OnnxExport, ComputesBfloat16InF32WhereTheOpsetHasNone)
{
    const Tensor weight = rp::rand({2, 3, 2, 2}).to(rp::bf16), bias = rp::rand({2}).to(rp::bf16);
    const auto f = [&](const Tensors& in) {
        const Tensor y = rp::conv2d(in[0], weight, bias);
        return Tensors{rp::max_pool2d(y, 2), rp::avg_pool2d(y, 2), rp::sin(y) + rp::softplus(y) + rp::mish(y),
                       rp::topk(y, 2, 3).first, rp::round(y)};
    };
    check("bfloat16", f, {rp::spec({2, 3, 5, 5}, rp::bf16)}, {{rp::rand({2, 3, 5, 5}).to(rp::bf16)}});
    const auto model = exported([](const Tensor& x) { return rp::sin(x); }, rp::spec({2}, rp::bf16));
    EXPECT_THAT(operators(model), testing::ElementsAre("Cast", "Sin", "Cast", "Identity"));
}

// Formulas do not cancel where the ops do not.
TEST(OnnxExport, KeepsSmallAndLargeNumbers)
{
    const auto f = [](const Tensors& in) {
        const Tensor &x = in[0], y = in[1];
        return Tensors{rp::expm1(x),
                       rp::log1p(rp::abs(x)),
                       rp::log1p(-rp::clamp(rp::abs(x), 0, 1)),
                       rp::elu(x),
                       rp::celu(x, 0.5),
                       rp::remainder(x, y),
                       rp::remainder(x, -y),
                       rp::lerp(x, y, 1.0),
                       rp::floor_divide(x, y),
                       rp::bce_with_logits_loss(x, rp::zeros_like(x), rp::Reduction::none)};
    };
    const fs::path path = fs::path(testing::TempDir()) / "small.onnx";
    rp::onnx::save(path, rp::record_function(f, {rp::spec({8}), rp::spec({8})}));
    rp::onnx::Model imported(path);
    const Tensors in{rp::tensor({1e-8, -1e-8, 1e-3, -1e-3, 20., -20., -60., 1e7}),
                     rp::tensor({1e-3, 1e-3, 1e-5, 3e-5, 0.3, 7., 1e-30, 0.7})};
    const Tensors expected = f(in), found = imported(in);
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(rp::allclose(found[i], expected[i], 1e-5, 0)) << i << " " << found[i] << expected[i];
}

TEST(OnnxExport, ListsAllThatItCannotExport)
{
    nn::Linear net(3, 2);
    rp::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
    const rp::Program step = rp::record(
        [&](Tensor x) {
            const Tensor loss = rp::mean(rp::dropout(net(x)));
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return rp::atan2(loss, loss);
        },
        {rp::spec({rp::symbol("n"), 3})});
    try {
        rp::onnx::save(folder() / "step.onnx", step);
        ADD_FAILURE() << "no error";
    } catch (const rp::Error& error) {
        EXPECT_EQ(error.kind(), rp::ErrorKind::unsupported);
        for (const char* part : {"changes state", "dropout", "atan2"})
            EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
    EXPECT_FALSE(fs::exists(folder() / "step.onnx"));
}

} // namespace
