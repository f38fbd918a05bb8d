// Training follows PyTorch: 20 steps on real images from the same weights, eager and recorded.
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/optim.hpp>
#include <reprise/program.hpp>

#include "follow/follow.hpp"

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

Followed follow(const Fixture& fixture, const std::string& model, nn::Module& net,
                optim::Optimizer& optimizer, bool recorded)
{
    const auto step = [&](Tensor x, Tensor y) {
        const Tensor loss = cross_entropy(net(x), y);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        return loss;
    };
    Program program;
    if (recorded) {
        const Dim batch = symbol("batch");
        program = record(step, {spec({batch, 1, 28, 28}), spec({batch}, i32)}, {.keep_grads = true});
    }
    std::vector<std::pair<Tensor, Tensor>> batches;
    for (std::size_t s = 0; s < fixture.steps(); ++s) batches.push_back(fixture.batch(s));
    for (const auto& [x, y] : batches) {
        x.eval();
        y.eval();
    }

    Followed result;
    std::vector<Tensor> losses; // read at the end: calls overlap
    std::uint64_t before = 0;
    for (std::size_t s = 0; s < batches.size(); ++s) {
        const auto& [x, y] = batches[s];
        losses.push_back(recorded ? program(x, y) : step(x, y));
        losses.back().eval();
        if (s > 0) continue;
        result.gradients = fixture.gradients(model, net);
        before = stats().recordings;
    }
    result.recordings = stats().recordings - before;
    for (const Tensor& loss : losses) result.losses.push_back(loss.item<float>());
    return result;
}

template <class Net, class Optimizer, class Options>
void expect_to_follow(const std::string& model, const Options& options, double tolerance)
{
    const Fixture fixture;
    std::vector<float> eager;
    for (const bool recorded : {false, true}) {
        const std::string mode = recorded ? "recorded" : "eager";
        SCOPED_TRACE(mode);
        Net net;
        Optimizer optimizer(net.parameters(), options);
        const Followed found = follow(fixture, model, net, optimizer, recorded);
        const Difference losses = fixture.losses(model, found.losses);
        EXPECT_LE(losses.worst(), tolerance);
        EXPECT_LE(found.gradients.worst(), gradient_tolerance);
        testing::Test::RecordProperty(mode + "_losses", text(losses));
        testing::Test::RecordProperty(mode + "_gradients", text(found.gradients));
        if (recorded) {
            EXPECT_EQ(found.losses, eager); // bit for bit, at three batch sizes
            EXPECT_EQ(found.recordings, 0u);
        }
        eager = found.losses;
    }
}

// PyTorch's own f32 stays within 3e-7 of its f64, its gradients within 1e-6 of the largest entry.
TEST(FollowsPyTorch, CnnWithMomentum)
{
    expect_to_follow<Cnn, optim::SGD>("cnn", optim::SGDOptions{.lr = 0.07, .momentum = 0.9}, 2e-5);
}

TEST(FollowsPyTorch, MlpWithMomentum)
{
    expect_to_follow<Mlp, optim::SGD>("mlp_sgd", optim::SGDOptions{.lr = 0.05, .momentum = 0.9}, 2e-5);
}

// Adam divides by the gradient's size: its first steps turn the rounding of tiny gradients into whole steps.
TEST(FollowsPyTorch, MlpWithAdam)
{
    expect_to_follow<Mlp, optim::Adam>("mlp_adam", optim::AdamOptions{}, 2e-3);
}

TEST(FollowsPyTorch, GptWithAdamW)
{
    expect_to_follow<Gpt, optim::AdamW>("gpt_adamw", optim::AdamWOptions{}, 2e-3);
}

} // namespace
} // namespace reprise::follow
