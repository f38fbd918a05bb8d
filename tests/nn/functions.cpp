// Modules of activations, losses and norms against PyTorch's numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::Each;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;
using Floats = std::vector<float>;

void expect(const char* what, nn::Module&& module, const Floats& want)
{
    const Tensor x = from_vector<float>({-4, -2.5, -0.5, 0, 0.3f, 2, 5, 7}, {8});
    EXPECT_THAT(module(x).to_vector<float>(), Pointwise(FloatNear(2e-5f), want)) << what;
}

TEST(Activations, HavePyTorchsValues)
{
    expect("ReLU6", nn::ReLU6(), {0, 0, 0, 0, 0.3, 2, 5, 6});
    expect("Sigmoid", nn::Sigmoid(),
           {0.01798621, 0.07585818, 0.3775407, 0.5, 0.5744425, 0.8807971, 0.9933071, 0.9990889});
    expect("LogSigmoid", nn::LogSigmoid(),
           {-4.01815, -2.57889, -0.974077, -0.6931472, -0.5543552, -0.126928, -0.006715348, -0.0009114665});
    expect("Tanh", nn::Tanh(),
           {-0.9993293, -0.9866143, -0.4621172, 0, 0.2913126, 0.9640276, 0.9999092, 0.9999983});
    expect("SELU", nn::SELU(),
           {-1.725899, -1.613786, -0.6917582, 0, 0.3152103, 2.101402, 5.253505, 7.354907});
    expect("SiLU", nn::SiLU(),
           {-0.07194484, -0.1896455, -0.1887703, 0, 0.1723328, 1.761594, 4.966536, 6.993623});
    expect("Mish", nn::Mish(),
           {-0.07259174, -0.1968162, -0.2207438, 0, 0.2080014, 1.943959, 4.999552, 6.999988});
    expect("Softsign", nn::Softsign(),
           {-0.8, -0.7142857, -0.3333333, 0, 0.2307692, 0.6666667, 0.8333333, 0.875});
    expect("Hardsigmoid", nn::Hardsigmoid(), {0, 0.08333333, 0.4166667, 0.5, 0.55, 0.8333333, 1, 1});
    expect("Hardswish", nn::Hardswish(), {-0, -0.2083333, -0.2083333, 0, 0.165, 1.666667, 5, 7});
    expect("LeakyReLU", nn::LeakyReLU(0.2), {-0.8, -0.5, -0.1, 0, 0.3, 2, 5, 7});
    expect("PReLU", nn::PReLU(), {-1, -0.625, -0.125, 0, 0.3, 2, 5, 7});
    expect("ELU", nn::ELU(0.5), {-0.4908422, -0.4589575, -0.1967347, 0, 0.3, 2, 5, 7});
    expect("CELU", nn::CELU(2), {-1.729329, -1.42699, -0.4423984, 0, 0.3, 2, 5, 7});
    expect("Softplus", nn::Softplus(2, 3),
           {0.0001677032, 0.003357674, 0.1566308, 0.3465736, 0.518744, 2, 5, 7});
    expect("Hardtanh", nn::Hardtanh(-2, 3), {-2, -2, -0.5, 0, 0.3, 2, 3, 3});
    expect("GLU", nn::GLU(), {-2.29777, -2.201993, -0.4966536, 0});
    expect("Softmax", nn::Softmax(0),
           {1.458841e-05, 6.538073e-05, 0.0004831019, 0.0007965004, 0.001075163, 0.005885386, 0.1182111,
            0.8734687});
    expect("LogSoftmax", nn::LogSoftmax(0),
           {-11.13528, -9.635283, -7.635283, -7.135283, -6.835283, -5.135283, -2.135283, -0.1352829});
    expect("Identity", nn::Identity(), {-4, -2.5, -0.5, 0, 0.3f, 2, 5, 7});
    EXPECT_EQ(nn::PReLU(3).parameters().size(), 1u);
    EXPECT_THAT(error_of([] { nn::PReLU(0); }).text, HasSubstr("(0)"));
    EXPECT_THAT(error_of([] { nn::Hardtanh(2, 1); }).text, HasSubstr("(2 and 1)"));
}

TEST(Losses, HavePyTorchsValues)
{
    const Tensor a = from_vector<float>({0.2f, 0.7f, 0.4f, 0.9f, 0.1f, 0.3f}, {2, 3});
    const Tensor b = from_vector<float>({1, 0, 0.5f, 0.25f, 1, 0}, {2, 3});
    const Tensor w = from_vector(Floats{0.5f, 2, 1}), c = from_vector(std::vector<std::int32_t>{2, 0}, {2});
    const auto expect = [](const char* what, const Tensor& loss, double want) {
        EXPECT_NEAR(loss.item<float>(), want, 1e-5) << what;
    };
    expect("mse", nn::MSELoss()(a, b), 0.4104166666666666);
    expect("l1", nn::L1Loss(Reduction::sum)(a, b), 3.45);
    expect("smooth l1", nn::SmoothL1Loss(Reduction::mean, 0.5)(a, b), 0.35833333333333334);
    expect("huber", nn::HuberLoss(Reduction::mean, 0.5)(a, b), 0.17916666666666667);
    expect("bce", nn::BCELoss(w)(a, b), 1.6274512244909687);
    expect("bce with logits", nn::BCEWithLogitsLoss(w, Reduction::mean, w)(a, b), 1.1646031287457275);
    expect("cross entropy", nn::CrossEntropyLoss({.weight = w, .label_smoothing = 0.1})(a, c),
           1.0809539946087532);
    expect("nll", nn::NLLLoss({.weight = w, .reduction = Reduction::sum})(a, c), -0.8500000000000001);
    expect("kl div", nn::KLDivLoss(Reduction::batchmean)(a, b), -0.7090735902799727);
    expect("cosine", nn::CosineEmbeddingLoss(0.2)(a, b, from_vector(Floats{1, -1})), 0.34990741093560684);
    EXPECT_EQ(nn::BCEWithLogitsLoss(w, Reduction::mean, w).state_dict().size(), 2u);
    EXPECT_THAT(error_of([] { nn::HuberLoss(Reduction::mean, 0); }).text, HasSubstr("delta (0)"));
}

TEST(BatchNorm1d, AveragesAllBatchesWithoutMomentum)
{
    const Tensor x = from_vector<float>({1, 5, 2, 7, 6, 3}, {3, 2});
    nn::BatchNorm1d norm(2, {.momentum = std::nullopt});
    norm(x);
    norm(x * 2.0 + 1.0);
    // means 3 and 5, variances 7 and 4; then 7 and 11, 28 and 16
    EXPECT_THAT(norm.running_mean.to_vector<float>(), Pointwise(FloatNear(1e-5f), Floats{5, 8}));
    EXPECT_THAT(norm.running_var.to_vector<float>(), Pointwise(FloatNear(1e-4f), Floats{17.5, 10}));
    EXPECT_EQ(norm.num_batches_tracked.item<std::int32_t>(), 2);
    EXPECT_EQ(norm(ones({4, 2, 3})).shape(), (Shape{4, 2, 3}));
    EXPECT_THAT(error_of([&] {
                    norm(ones({1, 2, 3, 4}));
                }).text,
                HasSubstr("(4) dimensions: give (2) or (3)"));
    EXPECT_THAT(error_of([] { nn::BatchNorm3d(2)(ones({2, 2})); }).text, HasSubstr("give (5)"));
}

TEST(BatchNorm3d, MayKeepNoStatistics)
{
    nn::BatchNorm3d norm(2, {.affine = false, .track_running_stats = false});
    EXPECT_TRUE(norm.state_dict().empty());
    norm.eval();
    const Tensor y = norm(randn({2, 2, 3, 4, 5}) * 4.0 + 3.0); // by the batch all the same
    EXPECT_THAT(mean(y, {0, 2, 3, 4}).to_vector<float>(), Each(FloatNear(0, 1e-5f)));
}

TEST(BatchNorm2d, CountsBatchesInAProgram)
{
    nn::BatchNorm2d norm(3), eager(3);
    const Dim batch = symbol("batch");
    const Program program = record([&](Tensor x) { return norm(x); }, {spec({batch, 3, 2, 2})});
    for (const int size : {2, 5}) {
        const Tensor x = randn({size, 3, 2, 2});
        EXPECT_EQ(program(x).to_vector<float>(), eager(x).to_vector<float>());
    }
    EXPECT_EQ(norm.num_batches_tracked.item<std::int32_t>(), 2);
    EXPECT_EQ(norm.running_var.to_vector<float>(), eager.running_var.to_vector<float>());
}

TEST(InstanceNorm2d, TakesOneImageAndMayKeepStatistics)
{
    nn::InstanceNorm2d plain(3), kept(3, {.affine = true, .track_running_stats = true});
    EXPECT_TRUE(plain.state_dict().empty());
    EXPECT_EQ(kept.state_dict().size(), 5u);
    const Tensor x = randn({4, 3, 5, 6});
    EXPECT_EQ(plain(x).to_vector<float>(), kept(x).to_vector<float>());
    EXPECT_EQ(plain(select(x, 0, 2)).to_vector<float>(), select(plain(x), 0, 2).to_vector<float>());
    kept.eval();
    EXPECT_NE(plain(x).to_vector<float>(), kept(x).to_vector<float>());
    EXPECT_THAT(error_of([] { nn::InstanceNorm1d(2)(ones({2, 2, 2, 2})); }).text, HasSubstr("give (3)"));
}

TEST(GroupNorm, NormalisesGroups)
{
    nn::GroupNorm norm(2, 4);
    EXPECT_EQ(norm.parameters().size(), 2u);
    const Tensor y = norm(randn({3, 4, 5, 5}) * 3.0 + 7.0);
    EXPECT_THAT(mean(reshape(y, {3, 2, 50}), {2}).to_vector<float>(), Each(FloatNear(0, 1e-5f)));
    EXPECT_THAT(error_of([] { nn::GroupNorm(3, 4); }).text, HasSubstr("(4) channels do not make (3) groups"));
}

TEST(RMSNorm, DividesByTheRootOfTheMeanSquare)
{
    nn::RMSNorm norm(4);
    norm.weight.assign(full({4}, 2));
    EXPECT_THAT(norm(from_vector<float>({1, -1, 7, 7}, {1, 4})).to_vector<float>(),
                Pointwise(FloatNear(1e-6f), Floats{0.4f, -0.4f, 2.8f, 2.8f}));
    EXPECT_TRUE(nn::RMSNorm({2, 2}, {.elementwise_affine = false}).parameters().empty());
    EXPECT_THAT(error_of([] { nn::RMSNorm(2, {.eps = -1}); }).text, HasSubstr("eps (-1)"));
}

} // namespace
