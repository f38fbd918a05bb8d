// The lists of autocast: which functions compute in which dtype.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>

#include <reprise/autocast.hpp>
#include <reprise/autograd.hpp>
#include <reprise/autograd/checkpoint.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "ops/dtypes_of.hpp"
#include "ops/near.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"
#include "testing/use_device.hpp"

namespace reprise::test {
namespace {

using testing::HasSubstr;

// PyTorch's lists for CUDA (ATen/autocast_mode.h of torch 2.15), by the names of rows.  `composed`: functions that
// compute in f32 because a part of them does.
const std::map<std::string, std::vector<std::string>> lists = {
    {"low",
     {"convolution", "conv_transpose", "prelu", "einsum", "linear", "matmul", "quantized_matmul",
      "quantized_linear", "scaled_dot_product_attention", "scaled_dot_product_attention_with_scores"}},
    {"f32",
     {"softplus_by_beta",
      "layer_norm",
      "rms_norm",
      "group_norm",
      "cdist",
      "cosine_embedding_loss",
      "cosine_similarity",
      "huber_loss",
      "kl_div",
      "l1_loss",
      "logsumexp",
      "mse_loss",
      "nll_loss",
      "smooth_l1_loss",
      "bce_with_logits_loss",
      "bce_loss",
      "interpolate",
      "cumprod",
      "cumsum",
      "log_softmax",
      "norm",
      "norms",
      "norm_of_order_3",
      "linalg_norms",
      "prod",
      "softmax",
      "sum"}},
    {"widest", {"cross", "grid_sample", "scatter_add", "tensordot"}},
    {"composed",
     {"cross_entropy", "cross_entropy_options", "cross_entropy_probabilities", "lp_pool1d", "lp_pool2d",
      "normalize", "pairwise_distance", "trapezoid"}},
    // rows that call functions of several lists
    {"several",
     {"number_operands", "matrix_products", "many_dimensions", "without_dimensions", "products_with_zeros",
      "affine_grid", "images_of_any_size", "products_of_any_size"}},
};

std::string list_of(const std::string& name)
{
    for (const auto& [list, names] : lists)
        if (std::find(names.begin(), names.end(), name) != names.end()) return list;
    return "";
}

// The dtypes of the sample's results if its f32 arguments have dtype `in`.  Nothing is computed.
std::vector<DType> results(const OpInfo& row, Sample s, DType in)
{
    for (Argument& a : s.arguments)
        if (a.dtype == f32) a.dtype = in;
    const Data data = draw(row, s, checked_size(s));
    return dtypes_of(s.call(inputs(s, data, {Device("reference")})));
}

struct AutocastRow : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, AutocastRow, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const OpInfo& row : op_infos()) names.push_back(row.name);
                             return names;
                         }()),
                         [](const auto& test) { return test.param; });

// Arguments of bf16 within autocast(f16): f16 tells products, f32 the other lists, bf16 what autocast does not touch.
TEST_P(AutocastRow, ComputesInTheDtypeOfItsList)
{
    const OpInfo& row = op_info(GetParam());
    if (list_of(row.name) == "several") return;
    int checked = 0;
    for (const Sample& s : row.samples) {
        const std::string list = s.what == "area" ? "" : list_of(row.name); // area is an average pooling
        std::vector<DType> want;
        try {
            want = results(row, s, bf16);
        } catch (const Error&) {
            continue; // it takes no bf16
        }
        const std::vector<DType> of_f32 = results(row, s, f32);
        const autocast guard(f16);
        const std::vector<DType> got = results(row, s, bf16);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (want[i] == bf16 && of_f32[i] == f32) {
                ++checked;
                if (list == "low") want[i] = f16;
                if (list == "f32" || list == "widest" || list == "composed") want[i] = f32;
            }
            EXPECT_EQ(got[i], want[i])
                << s.what << ", output " << i << ": " << name_of(got[i]) << ", not " << name_of(want[i]);
        }
    }
    if (!list_of(row.name).empty()) {
        EXPECT_GT(checked, 0);
    }
}

// The forward pass is outside of autocast, and its gradients are computed within a guard: they have the same bits.
TEST_P(AutocastRow, DoesNotReachGradients)
{
    const OpInfo& row = op_info(GetParam());
    if (!row.differentiable) return; // there is nothing to compare
    const Setting reference{Device("reference")};
    const UseDevice use(reference.device); // for tensors that samples make
    for (Sample s : row.samples) {
        if (!s.differentiable) continue;
        s.call = [call = s.call](const std::vector<Tensor>& in) {
            const autocast off(bf16, false);
            return call(in);
        };
        const std::vector<Tensor> in = inputs(s, draw(row, s, checked_size(s)), reference);
        const std::vector<Tensor> seeds = cotangents(s.call(in), reference);
        const Outcome want = evaluate(s, in, seeds);
        const autocast guard(f16);
        const Outcome got = evaluate(s, in, seeds);
        ASSERT_EQ(dtypes_of(got.gradients), dtypes_of(want.gradients)) << s.what;
        for (std::size_t i = 0; i < got.gradients.size(); ++i)
            if (got.gradients[i].defined()) {
                EXPECT_EQ(bits(got.gradients[i]), bits(want.gradients[i])) << s.what << ", gradient " << i;
            }
    }
}

// A name that is no row would be tested by nothing.
TEST(Autocast, ListsHaveTheNamesOfRows)
{
    for (const auto& [list, names] : lists)
        for (const std::string& name : names) EXPECT_NO_THROW(op_info(name)) << list << ": " << name;
}

// Functions that have no row of their own.
TEST(Autocast, ComputesTheseFunctionsOfSeveralArgumentsInTheDtypeOfTheirList)
{
    const Device host("reference");
    const auto of = [&](const Shape& shape, DType t) { return ones(shape, {.dtype = t, .device = host}); };
    const auto results = [&](DType first, DType others) {
        const Tensor m = of({2, 2}, first), n = of({2, 2}, others), v = of({2}, first), w = of({2}, others),
                     b = of({1, 2, 2}, first), c = of({1, 2, 2}, others);
        namespace F = nn::functional;
        const auto image = [&](std::size_t rank) { return of(Shape(rank + 2, Dim(2)), first); };
        const auto kernel = [&](std::size_t rank) { return of(Shape(rank + 2, Dim(2)), others); };
        return std::pair(std::vector{mm(m, n), mv(m, w), bmm(b, c), addmm(m, n, n), baddbmm(b, c, c),
                                     conv1d(image(1), kernel(1)), conv2d(image(2), kernel(2)),
                                     conv3d(image(3), kernel(3)), conv_transpose1d(image(1), kernel(1)),
                                     conv_transpose2d(image(2), kernel(2)),
                                     conv_transpose3d(image(3), kernel(3))},
                         std::vector{dot(v, w), addcmul(m, n, n), addcdiv(m, n, n), F::bilinear(m, n, c, {}),
                                     F::bilinear(m, m, b, w)});
    };
    const autocast guard(f16);
    for (const auto& [first, others] : {std::pair(f32, f32), {bf16, bf16}, {bf16, f32}, {f16, f16}}) {
        const auto [low, widest] = results(first, others);
        for (const Tensor& y : low) EXPECT_EQ(y.dtype(), f16);
        for (const Tensor& y : widest) EXPECT_EQ(y.dtype(), first == f16 ? f16 : f32);
    }
}

TEST(Autocast, OfABilinearLayerTakesALinearOnesResult)
{
    nn::Linear first(3, 4);
    nn::Bilinear second(4, 4, 2);
    const Variable x(random_tensor({5, 3}, 1));
    {
        const autocast guard(bf16);
        const Tensor y = first(x);
        EXPECT_EQ(y.dtype(), bf16);
        const Tensor z = second(y, y);
        EXPECT_EQ(z.dtype(), f32);
        sum(z).backward();
    }
    EXPECT_EQ(x.grad().dtype(), f32);
}

// Rows of elementwise ops test the op without the function of its name.
TEST(Autocast, ComputesTheseElementwiseFunctionsInF32)
{
    const autocast guard(f16);
    const Tensor x = ones({2}, {.dtype = bf16, .device = Device("reference")});
    for (const Tensor& y :
         {exp(x), expm1(x), log(x), log1p(x), log2(x), log10(x), reciprocal(x), rsqrt(x), tan(x), asin(x),
          acos(x), sinh(x), cosh(x), softplus(x), pow(x, x), pow(x, 2), pow(2, x)})
        EXPECT_EQ(y.dtype(), f32);
    for (const Tensor& y : {sin(x), tanh(x), sigmoid(x), relu(x), gelu(x), silu(x), sqrt(x), x + x, x * 2,
                            atan2(x, x), square(x), exp2(x), logsigmoid(x), logaddexp(x, x)})
        EXPECT_EQ(y.dtype(), bf16);
}

} // namespace
} // namespace reprise::test
