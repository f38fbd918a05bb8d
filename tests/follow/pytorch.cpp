// Training follows PyTorch: 20 steps on real images from the same weights, eager and recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/optim.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "follow/follow.hpp"
#include "support/devices.hpp"
#include "support/time_limit.hpp"

namespace reprise::follow {
namespace {

std::string text(const Difference& d)
{
    std::ostringstream out;
    out << d.from_f32 << " from f32, " << d.from_f64 << " from f64";
    return out.str();
}

struct Followed {
    std::vector<float> losses;
    Difference gradients;         // of step 1
    std::uint64_t recordings = 0; // made after step 1
};

Followed follow(const Fixture& fixture, const std::string& model, Model& net, optim::Optimizer& optimizer,
                std::size_t steps, bool recorded)
{
    const auto step = [&](const std::vector<Tensor>& in) {
        const Tensor loss = net.loss(in);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        return std::vector{loss};
    };
    manual_seed(draws);
    Program program;
    if (recorded) program = record_function(step, net.specs(symbol("batch")), {.keep_grads = true});
    std::vector<std::vector<Tensor>> batches;
    for (std::size_t s = 0; s < steps; ++s) batches.push_back(net.batch(fixture, s));
    for (const std::vector<Tensor>& batch : batches)
        for (const Tensor& t : batch) t.eval();

    Followed result;
    std::vector<Tensor> losses; // read at the end: calls overlap
    std::uint64_t before = 0;
    for (std::size_t s = 0; s < batches.size(); ++s) {
        losses.push_back((recorded ? program.call(batches[s]) : step(batches[s]))[0]);
        losses.back().eval();
        if (s > 0) continue;
        result.gradients = fixture.gradients(model, net);
        before = stats().recordings;
    }
    result.recordings = stats().recordings - before;
    for (const Tensor& loss : losses) result.losses.push_back(loss.item<float>());
    return result;
}

// The first eager steps meet all batch sizes, and moments that are new and that are not.  The reference device makes a
// few steps, SwiftShader a few of heavy models.
struct Steps {
    std::size_t eager = 20, reference = 3, swiftshader = 20;
    std::size_t on(const std::string& shader_class) const
    {
        return shader_class == "host" ? reference : shader_class == "swiftshader" ? swiftshader : 20;
    }
};

// `run`: the model's name, _, the optimizer's.
template <class Net, class Optimizer, class Options>
void expect_to_follow(const std::string& run, const Options& options, const Steps& wanted = {},
                      double adam_tolerance = 2e-3)
{
    const test::TimeLimit limit(std::chrono::seconds(600));
    const Fixture fixture;
    const std::string model = run.substr(0, run.find('_'));
    const double tolerance =
        run.ends_with("_sgd") ? std::max(2e-5, 8 * fixture.own_error(run)) : adam_tolerance;
    const std::size_t steps =
        std::min(fixture.steps(), wanted.on(test::inner(default_device()).capabilities().shader_class));
    std::vector<float> eager;
    for (const bool recorded : {false, true}) {
        const std::string mode = recorded ? "recorded" : "eager";
        SCOPED_TRACE(mode);
        Net net;
        Optimizer optimizer(net.parameters(), options);
        const Followed found = follow(fixture, model, net, optimizer,
                                      recorded ? steps : std::min(steps, wanted.eager), recorded);
        const Difference losses = fixture.losses(run, found.losses);
        EXPECT_LE(losses.worst(), tolerance);
        if (run.ends_with("_sgd")) { // any two devices within 1e-4 of each other
            EXPECT_LE(fixture.relative_error(run, found.losses), 5e-5);
        }
        EXPECT_LE(found.gradients.worst(), gradient_tolerance);
        testing::Test::RecordProperty(mode + "_losses", text(losses));
        testing::Test::RecordProperty(mode + "_gradients", text(found.gradients));
        if (recorded) {
            std::vector<float> same = found.losses; // bit for bit, at three batch sizes
            same.resize(eager.size());
            EXPECT_EQ(same, eager);
            EXPECT_EQ(found.recordings, 0u);
        }
        eager = found.losses;
    }
}

// PyTorch's own f32 losses stay within 5e-7 of its f64, its gradients within 1e-5 of the largest entry.  Adam divides
// by the gradient's size: its first steps turn the rounding of tiny gradients into whole steps.
using optim::Adam, optim::AdamW, optim::SGD;

SGD::Options momentum(double lr) { return {.lr = lr, .momentum = 0.9}; }

constexpr Steps wide = {.eager = 4, .swiftshader = 8}, deep = {.eager = 4},
                heavy = {.eager = 4, .reference = 1, .swiftshader = 4};

TEST(FollowsPyTorch, CnnWithMomentum) { expect_to_follow<Cnn, optim::SGD>("cnn_sgd", momentum(0.07), wide); }
TEST(FollowsPyTorch, MlpWithMomentum) { expect_to_follow<Mlp, optim::SGD>("mlp_sgd", momentum(0.05)); }
TEST(FollowsPyTorch, MlpWithAdam) { expect_to_follow<Mlp, optim::Adam>("mlp_adam", Adam::Options{}); }
TEST(FollowsPyTorch, ResNetWithMomentum)
{
    expect_to_follow<ResNet8, optim::SGD>("resnet_sgd", momentum(0.02));
}
TEST(FollowsPyTorch, ResNetWithAdam)
{
    expect_to_follow<ResNet8, optim::Adam>("resnet_adam", Adam::Options{});
}
TEST(FollowsPyTorch, GptWithMomentum) { expect_to_follow<Gpt, optim::SGD>("gpt_sgd", momentum(0.02), deep); }
TEST(FollowsPyTorch, GptWithAdamW)
{
    expect_to_follow<Gpt, optim::AdamW>("gpt_adamw", AdamW::Options{}, deep);
}
TEST(FollowsPyTorch, BertWithAdamW) // transformers' BertForSequenceClassification
{
    expect_to_follow<Bert, optim::AdamW>("bert_adamw", AdamW::Options{.lr = 5e-5}, deep, 1e-5);
}
TEST(FollowsPyTorch, LstmWithMomentum) { expect_to_follow<Lstm, optim::SGD>("lstm_sgd", momentum(0.1)); }
TEST(FollowsPyTorch, LstmWithAdam) { expect_to_follow<Lstm, optim::Adam>("lstm_adam", Adam::Options{}); }
TEST(FollowsPyTorch, VideoNetWithMomentum)
{
    expect_to_follow<VideoNet, optim::SGD>("video_sgd", momentum(0.1));
}
TEST(FollowsPyTorch, VideoNetWithAdam)
{
    expect_to_follow<VideoNet, optim::Adam>("video_adam", Adam::Options{});
}

TEST(FollowsPyTorch, DenoiserWithMomentum)
{
    expect_to_follow<Denoiser, optim::SGD>("denoiser_sgd", momentum(0.1), heavy);
}
TEST(FollowsPyTorch, DenoiserWithAdam)
{
    expect_to_follow<Denoiser, optim::Adam>("denoiser_adam", Adam::Options{}, heavy);
}
TEST(FollowsPyTorch, PlainDenoiserWithMomentum)
{
    expect_to_follow<PlainDenoiser, optim::SGD>("plain_sgd", momentum(0.1), wide);
}
TEST(FollowsPyTorch, PlainDenoiserWithAdam)
{
    expect_to_follow<PlainDenoiser, optim::Adam>("plain_adam", Adam::Options{}, wide);
}
TEST(FollowsPyTorch, TimedDenoiserWithMomentum)
{
    expect_to_follow<TimedDenoiser, optim::SGD>("timed_sgd", momentum(0.1));
}
TEST(FollowsPyTorch, TimedDenoiserWithAdam)
{
    expect_to_follow<TimedDenoiser, optim::Adam>("timed_adam", Adam::Options{});
}

} // namespace
} // namespace reprise::follow
