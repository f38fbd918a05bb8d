// Training with autocast(bf16) beside PyTorch's torch.autocast("cpu", bfloat16): 20 steps, eager and recorded; and with
// autocast(f16) and a GradScaler beside f32.
// PyTorch keeps softmax, norms and sums in bf16 there, and Reprise in f32, as PyTorch does on GPUs: so the two differ
// by the rounding of bf16.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <reprise/autocast.hpp>
#include <reprise/device.hpp>
#include <reprise/optim.hpp>
#include <reprise/program.hpp>

#include "follow/follow.hpp"
#include "support/devices.hpp"

namespace reprise::follow {
namespace {

optim::SGD::Options sgd_options(double lr) { return {.lr = lr, .momentum = 0.9}; }

std::string text(const Fixture::FromAutocast& d)
{
    std::ostringstream out;
    out << d.found << " from PyTorch's autocast, " << d.from_f32 << " from its f32, which are " << d.own
        << " apart";
    return out.str();
}

// Largest differences from PyTorch's autocast: of a loss, relative; of a gradient of the first step, as a part of the
// largest entry of its parameter's.  From f32 both differ by up to a third, as in 16 bits other elements win in a
// max_pool, and relu cuts others off.
struct Bounds {
    double losses, gradients = 0.03;
};

// `run`: the model's name, _, the optimizer's.
template <class Net, class Optimizer, class Options>
void expect_to_follow(const std::string& run, const Options& options, std::size_t eager_steps,
                      const Bounds& bounds)
{
    const std::string model = run.substr(0, run.find('_'));
    const Fixture fixture;
    const bool host = test::inner(default_device()).capabilities().shader_class == "host";
    std::vector<float> eager;
    for (const bool recorded : {false, true}) {
        SCOPED_TRACE(recorded ? "recorded" : "eager");
        Net net;
        Optimizer optimizer(net.parameters(), options);
        const auto step = [&](const std::vector<Tensor>& in) {
            Tensor loss;
            {
                const autocast guard(bf16);
                loss = net.loss(in);
            }
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return std::vector{loss};
        };
        Program program;
        if (recorded) program = record_function(step, net.specs(symbol("batch")), {.keep_grads = true});
        std::vector<float> losses;
        const std::size_t steps = host ? 2 : recorded ? fixture.steps() : eager_steps;
        for (std::size_t s = 0; s < steps; ++s) {
            const std::vector<Tensor> batch = net.batch(fixture, s);
            losses.push_back((recorded ? program.call(batch) : step(batch))[0].template item<float>());
            if (s > 0) continue;
            const Fixture::FromAutocast gradients = fixture.gradients_from_autocast(model, net);
            EXPECT_LE(gradients.found, bounds.gradients);
            EXPECT_GE(gradients.from_f32, 1e-4) << "computed in f32";
            testing::Test::RecordProperty(recorded ? "recorded_gradients" : "eager_gradients",
                                          text(gradients));
        }
        const Fixture::FromAutocast found = fixture.losses_from_autocast(run, losses);
        EXPECT_LE(found.found, bounds.losses);
        testing::Test::RecordProperty(recorded ? "recorded_losses" : "eager_losses", text(found));
        if (recorded) { // bit for bit
            losses.resize(eager.size());
            EXPECT_EQ(losses, eager);
        }
        eager = losses;
    }
}

TEST(FollowsPyTorch, CnnWithAutocast)
{
    expect_to_follow<Cnn, optim::SGD>("cnn_sgd", sgd_options(0.07), 3, {0.01});
}
TEST(FollowsPyTorch, ResNetWithAutocast)
{
    expect_to_follow<ResNet8, optim::SGD>("resnet_sgd", sgd_options(0.02), 4, {0.001, 0.1});
}
TEST(FollowsPyTorch, GptWithAutocast)
{
    expect_to_follow<Gpt, optim::SGD>("gpt_sgd", sgd_options(0.02), 4, {0.001});
}
TEST(FollowsPyTorch, BertWithAutocast)
{
    expect_to_follow<Bert, optim::AdamW>("bert_adamw", optim::AdamW::Options{.lr = 5e-5}, 4, {0.001});
}

// The mean loss of the last 20 of 200 recorded steps, in f32 or in f16 with a scaler, whose first scales overflow.
template <class Net> double loss_of_200_steps(bool scaled, double lr)
{
    const Fixture fixture;
    Net net;
    optim::SGD optimizer(net.parameters(), optim::SGD::Options{.lr = lr, .momentum = 0.9});
    GradScaler scaler({.init_scale = 0x1p30, .growth_interval = 50, .enabled = scaled});
    const auto step = [&](const std::vector<Tensor>& in) {
        Tensor loss;
        {
            const autocast guard(f16, scaled);
            loss = net.loss(in);
        }
        optimizer.zero_grad();
        scaler.scale(loss).backward();
        scaler.step(optimizer);
        scaler.update();
        return std::vector{loss};
    };
    const Program program = record_function(step, net.specs(symbol("batch")));
    // A skipped step has no effect: it is made up for, so that both see the same batches.
    double last = 0;
    double scale = scaler.get_scale();
    for (std::size_t made = 0; made < 200;) {
        const float loss = program.call(net.batch(fixture, made % fixture.steps()))[0].template item<float>();
        const double before = std::exchange(scale, scaler.get_scale());
        if (scaled && scale < before) continue;
        if (++made > 180) last += loss / 20;
    }
    return last;
}

template <class Net> void expect_loss_of_f32(double lr)
{
    const double want = loss_of_200_steps<Net>(false, lr), found = loss_of_200_steps<Net>(true, lr);
    EXPECT_NEAR(found, want, 0.01 * want);
    testing::Test::RecordProperty("losses",
                                  std::to_string(found) + " in f16, " + std::to_string(want) + " in f32");
}

TEST(GradScaler, CnnInF16TrainsAsInF32) { expect_loss_of_f32<Cnn>(0.003); }
TEST(GradScaler, GptInF16TrainsAsInF32) { expect_loss_of_f32<Gpt>(0.02); }

} // namespace
} // namespace reprise::follow
