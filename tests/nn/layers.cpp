// Initial values, results and options of each layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::Each;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

// A sample of U(-bound, bound): its extremes reach almost to the bound, mean and variance are right.
void expect_uniform(const Tensor& tensor, double bound)
{
    const auto values = tensor.to_vector<float>();
    double sum = 0, squares = 0, largest = 0;
    for (const float v : values) {
        sum += v;
        squares += double{v} * v;
        largest = std::max(largest, std::abs(double{v}));
    }
    const auto n = static_cast<double>(values.size());
    EXPECT_LE(largest, bound * (1 + 1e-6));
    EXPECT_GE(largest, bound * (1 - 20 / n));
    EXPECT_NEAR(sum / n, 0, 5 * bound / std::sqrt(3 * n));
    EXPECT_NEAR(squares / n, bound * bound / 3, 5 * bound * bound / std::sqrt(11.25 * n));
}

TEST(Linear, StartsAsPyTorchDoes)
{
    manual_seed(1);
    nn::Linear net(64, 128);
    EXPECT_EQ(net.weight.shape(), (Shape{128, 64}));
    EXPECT_EQ(net.bias.shape(), (Shape{128}));
    expect_uniform(net.weight, 1 / 8.0);
    expect_uniform(net.bias, 1 / 8.0);
    EXPECT_TRUE(net.weight.requires_grad() && net.weight.is_leaf());
}

TEST(Linear, OneSeedGivesOneStart)
{
    manual_seed(5);
    nn::Linear a(10, 10);
    manual_seed(5);
    nn::Linear b(10, 10);
    nn::Linear c(10, 10);
    EXPECT_EQ(a.weight.to_vector<float>(), b.weight.to_vector<float>());
    EXPECT_NE(a.weight.to_vector<float>(), c.weight.to_vector<float>());
}

TEST(Linear, MultipliesByTheTransposeAndAdds)
{
    nn::Linear net(3, 2);
    net.weight.assign(from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
    net.bias.assign(from_vector<float>({10, 20}, {2}));
    EXPECT_THAT(net(from_vector<float>({1, 0, -1}, {1, 3})).to_vector<float>(), ElementsAre(8, 18));
    EXPECT_EQ(net(ones({5, 4, 3})).shape(), (Shape{5, 4, 2}));
    EXPECT_EQ(net(ones({0, 3})).shape(), (Shape{0, 2}));
}

TEST(Linear, MayHaveNoBias)
{
    nn::Linear net(3, 2, {.bias = false});
    EXPECT_FALSE(net.bias.defined());
    EXPECT_EQ(net.parameters().size(), 1u);
    net.weight.assign(ones({2, 3}));
    EXPECT_THAT(net(ones({1, 3})).to_vector<float>(), ElementsAre(3, 3));
}

TEST(Conv2d, StartsAsPyTorchDoes)
{
    manual_seed(2);
    nn::Conv2d conv(8, 32, {.kernel_size = {3, 5}});
    EXPECT_EQ(conv.weight.shape(), (Shape{32, 8, 3, 5}));
    EXPECT_EQ(conv.bias.shape(), (Shape{32}));
    expect_uniform(conv.weight, 1 / std::sqrt(120.0));
    expect_uniform(conv.bias, 1 / std::sqrt(120.0));
}

TEST(Conv2d, TakesSizesAsNumbersOrPairs)
{
    nn::Conv2d conv(1, 2, {.kernel_size = 3, .stride = {2, 1}, .padding = {0, 1}, .bias = false});
    EXPECT_FALSE(conv.bias.defined());
    EXPECT_EQ(conv(ones({4, 1, 9, 8})).shape(), (Shape{4, 2, 4, 8}));
    conv.weight.assign(ones({2, 1, 3, 3}));
    EXPECT_THAT(conv(ones({1, 1, 3, 3})).to_vector<float>(), ElementsAre(6, 9, 6, 6, 9, 6));
}

TEST(Convolutions, OfAllKindsStartAsPyTorchsDo)
{
    manual_seed(4);
    nn::Conv1d line(6, 30, {.kernel_size = 9, .dilation = 2, .groups = 3});
    EXPECT_EQ(line.weight.shape(), (Shape{30, 2, 9}));
    expect_uniform(line.weight, 1 / std::sqrt(18.0));
    EXPECT_EQ(line(ones({2, 6, 20})).shape(), (Shape{2, 30, 4}));

    nn::Conv3d volume(2, 10, {.kernel_size = {3, 2, 4}, .padding = "same", .bias = false});
    EXPECT_EQ(volume.weight.shape(), (Shape{10, 2, 3, 2, 4}));
    expect_uniform(volume.weight, 1 / std::sqrt(48.0));
    EXPECT_EQ(volume(ones({2, 4, 5, 6})).shape(), (Shape{10, 4, 5, 6}));

    nn::ConvTranspose2d back(8, 24, {.kernel_size = 4, .stride = 2, .padding = 1, .groups = 4});
    EXPECT_EQ(back.weight.shape(), (Shape{8, 6, 4, 4}));
    expect_uniform(back.weight, 1 / std::sqrt(96.0));
    expect_uniform(back.bias, 1 / std::sqrt(96.0));
    EXPECT_EQ(back(ones({1, 8, 5, 7})).shape(), (Shape{1, 24, 10, 14}));
    nn::ConvTranspose1d up(2, 3, {.kernel_size = 3, .stride = 2, .output_padding = 1});
    EXPECT_EQ(up(ones({1, 2, 5})).shape(), (Shape{1, 3, 12}));
    nn::ConvTranspose3d grown(2, 1, {.kernel_size = 2, .bias = false, .dilation = 2});
    EXPECT_EQ(grown(ones({2, 1, 2, 3})).shape(), (Shape{1, 3, 4, 5}));
}

TEST(Unfold, IsUndoneByFoldWhereNothingOverlaps)
{
    nn::Unfold unfold(2, {.stride = 2});
    nn::Fold fold({4, 6}, 2, {.stride = 2});
    const Tensor x = rand({3, 2, 4, 6}), columns = unfold(x);
    EXPECT_EQ(columns.shape(), (Shape{3, 8, 6}));
    EXPECT_EQ(fold(columns).to_vector<float>(), x.to_vector<float>());
}

TEST(LayerNorm, NormalisesTheLastDimensions)
{
    nn::LayerNorm norm({2, 2});
    EXPECT_EQ(norm.weight.shape(), (Shape{2, 2}));
    EXPECT_THAT(norm.weight.to_vector<float>(), Each(1));
    EXPECT_THAT(norm.bias.to_vector<float>(), Each(0));
    norm.bias.assign(full({2, 2}, 10));
    const auto values = norm(from_vector<float>({1, 2, 3, 6}, {1, 2, 2})).to_vector<float>(); // variance 3.5
    EXPECT_NEAR(values[0], 10 - 2 / std::sqrt(3.5 + 1e-5), 1e-5);
    EXPECT_NEAR(values[3], 10 + 3 / std::sqrt(3.5 + 1e-5), 1e-5);
}

TEST(LayerNorm, MayHaveNoBiasOrNothingToTrain)
{
    nn::LayerNorm weight_only(3, {.bias = false}), plain(3, {.elementwise_affine = false});
    EXPECT_EQ(weight_only.parameters().size(), 1u);
    EXPECT_EQ(plain.parameters().size(), 0u);
    EXPECT_EQ(plain(ones({2, 3})).to_vector<float>(), std::vector<float>(6, 0));
    EXPECT_THAT(error_of([] { nn::LayerNorm(std::vector<std::int64_t>{}); }).text, HasSubstr("no dimension"));
    EXPECT_THAT(error_of([] { nn::LayerNorm(0); }).text, HasSubstr("(0)"));
    EXPECT_THAT(error_of([] { nn::LayerNorm(2, {.eps = -1}); }).text, HasSubstr("eps (-1)"));
}

TEST(Embedding, StartsAsPyTorchDoes)
{
    manual_seed(3);
    nn::Embedding tokens(200, 50, {.padding_idx = -2});
    EXPECT_EQ(tokens.weight.shape(), (Shape{200, 50}));
    const auto values = tokens.weight.to_vector<float>();
    double squares = 0;
    for (const float v : values) squares += double{v} * v;
    EXPECT_NEAR(squares / 9950, 1, 0.1);
    for (std::size_t i = 198 * 50; i < 199 * 50; ++i) EXPECT_EQ(values[i], 0) << i;
    EXPECT_NE(values[199 * 50], 0);
}

TEST(Embedding, TakesRows)
{
    nn::Embedding tokens(3, 2);
    tokens.weight.assign(from_vector<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
    const Tensor y = tokens(from_vector(std::vector<std::int32_t>{2, 0}, {1, 2}));
    EXPECT_EQ(y.shape(), (Shape{1, 2, 2}));
    EXPECT_THAT(y.to_vector<float>(), ElementsAre(5, 6, 1, 2));
    EXPECT_THAT(error_of([] { nn::Embedding(3, 2, {.padding_idx = 3}); }).text, HasSubstr("(3) is none"));
    EXPECT_THAT(error_of([] { nn::Embedding(0, 2); }).text, HasSubstr("(0)"));
}

TEST(Gelu, HasBothForms)
{
    nn::GELU exact, approximate(GeluApproximation::tanh);
    const Tensor x = from_vector<float>({1}, {1});
    EXPECT_NEAR(exact(x).item<float>(), 0.8413447, 1e-6);
    EXPECT_NEAR(approximate(x).item<float>(), 0.8411920, 1e-6);
}

TEST(BatchNorm2d, NormalisesByTheBatchAndKeepsStatistics)
{
    nn::BatchNorm2d norm(1, {.momentum = 0.5});
    const Tensor y =
        norm(from_vector<float>({1, 2, 3, 6}, {2, 1, 1, 2})); // mean 3, variance 3.5, unbiased 14 / 3
    const float scale = 1 / std::sqrt(3.5f + 1e-5f);
    const auto values = y.to_vector<float>();
    EXPECT_NEAR(values[0], -2 * scale, 1e-5);
    EXPECT_NEAR(values[3], 3 * scale, 1e-5);
    EXPECT_NEAR(norm.running_mean.item<float>(), 1.5, 1e-6);
    EXPECT_NEAR(norm.running_var.item<float>(), 0.5 + 0.5 * 14 / 3, 1e-5);
    norm.eval();
    const auto later = norm(full({1, 1, 1, 1}, 1.5)).to_vector<float>();
    EXPECT_NEAR(later[0], 0, 1e-6);
    EXPECT_NEAR(norm.running_mean.item<float>(), 1.5, 1e-6); // evaluation changes nothing
}

TEST(BatchNorm2d, MayHaveNothingToTrain)
{
    nn::BatchNorm2d norm(3, {.affine = false});
    EXPECT_TRUE(norm.parameters().empty());
    EXPECT_EQ(norm.state_dict().size(), 3u);
    EXPECT_EQ(norm(randn({4, 3, 2, 2})).shape(), (Shape{4, 3, 2, 2}));
}

TEST(MaxPool2d, TakesStrideAndPadding)
{
    const Tensor x = reshape(arange(16, {.dtype = f32}), {1, 1, 4, 4});
    EXPECT_THAT(nn::MaxPool2d(2)(x).to_vector<float>(), ElementsAre(5, 7, 13, 15));
    EXPECT_THAT(nn::MaxPool2d(3, {.stride = 1})(x).to_vector<float>(), ElementsAre(10, 11, 14, 15));
    EXPECT_EQ((nn::MaxPool2d({2, 4}, {.stride = {2, 1}, .padding = {1, 0}})(x).shape()), (Shape{1, 1, 3, 1}));
}

TEST(Pooling, ModulesCallTheirFunctions)
{
    const Tensor line = reshape(arange(8, {.dtype = f32}), {1, 1, 8}),
                 image = reshape(arange(16, {.dtype = f32}), {1, 1, 4, 4}), volume = ones({1, 2, 4, 4, 4});
    EXPECT_THAT(nn::MaxPool1d(3, {.padding = 1, .dilation = 2})(line).to_vector<float>(), ElementsAre(3, 6));
    EXPECT_EQ(nn::MaxPool3d({2, 1, 3}, {.stride = 1, .ceil_mode = true})(volume).shape(),
              (Shape{1, 2, 3, 4, 2}));
    EXPECT_THAT(nn::AvgPool1d(2)(line).to_vector<float>(), ElementsAre(0.5f, 2.5f, 4.5f, 6.5f));
    EXPECT_THAT(
        nn::AvgPool2d(3, {.stride = 2, .padding = 1, .count_include_pad = false})(image).to_vector<float>(),
        ElementsAre(2.5f, 4, 8.5f, 10));
    EXPECT_THAT(nn::AvgPool3d(4, {.divisor_override = 32})(volume).to_vector<float>(), Each(2));
    EXPECT_THAT(nn::AdaptiveAvgPool1d(3)(line).to_vector<float>(), ElementsAre(1, 3.5f, 6));
    EXPECT_EQ(nn::AdaptiveAvgPool2d({-1, 2})(image).shape(), (Shape{1, 1, 4, 2}));
    EXPECT_THAT(nn::AdaptiveMaxPool2d(2)(image).to_vector<float>(), ElementsAre(5, 7, 13, 15));
    EXPECT_EQ(nn::AdaptiveAvgPool3d(2)(volume).shape(), nn::AdaptiveMaxPool3d({2, 2, 2})(volume).shape());
    EXPECT_THAT(nn::AdaptiveMaxPool1d(1)(line).to_vector<float>(), ElementsAre(7));
}

TEST(Padding, ModulesCallTheirFunctions)
{
    const Tensor line = reshape(arange(3, {.dtype = f32}), {1, 1, 3});
    EXPECT_THAT(nn::ReflectionPad1d(2)(line).to_vector<float>(), ElementsAre(2, 1, 0, 1, 2, 1, 0));
    EXPECT_THAT(nn::ReplicationPad1d({1, 0})(line).to_vector<float>(), ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(nn::CircularPad1d({1, 0})(line).to_vector<float>(), ElementsAre(2, 0, 1, 2));
    EXPECT_THAT(nn::ConstantPad1d(1, 7)(line).to_vector<float>(), ElementsAre(7, 0, 1, 2, 7));
    EXPECT_EQ(nn::ZeroPad2d({1, 0, 2, 0})(ones({1, 3, 3})).shape(), (Shape{1, 5, 4}));
}

TEST(Upsampling, ModulesCallTheirFunctions)
{
    const Tensor x = reshape(arange(4, {.dtype = f32}), {1, 1, 2, 2});
    EXPECT_THAT(nn::Upsample({.scale_factor = {2}})(x).to_vector<float>(),
                ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3));
    EXPECT_THAT(nn::Upsample({.size = {3}, .mode = Interpolation::bilinear, .align_corners = true})(x)
                    .to_vector<float>(),
                ElementsAre(0, 0.5f, 1, 1, 1.5f, 2, 2, 2.5f, 3));
    EXPECT_THAT(nn::PixelShuffle(2)(nn::PixelUnshuffle(2)(x)).to_vector<float>(), ElementsAre(0, 1, 2, 3));
}

TEST(Dropout, DropsInTrainingOnly)
{
    manual_seed(3);
    nn::Dropout dropout(0.25);
    const auto values = dropout(ones({10'000})).to_vector<float>();
    const auto kept = std::count_if(values.begin(), values.end(), [](float v) { return v != 0; });
    EXPECT_NEAR(static_cast<double>(kept), 7500, 5 * std::sqrt(10'000 * 0.25 * 0.75));
    for (const float v : values) EXPECT_TRUE(v == 0 || std::abs(v - 4.0f / 3) < 1e-6f);
    dropout.eval();
    EXPECT_THAT(dropout(ones({100})).to_vector<float>(), Each(1.0f));
}

TEST(Flatten, KeepsTheBatch)
{
    EXPECT_EQ(nn::Flatten()(ones({2, 3, 4})).shape(), (Shape{2, 12}));
    EXPECT_EQ(nn::Flatten(0, 1)(ones({2, 3, 4})).shape(), (Shape{6, 4}));
}

TEST(ReLU, CutsBelowZero)
{
    EXPECT_THAT(nn::ReLU()(from_vector<float>({-1, 0, 2}, {3})).to_vector<float>(), ElementsAre(0, 0, 2));
}

TEST(Sequential, GoesThroughItsModulesInOrder)
{
    nn::Sequential net(nn::make<nn::Linear>(4, 3), nn::make<nn::ReLU>(), nn::make<nn::Linear>(3, 2));
    EXPECT_EQ(net.size(), 3u);
    EXPECT_EQ(net(ones({5, 4})).shape(), (Shape{5, 2}));
    EXPECT_EQ(net.parameters().size(), 4u);
    EXPECT_TRUE(net.state_dict().contains("2.bias"));
    net.push_back(nn::make<nn::Flatten>(0));
    EXPECT_EQ(net(ones({5, 4})).shape(), (Shape{10}));
    net.eval();
    EXPECT_FALSE(net.at(1).is_training());
    EXPECT_EQ(error_of([&] { net.at(4); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { net.push_back(nullptr); }).kind, ErrorKind::argument);
    EXPECT_EQ(net.size(), 4u);
    nn::Sequential nothing;
    EXPECT_EQ(nothing(ones({2})).shape(), (Shape{2}));
}

TEST(Sequential, NestsAndKeepsItsModulesAlive)
{
    auto inner = nn::make<nn::Sequential>(nn::make<nn::Linear>(2, 2));
    nn::Sequential net(inner, nn::make<nn::ReLU>());
    inner.reset();
    EXPECT_TRUE(net.state_dict().contains("0.0.weight"));
    EXPECT_EQ(net(ones({1, 2})).shape(), (Shape{1, 2}));
}

TEST(Layers, RefuseWhatMakesNoSense)
{
    const auto refused = [](const auto& call) {
        const Caught caught = error_of(call);
        EXPECT_EQ(caught.kind, ErrorKind::argument) << caught.text;
        return caught.text;
    };
    EXPECT_THAT(refused([] { nn::Linear(0, 1); }), HasSubstr("inputs (0)"));
    EXPECT_THAT(refused([] { nn::Linear(1, -1); }), HasSubstr("outputs (-1)"));
    EXPECT_THAT(refused([] { nn::Conv2d(1, 1, {.kernel_size = 0}); }), HasSubstr("kernel_size (0)"));
    EXPECT_THAT(refused([] {
                    nn::Conv2d(1, 1, {.kernel_size = 3, .stride = {1, 0}});
                }),
                HasSubstr("stride (0)"));
    EXPECT_THAT(refused([] { nn::Conv2d(1, 1, {.kernel_size = 3, .padding = -1}); }),
                HasSubstr("padding (-1)"));
    EXPECT_THAT(refused([] { nn::Conv2d(0, 1, {.kernel_size = 3}); }), HasSubstr("input channels (0)"));
    EXPECT_THAT(refused([] { nn::Conv2d(4, 3, {.kernel_size = 3, .groups = 2}); }),
                HasSubstr("(3) do not divide into (2) groups"));
    EXPECT_THAT(refused([] { nn::ConvTranspose1d(4, 3, {.kernel_size = 3, .output_padding = -1}); }),
                HasSubstr("output_padding (-1)"));
    EXPECT_THAT(refused([] { nn::Conv1d(4, 3, {.kernel_size = 3, .padding = "full"}); }),
                HasSubstr("padding (full)"));
    EXPECT_THAT(refused([] { nn::BatchNorm2d(0); }), HasSubstr("channels (0)"));
    EXPECT_THAT(refused([] { nn::BatchNorm2d(1, {.eps = 0}); }), HasSubstr("eps (0)"));
    EXPECT_THAT(refused([] { nn::BatchNorm2d(1, {.momentum = 1.5}); }), HasSubstr("momentum (1.5)"));
    EXPECT_THAT(refused([] { nn::MaxPool2d(0); }), HasSubstr("kernel_size (0)"));
    EXPECT_THAT(refused([] { nn::AvgPool3d(2, {.padding = -1}); }),
                HasSubstr("[AvgPool3d] The padding (-1)"));
    EXPECT_THAT(refused([] { nn::PixelShuffle(0); }), HasSubstr("upscale_factor (0)"));
    EXPECT_THAT(refused([] { nn::Dropout(1.5); }), HasSubstr("(1.5)"));
    EXPECT_THAT(refused([] { nn::Dropout(std::nan("")); }), HasSubstr("(nan)"));
}

TEST(Layers, AllRunAtASymbolicBatch)
{
    struct Net : nn::Module {
        nn::Conv2d conv{1, 2, {.kernel_size = 3, .padding = 1}};
        nn::BatchNorm2d norm{2};
        nn::MaxPool2d pool{2};
        nn::Dropout dropout{0.5};
        nn::Flatten flat;
        nn::Linear fc{8, 3};
        Net()
        {
            register_module("conv", conv);
            register_module("norm", norm);
            register_module("pool", pool);
            register_module("dropout", dropout);
            register_module("flat", flat);
            register_module("fc", fc);
        }
        Tensor forward(Tensor x) override { return fc(dropout(flat(pool(norm(conv(x)))))); }
    } net;
    net.eval();
    const Dim batch = symbol("batch");
    const Program program = record([&](Tensor x) { return net(x); }, {spec({batch, 1, 4, 4})});
    for (const int size : {1, 3, 7}) {
        const Tensor x = randn({size, 1, 4, 4});
        EXPECT_EQ(program(x).to_vector<float>(), net(x).to_vector<float>()) << size;
    }
}

} // namespace
