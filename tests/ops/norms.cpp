// The norms beside batch_norm against PyTorch's numbers, and where the mean is far from 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;

TEST(GroupNorm, RefusesOneValueForEachGroup)
{
    const auto refused = [](const Shape& shape, std::int64_t groups) {
        const Caught found = error_of([&] { group_norm(ones(shape), groups); });
        EXPECT_EQ(found.kind, ErrorKind::shape);
        EXPECT_THAT(found.text, testing::HasSubstr("[group_norm] There is one value for each group"));
    };
    refused({1, 3}, 3);
    refused({1, 2, 1, 1}, 2);
    // PyTorch counts over all images.
    EXPECT_THAT(group_norm(ones({2, 3}), 3).to_vector<float>(), testing::Each(0));
    EXPECT_THAT(group_norm(ones({1, 3}), 1).to_vector<float>(), testing::Each(0));
    EXPECT_EQ(group_norm(ones({0, 3}), 3).shape(), (Shape{0, 3}));
    const Program program = record([](Tensor x) { return group_norm(x, 3); }, {spec({symbol("batch"), 3})});
    EXPECT_THAT(program(ones({2, 3})).to_vector<float>(), testing::Each(0));
    EXPECT_THAT(error_of([&] {
                    program(ones({1, 3}));
                }).text,
                testing::HasSubstr("one value for each group"));
}

void expect_near(const char* what, const Tensor& found, const Floats& want, double tolerance = 3e-5)
{
    const Floats values = found.to_vector<float>();
    ASSERT_EQ(values.size(), want.size()) << what;
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(values[i], want[i], tolerance * std::max(1.0f, std::abs(want[i]))) << what << " " << i;
}

struct Case {
    const char* name;
    Tensor (*norm)(const Tensor& x, const Tensor& weight, const Tensor& bias);
    Floats y, dx, dweight;
};
const std::vector<Case> cases{
    {"group",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return group_norm(x, 2, w, b); },
     {1.278762,    0.3450763, 0.8549307,   0.2857667,   0.1367962, -0.1000032, 1.453081,   0.3583339,
      1.357988,    -1.673586, -1.770994,   -0.06268627, 0.9097414, 0.9500927,  0.8383419,  0.3446568,
      -0.08592182, 0.1457623, -0.06251062, 0.8055237,   0.5539774, 0.4629406,  -0.5656551, -0.2091309},
     {0.4453442,   -0.5667578,  -0.4911245, 0.2366146, 0.270692,  0.1052315,  0.3996569, -0.6377908,
      -0.8393631,  0.2440725,   0.3708319,  0.4625926, 0.3658031, -0.6438807, 0.3425446, 0.007328058,
      0.003036507, -0.07483162, -0.3190969, 1.093567,  0.6375275, 0.5547201,  -1.085938, -0.8807802},
     {-0.1606031, -1.68727, 1.298969, -1.536397}},
    {"instance",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return instance_norm(x, {}, {}, w, b); },
     {1.118976,   -0.1325278,  0.5508761, 0.2047408, 0.02554222, -0.259307, 1.265764,  0.1146439,
      1.165775,   -1.386826,   -1.497318, 0.440452,  0.62675,    1.072428,  -0.161854, 0.2181859,
      -0.2494046, 0.002194696, 0.1422105, 1.381561,  1.022412,   0.36648,   -1.776474, -1.033699},
     {0.2321864,  0.1928879,   -0.4250743, -0.04104855, 0.06685851,  -0.02580996, 0.5990834, 0.05698821,
      -0.6560716, -0.07910915, 0.07460948, 0.004499675, 4.686494,    -3.020474,   -1.66602,  0.0311789,
      0.02675495, -0.05793386, 0.01199902, 0.02990989,  -0.04190891, 0.1702426,   0.3193978, -0.4896404},
     {0.4818918, -0.00392174, 1.398572, 0.7059008}},
    {"rms",
     [](const Tensor& x, const Tensor& w, const Tensor&) { return rms_norm(x, {3}, narrow(w, 0, 0, 3)); },
     {0.7055275,  0.1921027,  -0.154438,  -0.7572081, 0.1719129,  -0.01176826, -0.1998088, -0.3199082,
      0.1099495,  0.6067986,  -0.2409706, 0.02967162, 0.5166088,  -0.2009959,  -0.486818,  -0.3865113,
      -0.2922588, -0.1562314, 0.8580998,  0.01666109, -0.2208083, -0.7609984,  0.07897765, 0.4090383},
     {0.3474739, 0.66054,    0.623533,     0.1202701, -0.1961769,  0.06591376, -0.8364544,  -0.2179703,
      -0.181299, -0.3816618, 0.3785945,    0.4354852, -0.08104946, 0.1284097,  -0.05694358, 0.05139476,
      0.1664051, -0.7188588, -0.002702625, 0.3278696, 0.07810163,  0.2741532,  -0.167552,   -0.4308894},
     {0.3052092, -1.129206, -0.4604277, 0}},
};
class Norms : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, Norms, testing::ValuesIn(cases),
                         [](const auto& c) { return std::string(c.param.name); });

TEST_P(Norms, HasPyTorchsNumbers)
{
    const Tensor x = drawn({2, 4, 3}, 50).requires_grad_(), weight = drawn({4}, 51).requires_grad_(),
                 bias = drawn({4}, 52);
    const Tensor y = GetParam().norm(x, weight, bias);
    expect_near("y", y, GetParam().y);
    sum(y * drawn({2, 4, 3}, 70)).backward();
    expect_near("dx", x.grad(), GetParam().dx, 1e-4);
    expect_near("dweight", weight.grad(), GetParam().dweight, 1e-4);
}

// As in PyTorch: nothing comes of nothing, on every device.
TEST(InstanceNormOp, TakesNoChannelsAndNoImages)
{
    for (const Shape& shape : {Shape{2, 0, 4, 4}, Shape{0, 3, 4, 4}, Shape{2, 3, 0, 4}}) {
        Tensor x = zeros(shape).requires_grad_();
        const Tensor y = instance_norm(x);
        EXPECT_EQ(to_string(y.shape()), to_string(shape));
        EXPECT_EQ(y.to_vector<float>().size(), 0u);
        sum(y).backward();
        EXPECT_EQ(x.grad().to_vector<float>().size(), 0u);
    }
}

TEST(InstanceNormOp, KeepsAveragesOfTheBatch)
{
    Variable mean(zeros({4}), false), var(ones({4}), false);
    instance_norm(drawn({2, 4, 3}, 50), mean, var, {}, {}, {.momentum = 0.25}).eval();
    expect_near("mean", mean, {0.1233433, -0.04249397, 0.05524534, 0.02859503});
    expect_near("var", var, {0.7748143, 0.8176922, 0.8111461, 0.7969413});
}

// Mean 1e4 and variance 1: what is left of x has about three digits, and none more is lost.
TEST(NormsOp, VarianceSurvivesALargeMean)
{
    const auto expect_unit = [](const Tensor& y, const char* what) {
        double sum = 0, squares = 0;
        const Floats v = y.to_vector<float>();
        for (const float f : v) {
            sum += f;
            squares += double{f} * f;
        }
        const auto n = static_cast<double>(v.size());
        EXPECT_NEAR(sum / n, 0, 1e-3) << what;
        EXPECT_NEAR(squares / n, 1, 1e-3) << what;
    };
    const Tensor x = drawn({2, 6, 30, 40}, 5) * std::sqrt(3.0) + 1e4;
    expect_unit(layer_norm(x, {40}), "rows");
    expect_unit(layer_norm(x, {6, 30, 40}), "long rows");
    expect_unit(group_norm(x, 3), "groups");
    expect_unit(instance_norm(x), "instances");
    expect_unit(batch_norm(x, {}, {}, {}, {}, {.training = true}), "batch");
}

} // namespace
