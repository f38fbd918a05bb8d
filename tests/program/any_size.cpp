// What a recorded program promises: any size in any order, nothing made after record(), nothing that grows, and the
// kernels that eager code takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include <reprise/random.hpp>

#include "support/devices.hpp"
#include "support/spy_device.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using test::Bits;
using test::bits;
using test::Net;
using test::Training;

// 20 sizes, among them 0 where the net has a value then, and where that is quick such as sums are cut at.
std::vector<std::int64_t> sizes_for(Net net, unsigned order)
{
    std::vector<std::int64_t> sizes = {1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 21, 24, 31, 33};
    const std::vector<std::int64_t> more = net == Net::mlp   ? std::vector<std::int64_t>{0, 513, 1100}
                                           : net == Net::cnn ? std::vector<std::int64_t>{0, 32, 40}
                                                             : std::vector<std::int64_t>{6, 32, 40};
    sizes.insert(sizes.end(), more.begin(), more.end());
    std::shuffle(sizes.begin(), sizes.end(), std::mt19937(order));
    return sizes;
}

// In memory of its own: what shares memory with state makes the next call copy it.
nn::StateDict copied(nn::StateDict state)
{
    for (auto& [name, tensor] : state)
        tensor = from_bytes(bits(tensor), tensor.shape(), {.dtype = tensor.dtype()});
    return state;
}

// Two trainings in the same state, one eager and one recorded.
class Twins {
public:
    explicit Twins(Net net) : recorded(net), eager(net), program(recorded.recorded(symbol("batch"))) {}

    void make_equal()
    {
        eager.net.load_state_dict(copied(recorded.net.state_dict()));
        eager.optimizer->load_state_dict(copied(recorded.optimizer->state_dict()));
    }

    test::PlansOfTheirOwn independent;
    Training recorded, eager;
    Program program;
};

class AnySize : public testing::TestWithParam<Net> {};
INSTANTIATE_TEST_SUITE_P(Nets, AnySize, testing::ValuesIn(test::nets_with_residual),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(AnySize, TwentySizesInAnyOrderMakeNothingAndEqualEager)
{
    Twins twins(GetParam());
    std::uint64_t seed = 1;
    for (const unsigned order : {1u, 2u}) {
        for (const std::int64_t size : sizes_for(GetParam(), order)) {
            const auto [x, target] = twins.recorded.batch(size, ++seed);
            twins.make_equal();
            x.eval(), target.eval();
            manual_seed(seed);
            const Stats before = stats();
            const Tensor loss = twins.program(x, target);
            default_device().synchronize();
            const Stats after = stats();
            EXPECT_EQ(after.plans, before.plans) << size;
            EXPECT_EQ(after.recordings, before.recordings) << size;
            EXPECT_EQ(after.transfers, before.transfers) << size;
            EXPECT_EQ(after.pipelines, before.pipelines) << size;
            EXPECT_EQ(after.shader_modules, before.shader_modules) << size;
            EXPECT_EQ(after.shader_compilations, before.shader_compilations) << size;
            EXPECT_EQ(after.replays, before.replays + 1) << size;
            if (order == 2) { // it is known from order 1
                EXPECT_EQ(after.bytes_placed, before.bytes_placed) << size;
            }
            manual_seed(seed);
            EXPECT_EQ(bits(loss), bits(twins.eager.step(x, target))) << size;
            EXPECT_EQ(twins.recorded.state(), twins.eager.state()) << size;
        }
    }
}

// -- the families of kernels that eager code takes: all of a family accumulate in one order, which the sizes give --

struct Case {
    const char* device;
    Net net;
};

std::vector<Case> cases()
{
    std::vector<Case> out;
    for (const char* device : {"lavapipe", "swiftshader", "gpu"})
        for (const Net net : test::nets_with_residual) out.push_back({device, net});
    return out;
}

class Kernels : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Imitations, Kernels, testing::ValuesIn(cases()), [](const auto& test) {
    return std::string(test.param.device) + "_" + name_of(test.param.net);
});

// Of those that accumulate.  Within a family a program may run others: it has several recorded side by side, and
// shares out and joins sums where eager code knows that there is one part.
std::set<std::string> families(const test::Runs& runs)
{
    std::set<std::string> out;
    for (const auto& [run, count] : runs)
        for (const char* family :
             {"gemm", "sum", "amax", "log_softmax", "nll", "batch_norm", "col2im", "conv2d", "max_pool2d"})
            if (run.starts_with(family)) out.insert(family);
    return out;
}

TEST_P(Kernels, AreOfTheFamiliesOfEagerCodeAtEachSize)
{
    const auto spy =
        std::make_shared<test::SpyDevice>(device::make_null_device({.imitate = GetParam().device}));
    const Device device = test::open(spy);
    const test::UseDevice use(device);
    const test::PlansOfTheirOwn independent;
    Training recorded(GetParam().net), eager(GetParam().net);
    const Program program = recorded.recorded(symbol("batch"));
    std::vector<std::int64_t> sizes = sizes_for(GetParam().net, 1);
    sizes.insert(sizes.end(), {100, 129, 513});
    for (const std::int64_t size : sizes) {
        if (size == 0) continue; // nothing is accumulated
        const auto [x, target] = recorded.batch(size, 1);
        x.eval(), target.eval();
        spy->take();
        program(x, target);
        const auto of_program = families(spy->take());
        eager.step(x, target).eval();
        eager.state();
        const auto of_eager = families(spy->take());
        EXPECT_EQ(of_program, of_eager) << "batch " << size;
        EXPECT_GT(of_eager.size(), 3u);
    }
}

// -- nothing grows --

struct Held {
    std::uint64_t live = 0, objects = 0;
    std::size_t descriptors = 0, resident = 0; // files; bytes
};

Held held_now()
{
    const device::Counters c = test::inner(default_device()).counters();
    Held h{.live = c.live_bytes, .objects = c.objects};
#ifdef __linux__ // not on Windows: under wine a program sees the /proc of Linux, with the files of wine itself
    if (std::ifstream file("/proc/self/statm"); file) {
        std::size_t total = 0;
        file >> total >> h.resident;
        h.resident *= 4096;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
            ++h.descriptors;
    }
#endif
    return h;
}

TEST(Growth, TenThousandCallsAtRandomSizesHoldWhatOneThousandHold)
{
    constexpr int calls = 10000, check_every = 100;
    // Command buffers of calls that overlap: how many do on a GPU depends on its speed.
    const std::uint64_t in_flight =
        test::inner(default_device()).capabilities().kind == device::Kind::cpu ? 0 : 16;
    Twins twins(Net::mlp);
    test::Numbers random(1);
    const auto call = [&](int i) {
        const std::int64_t size = i == 1 ? 64 : random.integer(0, 64);
        const auto [x, target] = twins.recorded.batch(size, static_cast<std::uint64_t>(i % 13));
        if (i % check_every) {
            twins.program(x, target);
            return;
        }
        twins.make_equal();
        EXPECT_EQ(bits(twins.program(x, target)), bits(twins.eager.step(x, target))) << "call " << i;
        EXPECT_EQ(twins.recorded.state(), twins.eager.state()) << "call " << i;
    };
    for (std::int64_t size = 0; size <= 64; ++size) { // drivers compile eager code's kernels
        const auto [x, target] = twins.eager.batch(size, 1);
        bits(twins.eager.step(x, target));
        twins.eager.state();
    }
    Held first;
    for (int i = 1; i <= calls; ++i) {
        call(i);
        if (i % 1000) continue;
        default_device().synchronize();
        const Held now = held_now();
        if (i == 1000) first = now;
        EXPECT_EQ(now.live, first.live) << "call " << i;
        EXPECT_LE(now.objects, first.objects + in_flight) << "call " << i;
        EXPECT_LE(now.descriptors, first.descriptors) << "call " << i;
#ifndef __SANITIZE_ADDRESS__ // it keeps what is freed for a while
        EXPECT_LT(now.resident, first.resident + (4 << 20)) << "call " << i;
#endif
        ASSERT_FALSE(HasFailure());
    }
}

} // namespace
} // namespace reprise
