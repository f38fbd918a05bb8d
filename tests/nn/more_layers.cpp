// Layers and losses against PyTorch's numbers: bags, padding modes, transformers and the losses of more models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;
using Floats = std::vector<float>;
namespace F = nn::functional;

void expect(const char* what, const Tensor& found, const Floats& want, float near = 2e-5f)
{
    EXPECT_THAT(found.to_vector<float>(), Pointwise(FloatNear(near), want)) << what;
}

// Parameter k is 0.5 sin(0.7 i + k) at its element i.
void fill_with_waves(const nn::Module& module)
{
    double k = 0;
    for (Variable parameter : module.parameters()) {
        std::vector<float> values(static_cast<std::size_t>(parameter.numel().value()));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(0.5 * std::sin(0.7 * static_cast<double>(i) + k));
        parameter.assign(from_vector(values, parameter.shape()));
        ++k;
    }
}

// sin(i), or cos(i), at element i.
Tensor wave(const Shape& shape, double (*f)(double))
{
    std::vector<float> values(static_cast<std::size_t>(ones(shape).numel().value()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(f(static_cast<double>(i)));
    return from_vector(values, shape);
}
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }

TEST(MoreLosses, HavePyTorchsValues)
{
    const Tensor x = tensor({{0.5f, -1.f, 2.f}, {1.5f, 0.25f, -0.5f}}),
                 t = tensor({{1.f, 0.f, 3.f}, {2.f, 1.f, 0.f}});
    expect("poisson", nn::PoissonNLLLoss({.reduction = kNone})(x, t),
           {1.148721f, 0.3678795f, 1.389056f, 1.481689f, 1.034025f, 0.6065307f});
    expect("full", nn::PoissonNLLLoss({.full = true, .reduction = kNone})(x, t),
           {1.148721f, 0.3678795f, 3.153138f, 2.133495f, 1.034025f, 0.6065307f});
    expect("rates", nn::PoissonNLLLoss({.log_input = false, .reduction = kNone})(abs(x), t),
           {1.193147f, 1, -0.07944155f, 0.6890697f, 1.636294f, 0.5f});
    expect("gaussian",
           nn::GaussianNLLLoss({.full = true, .reduction = kNone})(
               x, t, tensor({{0.5f, 1.f, 2.f}, {4.f, 1e-8f, 1.f}})),
           {0.8223649f, 1.418939f, 1.515512f, 1.643336f, 281244, 1.043939f}, 0.1f);
    expect("one variance for each row",
           nn::GaussianNLLLoss({.reduction = kNone})(zeros({1, 2}), ones({1, 2}), ones({1})), {0.5f, 0.5f});
    const Tensor y = tensor({0, 1});
    expect("margins", nn::MultiMarginLoss({.reduction = kNone})(x, y), {0.8333333f, 0.8333333f});
    expect("squares",
           nn::MultiMarginLoss(
               {.p = 2, .margin = 0.5, .weight = tensor({1.f, 2.f, 3.f}), .reduction = kNone})(x, y),
           {1.333333f, 2.041667f});
    EXPECT_THAT(error_of([&] { nn::MultiMarginLoss({.p = 3})(x, y); }).text, HasSubstr("(3)"));
    expect("labels",
           nn::MultiLabelSoftMarginLoss({.weight = tensor({1.f, 2.f, 3.f}), .reduction = kNone})(
               x, tensor({{1.f, 0.f, 1.f}, {0.f, 1.f, 0.f}})),
           {0.4937948f, 1.425174f});
    const Tensor a = tensor({{0.f, 0.f}, {1.f, 1.f}}), b = tensor({{1.f, 0.f}, {1.f, 3.f}}),
                 c = tensor({{1.5f, 0.f}, {3.f, 1.f}});
    expect("swap", nn::TripletMarginLoss({.swap = true, .reduction = kNone})(a, b, c), {1.5f, 1});
    expect("no swap", nn::TripletMarginLoss({.reduction = kNone})(a, b, c), {0.5f, 1});
    EXPECT_TRUE(gradcheck(
                    [&](const std::vector<Tensor>& in) {
                        return nn::PoissonNLLLoss({.full = true})(in[0], t.to(in[0]));
                    },
                    {Variable(x)})
                    .passed);
}

TEST(MoreLayers, AddAverageAndCompareTheRowsOfBags)
{
    const Tensor weight = reshape(arange(12, {.dtype = f32}) - 3, {6, 2});
    const Tensor indices = tensor({1, 2, 0, 5, 0}), offsets = tensor({0, 3, 3});
    const auto bag = [&](nn::EmbeddingBag::Options options) {
        nn::EmbeddingBag made(6, 2, options);
        made.weight.assign(weight);
        return made(indices, offsets);
    };
    expect("sum", bag({.mode = "sum"}), {-3, 0, 0, 0, 4, 6});
    expect("mean", bag({}), {-1, 0, 0, 0, 2, 3});
    expect("max", bag({.mode = "max"}), {1, 2, 0, 0, 7, 8});
    expect("sum without row 0", bag({.mode = "sum", .padding_idx = 0}), {0, 2, 0, 0, 7, 8});
    expect("mean without row 0", bag({.padding_idx = -6}), {0, 1, 0, 0, 7, 8});
    expect("max without row 0", bag({.mode = "max", .padding_idx = 0}), {1, 2, 0, 0, 7, 8});
    nn::EmbeddingBag sums(nn::EmbeddingBagOptions(6, 2).mode(kSum));
    sums.weight.assign(weight);
    expect("weights", sums(indices, offsets, tensor({1.f, 2.f, 3.f, 4.f, 5.f})), {-8, -2, 0, 0, 13, 22});
    sum(sums(indices, offsets)).backward();
    expect("gradient", sums.weight.grad(), {2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1});
    expect("long offsets", sums(indices, cast(offsets, i64)), {-3, 0, 0, 0, 4, 6});
    EXPECT_EQ(error_of([&] { sums(indices, ones({3})); }).kind, ErrorKind::dtype);
    const bool checked = checks_indices();
    set_check_indices(true);
    EXPECT_NO_THROW(sums(indices, offsets));
    EXPECT_THAT(error_of([&] { sums(indices, tensor({1, 2, 3})); }).text, HasSubstr("first offset (1)"));
    EXPECT_THAT(error_of([&] {
                    sums(indices, tensor({0, 3, 2}));
                }).text,
                HasSubstr("[EmbeddingBag] The offset (2) at element (2) is below the one before (3)"));
    set_check_indices(checked);
    nn::EmbeddingBag rows(6, 2);
    rows.weight.assign(weight);
    expect("rows", rows(tensor({{1, 2}, {0, 5}})), {0, 1, 2, 3});
    EXPECT_THAT(error_of([&] { rows(indices); }).text, HasSubstr("([5])"));
    EXPECT_THAT(error_of([&] { rows(indices, offsets, ones({5})); }).text, HasSubstr("(sum)"));

    const nn::Embedding frozen = nn::Embedding::from_pretrained(weight);
    EXPECT_FALSE(frozen.weight.requires_grad());
    EXPECT_TRUE(nn::Embedding::from_pretrained(weight, {.freeze = false}).weight.requires_grad());
    EXPECT_FALSE(nn::Embedding::from_pretrained(weight, nn::EmbeddingFromPretrainedOptions().freeze(true))
                     .weight.requires_grad());
    EXPECT_THAT(error_of([&] { nn::Embedding::from_pretrained(weight[0]); }).text, HasSubstr("([2])"));
}

TEST(MoreLayers, PadConvolutionsByTheirModes)
{
    const Tensor x = reshape(tensor({1.f, 2.f, 3.f, 5.f}), {1, 1, 4});
    const auto conv = [&](const char* mode) {
        nn::Conv1d made(1, 1, {.kernel_size = 3, .padding = 2, .bias = false, .padding_mode = mode});
        made.weight.assign(reshape(tensor({1.f, 2.f, 4.f}), {1, 1, 3}));
        return made(x);
    };
    expect("reflect", conv("reflect"), {11, 12, 17, 28, 25, 19});
    expect("replicate", conv("replicate"), {7, 11, 17, 28, 33, 35});
    expect("circular", conv("circular"), {17, 15, 17, 28, 17, 15});
    nn::Conv1d same(nn::Conv1dOptions(1, 1, 4).padding(kSame).padding_mode(kCircular).bias(false));
    same.weight.assign(reshape(tensor({1.f, 2.f, 4.f, 8.f}), {1, 1, 4}));
    expect("same", same(x), {39, 57, 36, 33});
    EXPECT_EQ(
        nn::Conv2d(1, 1, {.kernel_size = 3, .padding = {1, 2}, .padding_mode = kReflect})(ones({1, 1, 5, 6}))
            .shape(),
        (Shape{1, 1, 5, 8}));
    EXPECT_THAT(error_of([&] { conv("mirror"); }).text, HasSubstr("(mirror)"));
}

TEST(MoreLayers, MultiplyTwoInputsAndNormaliseOverChannels)
{
    nn::Bilinear two(2, 3, 2);
    two.weight.assign(reshape(arange(12, {.dtype = f32}), {2, 2, 3}));
    two.bias.assign(tensor({0.5f, -1.f}));
    expect("bilinear", two(tensor({{1.f, 2.f}}), tensor({{1.f, -1.f, 2.f}})), {21.5f, 56});
    nn::LocalResponseNorm norm({.size = 2, .alpha = 1, .beta = 0.5, .k = 2});
    expect("norm", norm(reshape(tensor({1.f, 2.f, 3.f}), {1, 3, 1})), {0.6324555f, 0.9428091f, 1.028991f});
}

TEST(MoreLayers, UnpoolWhatMaxPoolTook)
{
    nn::MaxPool2d pool(2);
    nn::MaxUnpool2d unpool(nn::MaxUnpool2dOptions(2).stride(2));
    const Tensor x = reshape(arange(16, {.dtype = f32}), {1, 1, 4, 4});
    auto [y, indices] = pool.forward_with_indices(x);
    expect("unpooled", unpool(y, indices), {0, 0, 0, 0, 0, 5, 0, 7, 0, 0, 0, 0, 0, 13, 0, 15});
    EXPECT_EQ(unpool(y, indices, {1, 1, 5, 4}).shape(), (Shape{1, 1, 5, 4}));
}

TEST(MoreLayers, TransformAsPyTorchDoes)
{
    const Tensor s = wave({3, 2, 4}, sine), g = wave({2, 2, 4}, cosine);
    const Tensor causal = nn::Transformer::generate_square_subsequent_mask(2);
    EXPECT_EQ(causal[1][0].item<float>(), 0);
    EXPECT_TRUE(std::isinf(causal[0][1].item<float>()));
    nn::TransformerDecoderLayer layer(
        nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(6).dropout(0).activation(kGELU));
    fill_with_waves(layer);
    expect("decoder layer", layer(g, s, causal),
           {-0.3761702f, -0.9325431f, 0.3926013f, -0.1544402f, -0.4784643f, -0.5612884f, 0.5349231f,
            -0.3121955f, -0.3097145f, -0.9162848f, 0.1725091f, -0.1738768f, -0.3986264f, -0.9240517f,
            0.4479989f, -0.1462314f});
    nn::TransformerDecoderLayer first(
        4, 2, {.dim_feedforward = 6, .dropout = 0, .activation = "gelu", .norm_first = true});
    fill_with_waves(first);
    expect("norms first", first(g, s, causal),
           {0.5517999f, 0.3945075f, -0.07663061f, -1.949343f, -1.304588f, 0.2650214f, 1.081114f, 0.1368142f,
            -0.5912301f, -1.003746f, -0.6206462f, -0.8314178f, 0.2125712f, 0.9008061f, 0.3834244f,
            -1.655576f});
    nn::Transformer both(nn::TransformerOptions(4, 2, 2, 1).dim_feedforward(6).dropout(0));
    EXPECT_EQ(both.parameters().size(), 46u);
    fill_with_waves(both);
    expect("transformer", both(s, g, {}, causal),
           {0.4105846f, 0.5617684f, 0.6191465f, 0.3931856f, 0.4111267f, 0.4850337f, 0.6862908f, 0.4086601f,
            0.4102877f, 0.6128556f, 0.6174495f, 0.3426288f, 0.4107393f, 0.5374162f, 0.6346972f, 0.4039115f});
    const nn::TransformerEncoderLayer copied(4, 2, {.dim_feedforward = 6, .dropout = 0});
    nn::TransformerEncoder encoder(copied, 2, nn::LayerNorm(4));
    EXPECT_EQ(encoder.state_dict().at("layers.1.linear1.weight").to_vector<float>(),
              copied.linear1.weight.to_vector<float>());
    fill_with_waves(encoder);
    expect("encoder", encoder(s, nn::Transformer::generate_square_subsequent_mask(3)),
           {0.5313134f,  0.20341f,   0.4236959f, 1.04296f,   0.04399657f, 0.5807196f, 0.547024f,  0.9561834f,
            0.2222507f,  0.4703795f, 0.4726298f, 1.133552f,  0.5000251f,  0.2313988f, 0.4217163f, 1.075636f,
            0.04643674f, 0.5778415f, 0.5415993f, 0.9696637f, 0.2908312f,  0.4209493f, 0.4552928f, 1.152907f});
    nn::TransformerEncoder by_options(
        nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(4, 2), 3));
    EXPECT_EQ(by_options.layers.size(), 3u);
    EXPECT_EQ(error_of([&] { nn::TransformerEncoder(copied, 0); }).kind, ErrorKind::argument);
}

TEST(MoreLayers, AttendWithMasksInPyTorchsOrder)
{
    const Tensor s = wave({3, 2, 4}, sine);
    nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(4, 2));
    fill_with_waves(attention);
    const Tensor padding = tensor({{0, 0, 1}, {0, 0, 0}}) > 0;
    const Tensor later = triu(ones({3, 3}, {.dtype = boolean}), 1);
    auto [out, weights] = attention(s, s, s, padding, true, later);
    expect("weights", weights,
           {1, 0, 0, 0.5235762f, 0.4764238f, 0, 0.4492176f, 0.5507824f, 0, 1, 0, 0, 0.7478477f, 0.2521524f, 0,
            0.1661896f, 0.3601515f, 0.4736589f});
    const auto named = attention(s, s, s, {.key_padding_mask = padding, .attn_mask = later});
    EXPECT_EQ(out.to_vector<float>(), std::get<0>(named).to_vector<float>());
    EXPECT_FALSE(std::get<1>(attention(s, s, s, {}, false)).defined());
    nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 6, .dropout = 0});
    EXPECT_EQ(layer(s, later, padding).to_vector<float>(),
              layer(s, {.key_padding_mask = padding, .attn_mask = later}).to_vector<float>());
    EXPECT_EQ(layer(s, later).to_vector<float>(), layer(s, {.attn_mask = later}).to_vector<float>());
}

TEST(MoreInitialValues, KeepInputsAndAreSparse)
{
    const Tensor w = nn::init::dirac_(empty({4, 2, 3, 3}), 2), x = wave({1, 4, 5, 5}, sine);
    EXPECT_EQ(conv2d(x, w, {}, {.padding = 1, .groups = 2}).to_vector<float>(), x.to_vector<float>());
    const Tensor s = nn::init::sparse_(ones({10, 4}), 0.25);
    EXPECT_EQ(sum(cast(s == 0, f32), {0}).to_vector<float>(), Floats(4, 3));
    EXPECT_EQ(error_of([] { nn::init::sparse_(ones({2}), 0.5); }).kind, ErrorKind::shape);
    EXPECT_THAT(error_of([] { nn::init::dirac_(ones({3, 2, 3}), 2); }).text, HasSubstr("(2)"));
}

} // namespace
