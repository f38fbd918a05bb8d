// batch_norm against plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::HasSubstr;

struct Statistics {
    std::vector<double> mean, variance; // by channel, biased
    double count = 0;
};

Statistics statistics_of(const Tensor& x)
{
    Statistics s;
    std::vector<std::int64_t> others{0};
    for (std::int64_t d = 2; d < x.dim(); ++d) others.push_back(d);
    for (const Floats& g : groups_of(x.to_vector<float>(), sizes_of(x), others)) {
        s.count = static_cast<double>(g.size());
        double mean = 0, square = 0;
        for (const float v : g) mean += v / s.count;
        for (const float v : g) square += (v - mean) * (v - mean) / s.count;
        s.mean.push_back(mean);
        s.variance.push_back(square);
    }
    return s;
}

// weight * (x - mean) / sqrt(variance + eps) + bias
void expect_normalised(const Tensor& y, const Tensor& x, const std::vector<double>& mean,
                       const std::vector<double>& variance, const Floats& weight, const Floats& bias)
{
    const Floats found = y.to_vector<float>(), from = x.to_vector<float>();
    const auto channels = static_cast<std::size_t>(x.size(1).value());
    const std::size_t inner = from.size() / channels / static_cast<std::size_t>(x.size(0).value());
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::size_t c = i / inner % channels;
        const double want = weight[c] * (from[i] - mean[c]) / std::sqrt(variance[c] + 1e-5) + bias[c];
        EXPECT_NEAR(found[i], want, 1e-5) << i;
    }
}

class BatchNorm : public testing::TestWithParam<Sizes> {};
INSTANTIATE_TEST_SUITE_P(Shapes, BatchNorm,
                         testing::Values(Sizes{8, 3, 6, 4}, Sizes{5, 2, 7, 7}, Sizes{16, 4}, Sizes{3, 2, 9},
                                         Sizes{2, 2, 4, 2}));

TEST_P(BatchNorm, NormalisesByTheBatchAndKeepsStatistics)
{
    const Tensor x = drawn(GetParam(), 1) * 3.0 + 2.0;
    const std::int64_t channels = GetParam()[1];
    const Tensor weight = drawn({channels}, 2), bias = drawn({channels}, 3);
    Variable mean(zeros({channels}), false), var(ones({channels}), false);
    const Statistics s = statistics_of(x);
    for (int step = 1; step <= 2; ++step) {
        const Tensor y = batch_norm(x, mean, var, weight, bias, {.training = true, .momentum = 0.25});
        expect_normalised(y, x, s.mean, s.variance, weight.to_vector<float>(), bias.to_vector<float>());
        const Floats running_mean = mean.to_vector<float>(), running_var = var.to_vector<float>();
        const double kept = std::pow(0.75, step);
        for (std::size_t c = 0; c < s.mean.size(); ++c) {
            EXPECT_NEAR(running_mean[c], (1 - kept) * s.mean[c], 1e-5);
            EXPECT_NEAR(running_var[c], kept + (1 - kept) * s.variance[c] * s.count / (s.count - 1), 1e-5);
        }
    }
}

TEST_P(BatchNorm, UsesTheRunningStatisticsInEvaluation)
{
    const Tensor x = drawn(GetParam(), 1);
    const std::int64_t channels = GetParam()[1];
    const Tensor weight = drawn({channels}, 2), bias = drawn({channels}, 3);
    Variable mean(drawn({channels}, 4), false), var(square(drawn({channels}, 5)) + 0.5, false);
    const Floats m = mean.to_vector<float>(), v = var.to_vector<float>();
    const Tensor y = batch_norm(x, mean, var, weight, bias, {.training = false});
    expect_normalised(y, x, {m.begin(), m.end()}, {v.begin(), v.end()}, weight.to_vector<float>(),
                      bias.to_vector<float>());
    EXPECT_EQ(mean.to_vector<float>(), m);
}

TEST_P(BatchNorm, HasGradients)
{
    const std::int64_t channels = GetParam()[1];
    for (const bool training : {true, false}) {
        const auto f = [&](const std::vector<Tensor>& in) {
            const Variable mean(zeros_like(in[1]), false), var(ones_like(in[1]), false);
            return batch_norm(in[0], mean, var, in[1], in[2], {.training = training});
        };
        const auto check = gradient_check(f, {GetParam(), {channels}, {channels}});
        EXPECT_TRUE(check.passed) << check.message;
    }
    const auto second = gradient_check(
        gradient_of([](const Tensor& x) { return batch_norm(x, {}, {}, {}, {}, {.training = true}); }),
        {GetParam()});
    EXPECT_TRUE(second.passed) << second.message;
}

TEST(BatchNormOp, UpdatesStatisticsOfAProgram)
{
    const Dim batch = symbol("batch");
    Variable mean(zeros({3}), false), var(ones({3}), false), eager_mean(zeros({3}), false),
        eager_var(ones({3}), false);
    const Program program =
        record([&](Tensor x) { return batch_norm(x, mean, var, {}, {}, {.training = true}); },
               {spec({batch, 3, 4, 4})});
    for (const std::int64_t n : {4, 9, 1}) {
        const Tensor x = drawn({n, 3, 4, 4}, static_cast<std::uint32_t>(n));
        EXPECT_EQ(program(x).to_vector<float>(),
                  batch_norm(x, eager_mean, eager_var, {}, {}, {.training = true}).to_vector<float>());
        EXPECT_EQ(mean.to_vector<float>(), eager_mean.to_vector<float>());
        EXPECT_EQ(var.to_vector<float>(), eager_var.to_vector<float>());
    }
}

// A mean far from 0 does not cost the variance its digits.
// Around the blocks of 2,048 elements that 64 lanes take on GPUs, and more of them than there are partials.
TEST(BatchNormOp, OfManyElements)
{
    for (const Sizes& sizes :
         std::vector<Sizes>{{1, 2, 2047}, {2, 2, 1024}, {1, 2, 2049}, {25, 3, 16, 15}, {1, 1, 530000}}) {
        const Shape shape(sizes.begin(), sizes.end());
        const std::int64_t channels = sizes[1];
        const Variable x(drawn(sizes, 1) * 3.0 + 2.0), weight(drawn({channels}, 2)),
            bias(drawn({channels}, 3));
        const Tensor dy = drawn(sizes, 4), y = batch_norm(x, {}, {}, weight, bias, {.training = true});
        const std::vector<Tensor> d = grad({y}, {x, weight, bias}, {.cotangents = {dy}});
        // by other ops
        Dims dims{0};
        for (std::size_t i = 2; i < sizes.size(); ++i) dims.push_back(static_cast<std::int64_t>(i));
        const Variable x2(x.detach()), weight2(weight.detach()), bias2(bias.detach());
        Shape by_channel(sizes.size(), Dim(1));
        by_channel[1] = channels;
        const Tensor shifted = x2 - mean(x2, dims, true);
        const Tensor y2 =
            shifted * rsqrt(mean(square(shifted), dims, true) + 1e-5) * reshape(weight2, by_channel) +
            reshape(bias2, by_channel);
        const std::vector<Tensor> d2 = grad({y2}, {x2, weight2, bias2}, {.cotangents = {dy}});
        const auto expect_equal = [&](const Tensor& got, const Tensor& want, double tolerance) {
            const Floats g = got.to_vector<float>(), w = want.to_vector<float>();
            ASSERT_EQ(g.size(), w.size());
            for (std::size_t i = 0; i < g.size(); ++i)
                ASSERT_NEAR(g[i], w[i], tolerance) << to_string(shape) << " at " << i;
        };
        expect_equal(y, y2, 1e-4);
        for (std::size_t i = 0; i < 3; ++i)
            expect_equal(d[i], d2[i], i == 0 ? 1e-4 : 1e-5 * x.numel().value());
    }
}

TEST(BatchNormOp, VarianceSurvivesALargeMean)
{
    for (const Sizes& sizes : {Sizes{4, 2, 8, 8}, Sizes{4, 2, 7, 5}, Sizes{9000, 2}, Sizes{2, 2, 300, 64}}) {
        const Tensor x = drawn(sizes) + 4096.0;
        Variable mean(zeros({2}), false), var(zeros({2}), false);
        batch_norm(x, mean, var, {}, {}, {.training = true, .momentum = 1}).eval();
        const Statistics s = statistics_of(x);
        for (std::size_t c = 0; c < 2; ++c) {
            EXPECT_NEAR(mean.to_vector<float>()[c], s.mean[c], 1e-3);
            EXPECT_NEAR(var.to_vector<float>()[c] / (s.variance[c] * s.count / (s.count - 1)), 1, 1e-4);
        }
    }
}

TEST(BatchNormOp, AnEmptyBatchChangesNoStatistics)
{
    const Variable mean(full({3}, 0.5), false), var(full({3}, 2), false);
    const Tensor y = batch_norm(zeros({0, 3, 4}), mean, var, {}, {}, {.training = true});
    EXPECT_EQ(y.to_vector<float>(), Floats());
    EXPECT_EQ(mean.to_vector<float>(), Floats(3, 0.5f));
    EXPECT_EQ(var.to_vector<float>(), Floats(3, 2.0f));
}

TEST(BatchNormOp, AProgramRefusesOneValueForEachChannel)
{
    const Dim batch = symbol("batch");
    const Program program = record([](Tensor x) { return batch_norm(x, {}, {}, {}, {}, {.training = true}); },
                                   {spec({batch, 3})});
    const Caught one = error_of([&] { return program(zeros({1, 3})); });
    EXPECT_EQ(one.kind, ErrorKind::shape);
    EXPECT_THAT(one.text, HasSubstr("one value for each channel"));
    for (const std::int64_t n : {2, 0, 5})
        EXPECT_EQ(program(drawn({n, 3})).to_vector<float>(),
                  batch_norm(drawn({n, 3}), {}, {}, {}, {}, {.training = true}).to_vector<float>());
}

TEST(BatchNormOp, RefusesWrongInputs)
{
    const Tensor x = zeros({4, 3, 2, 2});
    const Caught channels =
        error_of([&] { return batch_norm(x, zeros({3}), ones({3}), ones({4}), {}, {.training = true}); });
    EXPECT_EQ(channels.kind, ErrorKind::shape);
    EXPECT_THAT(channels.text, HasSubstr("[batch_norm] The weight has the shape ([4]) for (3) channels"));
    const Caught single = error_of([] {
        return batch_norm(zeros({1, 3}), zeros({3}), ones({3}), {}, {}, {.training = true});
    });
    EXPECT_EQ(single.kind, ErrorKind::shape);
    EXPECT_THAT(single.text, HasSubstr("one value for each channel"));
    EXPECT_EQ(error_of([] { return batch_norm(zeros({3}), {}, {}, {}, {}, {.training = true}); }).kind,
              ErrorKind::shape);
}

} // namespace
