// The functional backward API gives autograd's gradients bit for bit, and answers mistakes by its own names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
namespace bw = reprise::backward;
using testing::HasSubstr;
using Tensors = std::vector<Tensor>;

struct Case {
    const char* name;
    std::vector<Shape> shapes; // of the floating inputs
    std::function<Tensor(const Tensors&)> forward;
    std::function<Tensors(const Tensor& grad_output, const Tensors&)> backward;
    double low = -2, high = 2;
};

Tensors pair(const bw::Two& g) { return {g.first, g.second}; }
Tensors list(const bw::OfLayer& g)
{
    Tensors out{g.x};
    if (g.weight.defined()) out.push_back(g.weight);
    if (g.bias.defined()) out.push_back(g.bias);
    return out;
}

// NAME(f(x)) and NAME_backward(g, x) of one input x with further arguments.
#define ONE(name, shape, f, b)                                                                               \
    {                                                                                                        \
#name "_backward",                                                                                   \
            {shape }, [](const Tensors& x) { return f; },                                                    \
                                                       [](const Tensor& g,                                   \
                                                          const Tensors&                                     \
                                                              x) { return Tensors{bw::name##_backward b}; }  \
    }
#define SHAPE(...)                                                                                           \
    Shape { __VA_ARGS__ }

Tensor targets() { return from_vector(std::vector<std::int32_t>{2, 0, 1}, {3}); }
Tensor probabilities() { return from_vector(std::vector<float>{0, 1, 0.5f, 1, 0.25f, 0}, {2, 3}); }
const ConvOptions<2> strided{.stride = {2, 1}, .padding = {1, 1}};
const MaxPoolOptions<2> pool{.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}};
const AvgPoolOptions<2> averages{.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}};

const std::vector<Case>& cases()
{
    static const Shape m = {3, 4};
    static const std::vector<Case> all{
        ONE(relu, m, relu(x[0]), (g, x[0])),
        ONE(leaky_relu, m, leaky_relu(x[0], 0.2), (g, x[0], 0.2)),
        ONE(sigmoid, m, sigmoid(x[0]), (g, x[0])),
        ONE(tanh, m, reprise::tanh(x[0]), (g, x[0])),
        ONE(gelu, m, gelu(x[0]), (g, x[0])),
        ONE(softmax, m, softmax(x[0], 1), (g, x[0], 1)),
        ONE(swish, m, swish(x[0]), (g, x[0])),
        ONE(mish, m, mish(x[0]), (g, x[0])),
        ONE(elu, m, elu(x[0], 0.7), (g, x[0], 0.7)),
        ONE(exp, m, reprise::exp(x[0]), (g, x[0])),
        ONE(abs, m, reprise::abs(x[0]), (g, x[0])),
        ONE(clip, m, clamp(x[0], -0.5, 1), (g, x[0], -0.5, 1)),
        ONE(add_scalar, m, x[0] + 1.5, (g, x[0], 1.5)),
        ONE(subtract_scalar, m, x[0] - 1.5, (g, x[0], 1.5)),
        ONE(multiply_scalar, m, x[0] * 1.5, (g, x[0], 1.5)),
        ONE(divide_scalar, m, x[0] / 1.5, (g, x[0], 1.5)),
        ONE(sum, m, sum(x[0], {1}), (g, x[0], {1})),
        ONE(mean, m, mean(x[0], {0}, true), (g, x[0], {0}, true)),
        ONE(max_reduce, m, amax(x[0], {1}), (g, x[0], {1})),
        ONE(min_reduce, m, amin(x[0]), (g, x[0])),
        ONE(transpose, m, transpose(x[0], 0, 1), (g, x[0], 0, 1)),
        ONE(reshape, m, reshape(x[0], {2, 6}), (g, x[0], {2, 6})),
        ONE(expand_dims, m, unsqueeze(x[0], 1), (g, x[0], 1)),
        ONE(squeeze, SHAPE(3, 1, 2), squeeze(x[0], 1), (g, x[0], 1)),
        ONE(flatten, SHAPE(2, 3, 2), flatten(x[0], 1), (g, x[0], 1)),
        ONE(maxpool2d, SHAPE(2, 2, 5, 4), max_pool2d(x[0], pool), (g, x[0], pool)),
        ONE(avgpool2d, SHAPE(2, 2, 5, 4), avg_pool2d(x[0], averages), (g, x[0], averages)),
        ONE(global_avgpool2d, SHAPE(2, 2, 5, 4), adaptive_avg_pool2d(x[0], 1), (g, x[0])),
        ONE(mean_squared_error, SHAPE(2, 3), mse_loss(x[0], probabilities(), Reduction::sum),
            (g, x[0], probabilities(), Reduction::sum)),
        ONE(cross_entropy, m, cross_entropy(x[0], targets()), (g, x[0], targets())),
        {"log_backward",
         {m},
         [](const Tensors& x) { return reprise::log(x[0]); },
         [](const Tensor& g, const Tensors& x) { return Tensors{bw::log_backward(g, x[0])}; },
         0.1},
        {"log10_backward",
         {m},
         [](const Tensors& x) { return log10(x[0]); },
         [](const Tensor& g, const Tensors& x) { return Tensors{bw::log10_backward(g, x[0])}; },
         0.1},
        {"log2_backward",
         {m},
         [](const Tensors& x) { return log2(x[0]); },
         [](const Tensor& g, const Tensors& x) { return Tensors{bw::log2_backward(g, x[0])}; },
         0.1},
        {"sqrt_backward",
         {m},
         [](const Tensors& x) { return reprise::sqrt(x[0]); },
         [](const Tensor& g, const Tensors& x) { return Tensors{bw::sqrt_backward(g, x[0])}; },
         0.1},
        {"binary_cross_entropy_backward",
         {{2, 3}},
         [](const Tensors& x) { return bce_loss(x[0], probabilities(), Reduction::none); },
         [](const Tensor& g, const Tensors& x) {
             return Tensors{bw::binary_cross_entropy_backward(g, x[0], probabilities(), Reduction::none)};
         },
         0.1,
         0.9},
        {"prelu_backward",
         {{2, 3, 2}, {3}},
         [](const Tensors& x) { return prelu(x[0], x[1]); },
         [](const Tensor& g, const Tensors& x) { return pair(bw::prelu_backward(g, x[0], x[1])); }},
        {"add_backward",
         {m, {4}},
         [](const Tensors& x) { return x[0] + x[1]; },
         [](const Tensor& g, const Tensors& x) { return pair(bw::add_backward(g, x[0], x[1])); }},
        {"subtract_backward",
         {{3, 1}, m},
         [](const Tensors& x) { return x[0] - x[1]; },
         [](const Tensor& g, const Tensors& x) { return pair(bw::subtract_backward(g, x[0], x[1])); }},
        {"multiply_backward",
         {m, {3, 1}},
         [](const Tensors& x) { return x[0] * x[1]; },
         [](const Tensor& g, const Tensors& x) { return pair(bw::multiply_backward(g, x[0], x[1])); }},
        {"divide_backward",
         {m, m},
         [](const Tensors& x) { return x[0] / x[1]; },
         [](const Tensor& g, const Tensors& x) { return pair(bw::divide_backward(g, x[0], x[1])); },
         0.5},
        {"matmul_backward",
         {{2, 3, 4}, {4, 5}},
         [](const Tensors& x) { return matmul(x[0], x[1]); },
         [](const Tensor& g, const Tensors& x) { return pair(bw::matmul_backward(g, x[0], x[1])); }},
        {"linear_backward",
         {{3, 4}, {2, 4}, {2}},
         [](const Tensors& x) { return linear(x[0], x[1], x[2]); },
         [](const Tensor& g, const Tensors& x) { return list(bw::linear_backward(g, x[0], x[1], x[2])); }},
        {"linear_no_bias_backward",
         {{3, 4}, {2, 4}},
         [](const Tensors& x) { return linear(x[0], x[1]); },
         [](const Tensor& g, const Tensors& x) { return pair(bw::linear_no_bias_backward(g, x[0], x[1])); }},
        {"conv2d_backward",
         {{2, 3, 5, 4}, {2, 3, 3, 3}, {2}},
         [](const Tensors& x) { return conv2d(x[0], x[1], x[2], strided); },
         [](const Tensor& g, const Tensors& x) {
             return list(bw::conv2d_backward(g, x[0], x[1], x[2], strided));
         }},
        {"conv2d_no_bias_backward",
         {{2, 3, 5, 4}, {2, 3, 3, 3}},
         [](const Tensors& x) { return conv2d(x[0], x[1], {}, strided); },
         [](const Tensor& g, const Tensors& x) {
             return pair(bw::conv2d_no_bias_backward(g, x[0], x[1], strided));
         }},
        {"batch_norm2d_backward",
         {{3, 2, 2, 2}, {2}, {2}},
         [](const Tensors& x) { return batch_norm(x[0], {}, {}, x[1], x[2], {.training = true}); },
         [](const Tensor& g, const Tensors& x) {
             return list(bw::batch_norm2d_backward(g, x[0], x[1], x[2]));
         }},
        {"layer_norm_backward",
         {{3, 4}, {4}, {4}},
         [](const Tensors& x) { return layer_norm(x[0], {4}, x[1], x[2]); },
         [](const Tensor& g, const Tensors& x) {
             return list(bw::layer_norm_backward(g, x[0], {4}, x[1], x[2]));
         }},
        {"concat_backward",
         {{2, 3}, {1, 3}},
         [](const Tensors& x) { return cat(x, 0); },
         [](const Tensor& g, const Tensors& x) { return bw::concat_backward(g, x, 0); }},
        {"stack_backward",
         {{2, 3}, {2, 3}},
         [](const Tensors& x) { return stack(x, 1); },
         [](const Tensor& g, const Tensors& x) { return bw::stack_backward(g, x, 1); }},
    };
    return all;
}

Tensor drawn(const Shape& shape, double low, double high)
{
    Tensor t = rand(shape) * (high - low) + low;
    return t.detach();
}

struct Backward : testing::TestWithParam<const Case*> {
    Tensors inputs, leaves;
    Tensor grad_output;
    void SetUp() override
    {
        manual_seed(11);
        for (const Shape& s : GetParam()->shapes) {
            inputs.push_back(drawn(s, GetParam()->low, GetParam()->high));
            leaves.push_back(Variable(inputs.back()));
        }
        grad_output = drawn(GetParam()->forward(inputs).shape(), -1, 1);
    }
};
INSTANTIATE_TEST_SUITE_P(Functions, Backward, testing::ValuesIn([] {
                             std::vector<const Case*> all;
                             for (const Case& c : cases()) all.push_back(&c);
                             return all;
                         }()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST_P(Backward, GivesAutogradsBits)
{
    GetParam()->forward(leaves).backward(grad_output);
    const no_grad guard; // which it does not need
    const Tensors found = GetParam()->backward(grad_output, inputs);
    ASSERT_EQ(found.size(), leaves.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(to_string(found[i].shape()), to_string(inputs[i].shape())) << i;
        EXPECT_EQ(found[i].to_vector<float>(), leaves[i].grad().to_vector<float>()) << i;
        EXPECT_FALSE(found[i].requires_grad());
    }
}

TEST_P(Backward, WorksInPrograms)
{
    std::vector<Spec> specs{spec(grad_output.shape())};
    Tensors given{grad_output};
    for (const Tensor& t : inputs) {
        specs.push_back(spec(t.shape()));
        given.push_back(t);
    }
    const Program program = record_function(
        [](const Tensors& in) {
            return GetParam()->backward(in[0], {in.begin() + 1, in.end()});
        },
        specs);
    const Tensors found = program.call(given), want = GetParam()->backward(grad_output, inputs);
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(found[i].to_vector<float>(), want[i].to_vector<float>()) << i;
}

TEST_P(Backward, RefusesAnotherShapeOrDtype)
{
    Shape other = grad_output.shape();
    other.push_back(2);
    const auto begins = [](const Caught& caught) {
        EXPECT_EQ(caught.text.rfind(std::string("[") + GetParam()->name + "] ", 0), 0u) << caught.text;
    };
    const Caught shape = error_of([&] { return GetParam()->backward(zeros(other), inputs); });
    EXPECT_EQ(shape.kind, ErrorKind::shape) << shape.text;
    begins(shape);
    const Caught dtype = error_of([&] { return GetParam()->backward(cast(grad_output, f16), inputs); });
    EXPECT_EQ(dtype.kind, ErrorKind::dtype) << dtype.text;
    begins(dtype);
    begins(error_of([&] { return GetParam()->backward(Tensor(), inputs); }));
    Tensors undefined = inputs;
    undefined[0] = Tensor();
    begins(error_of([&] { return GetParam()->backward(grad_output, undefined); }));
}

TEST(FunctionalBackward, CanBeDifferentiatedAgain)
{
    const Variable x(from_vector({0.3f, -0.7f, 1.1f})), g(from_vector({1.0f, 2.0f, -1.0f}));
    sum(bw::tanh_backward(g, x)).backward();
    const std::vector<float> by_x = x.grad().to_vector<float>(), by_g = g.grad().to_vector<float>();
    const Variable leaf(x.detach()), cotangent(g.detach());
    const Tensor first = grad(reprise::tanh(leaf), leaf, {.create_graph = true, .cotangents = {cotangent}});
    sum(first).backward();
    EXPECT_EQ(by_x, leaf.grad().to_vector<float>());
    EXPECT_EQ(by_g, cotangent.grad().to_vector<float>());
    EXPECT_NE(by_x[0], 0);
}

TEST(FunctionalBackward, NamesTheForwardsMistakes)
{
    const Tensor a = ones({2, 3}), b = ones({4, 2});
    const Caught sizes = error_of([&] { return bw::matmul_backward(a, a, b); });
    EXPECT_EQ(sizes.kind, ErrorKind::shape);
    EXPECT_THAT(sizes.text, HasSubstr("[matmul_backward] [matmul] "));
    const Caught integers = error_of([&] { return bw::relu_backward(arange(3), arange(3)); });
    EXPECT_EQ(integers.kind, ErrorKind::dtype);
    EXPECT_THAT(integers.text, HasSubstr("[relu_backward]"));
    EXPECT_THAT(error_of([&] { return bw::batch_norm2d_backward(a, a, ones({3}), ones({3})); }).text,
                HasSubstr("it must be [N, C, H, W]"));
}

TEST(FunctionalBackward, OfOneInputOfAConvolution)
{
    manual_seed(5);
    const Tensor x = randn({2, 3, 5, 4}), w = randn({2, 3, 3, 3});
    const Tensor g = randn(conv2d(x, w, {}, strided).shape());
    const auto [of_x, of_w] = bw::conv2d_no_bias_backward(g, x, w, strided);
    EXPECT_EQ(bw::conv2d_backward_input(g, x.shape(), w, strided).to_vector<float>(),
              of_x.to_vector<float>());
    EXPECT_EQ(bw::conv2d_backward_weight(g, x, w.shape(), strided).to_vector<float>(),
              of_w.to_vector<float>());
    EXPECT_THAT(error_of([&] {
                    return bw::conv2d_backward_input(g, {2, 3, 9, 9}, w, strided);
                }).text,
                HasSubstr("[conv2d_backward_input] The grad_output is"));
    EXPECT_THAT(error_of([&] {
                    return bw::conv2d_backward_weight(g, x, {2, 3, 1, 1}, strided);
                }).text,
                HasSubstr("[conv2d_backward_weight] The grad_output is"));
}

// A gradient of f(x, other) by x is a function of g, x and `other`: all of them have second gradients.
void expect_second_gradients(const char* what, const Tensor& g, const Tensor& x, const Tensor& other,
                             const std::function<Tensor(const Tensor& x, const Tensor& other)>& forward,
                             const std::function<Tensor(const Tensors& g_x_other)>& backward)
{
    const auto leaves = [&](bool all) {
        return Tensors{Variable(g, all), Variable(x, all), Variable(other)};
    };
    Tensors composed = leaves(true);
    composed[1].requires_grad_();
    const Tensor first = grad(forward(composed[1], composed[2]), composed[1],
                              {.create_graph = true, .cotangents = {composed[0]}});
    const Tensor weights = rand(first.shape());
    const Tensors want = grad({sum(first * weights)}, {composed[0], composed[2]});
    const Tensors found = leaves(true);
    const Tensor dx = backward(found);
    EXPECT_EQ(dx.to_vector<float>(), first.to_vector<float>()) << what;
    sum(dx * weights).backward();
    EXPECT_EQ(found[0].grad().to_vector<float>(), want[0].to_vector<float>()) << what;
    EXPECT_EQ(found[2].grad().to_vector<float>(), want[1].to_vector<float>()) << what;
    EXPECT_NE(sum(reprise::abs(want[1])).item<float>(), 0) << what;
    const Tensors alone = leaves(false); // only `other` requires a gradient
    sum(backward(alone) * weights).backward();
    EXPECT_EQ(alone[2].grad().to_vector<float>(), want[1].to_vector<float>()) << what;
}

TEST(FunctionalBackward, ConvolutionsOfOneInputHaveSecondGradients)
{
    manual_seed(6);
    const Tensor x = randn({2, 3, 5, 4}).detach(), w = randn({2, 3, 3, 3}).detach();
    const Tensor g = randn(conv2d(x, w, {}, strided).shape()).detach();
    expect_second_gradients(
        "conv2d_backward_input", g, x, w,
        [](const Tensor& t, const Tensor& weight) { return conv2d(t, weight, {}, strided); },
        [&](const Tensors& in) { return bw::conv2d_backward_input(in[0], x.shape(), in[2], strided); });
    expect_second_gradients(
        "conv2d_backward_weight", g, w, x,
        [](const Tensor& weight, const Tensor& t) { return conv2d(t, weight, {}, strided); },
        [&](const Tensors& in) { return bw::conv2d_backward_weight(in[0], in[2], w.shape(), strided); });
}

TEST(FunctionalBackward, TargetsHaveSecondGradients)
{
    manual_seed(7);
    const Tensor x = (rand({2, 3}) * 0.8 + 0.1).detach(), g = ones({}), p = probabilities();
    expect_second_gradients(
        "mean_squared_error_backward", g, x, p,
        [](const Tensor& t, const Tensor& y) { return mse_loss(t, y); },
        [](const Tensors& in) { return bw::mean_squared_error_backward(in[0], in[1], in[2]); });
    expect_second_gradients(
        "binary_cross_entropy_backward", g, x, p,
        [](const Tensor& t, const Tensor& y) { return bce_loss(t, y); },
        [](const Tensors& in) { return bw::binary_cross_entropy_backward(in[0], in[1], in[2]); });
    expect_second_gradients(
        "cross_entropy_backward", g, x, p,
        [](const Tensor& t, const Tensor& y) { return cross_entropy(t, y); },
        [](const Tensors& in) { return bw::cross_entropy_backward(in[0], in[1], in[2]); });
    expect_second_gradients(
        "dropout_backward", ones({2, 3}), x, p, [](const Tensor& t, const Tensor& m) { return t * m * 2.0; },
        [](const Tensors& in) { return bw::dropout_backward(in[0], in[2], 0.5); });
    Variable target(p);
    const bw::LossAndGrad found = bw::mse_loss_and_grad(x, target * 2);
    found.loss.backward({}, {.retain_graph = true});
    const std::vector<float> by_target = target.grad().to_vector<float>();
    target.zero_grad();
    mse_loss(x, target * 2).backward();
    EXPECT_EQ(by_target, target.grad().to_vector<float>());
    EXPECT_TRUE(found.grad.requires_grad());
}

// The walk ends at what is given: a graph that made it may be used up.
TEST(FunctionalBackward, DoesNotWalkWhatMadeItsInputs)
{
    const Variable leaf(ones({1, 1, 2, 2}));
    const Tensor w = leaf * leaf, g = ones({1, 1, 2, 2});
    sum(w).backward();
    EXPECT_EQ(bw::conv2d_backward_input(g, {1, 1, 3, 3}, w).to_vector<float>(),
              (std::vector<float>{1, 2, 1, 2, 4, 2, 1, 2, 1}));
}

TEST(FunctionalBackward, LossesWithTheirGradients)
{
    const auto check = [](const bw::LossAndGrad& found, const Tensor& x,
                          const std::function<Tensor(const Tensor&)>& loss) {
        const Variable leaf(x);
        const Tensor want = loss(leaf);
        want.backward();
        EXPECT_EQ(found.loss.item<float>(), want.item<float>());
        EXPECT_EQ(found.grad.to_vector<float>(), leaf.grad().to_vector<float>());
    };
    const Tensor x = from_vector(std::vector<float>{0.3f, 0.2f, 0.9f, 0.6f, 0.5f, 0.1f}, {2, 3});
    const Tensor logits = from_vector(std::vector<float>{1, -2, 0, 3, 1, 1, 0, 2, -1}, {3, 3});
    for (const Reduction r : {Reduction::mean, Reduction::sum}) {
        check(bw::mse_loss_and_grad(x, probabilities(), r), x,
              [=](const Tensor& t) { return mse_loss(t, probabilities(), r); });
        check(bw::bce_loss_and_grad(x, probabilities(), r), x,
              [=](const Tensor& t) { return bce_loss(t, probabilities(), r); });
        check(bw::ce_loss_and_grad(logits, targets(), r), logits,
              [=](const Tensor& t) { return cross_entropy(t, targets(), r); });
    }
    EXPECT_THAT(error_of([&] { return bw::mse_loss_and_grad(x, x, Reduction::none); }).text,
                HasSubstr("[mse_loss_and_grad] A loss of one element"));
    EXPECT_THAT(error_of([&] { return bw::ce_loss_and_grad(logits, ones({4})); }).text,
                HasSubstr("[ce_loss_and_grad] "));
}

TEST(FunctionalBackward, OfDropout)
{
    const Variable x(ones({5, 7}));
    const Tensor g = drawn({5, 7}, 1, 2);
    const GeneratorState before = generator_state();
    const Tensor y = dropout(x, 0.4);
    y.backward(g);
    const std::vector<float> want = x.grad().to_vector<float>();
    EXPECT_EQ(bw::dropout_backward(g, before, 0.4).to_vector<float>(), want);
    const std::vector<float> by_mask = bw::dropout_backward(g, y != 0, 0.4).to_vector<float>();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_FLOAT_EQ(by_mask[i], want[i]) << i;
    EXPECT_EQ(bw::dropout_backward(g, before, 0).to_vector<float>(), g.to_vector<float>());
    EXPECT_THAT(error_of([&] { return bw::dropout_backward(g, ones({4}), 0.4); }).text,
                HasSubstr("[dropout_backward] "));
    EXPECT_THAT(error_of([&] { return bw::dropout_backward(g, before, 1.5); }).text,
                HasSubstr("[dropout_backward] The probability (1.5)"));
}

TEST(FunctionalBackward, OfDropoutOfChannels)
{
    const Variable x(ones({3, 4, 2, 3}));
    const Tensor g = drawn({3, 4, 2, 3}, 1, 2);
    const GeneratorState before = generator_state();
    const Tensor y = dropout2d(x, 0.4);
    y.backward(g);
    const std::vector<float> want = x.grad().to_vector<float>();
    EXPECT_EQ(bw::dropout2d_backward(g, before, 0.4).to_vector<float>(), want);
    const Tensor mask = amax(y, {2, 3}, true) != 0;
    const std::vector<float> by_mask = bw::dropout2d_backward(g, mask, 0.4).to_vector<float>();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_FLOAT_EQ(by_mask[i], want[i]) << i;
    EXPECT_THAT(error_of([&] {
                    return bw::dropout2d_backward(ones({3, 4}), before);
                }).text,
                HasSubstr("[dropout2d_backward] The grad_output is [3, 4]"));
    EXPECT_THAT(error_of([&] {
                    return bw::dropout2d_backward(g, ones({5, 1, 1, 1}));
                }).text,
                HasSubstr("[dropout2d_backward] "));
}

TEST(FunctionalBackward, AppliesGradients)
{
    Variable a(from_vector({1.0f, 2.0f})), b(from_vector({3.0f}));
    bw::apply_gradient(a, from_vector({2.0f, -2.0f}), 0.5);
    EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{0, 3}));
    bw::apply_gradients({a, b}, {ones({2}), ones({1})}, 0.5);
    EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{-0.5, 2.5}));
    EXPECT_EQ(b.item<float>(), 2.5f);
    EXPECT_THAT(error_of([&] {
                    bw::apply_gradients({a, b}, {ones({2}), ones({3})}, 0.5);
                }).text,
                HasSubstr("[apply_gradients] [sgd_step] The grad is f32[3]"));
    EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{-0.5, 2.5})) << "all or nothing";
    EXPECT_THAT(error_of([&] { bw::apply_gradients({a}, {}, 0.5); }).text,
                HasSubstr("(0) gradients for (1) parameters"));
}

} // namespace
