// A training step, recorded once, replayed at any batch size: the bits of eager code, nothing recorded again.
#include <gtest/gtest.h>

#include <fstream>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <reprise/random.hpp>

#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using test::Bits;
using test::bits;
using test::Net;
using test::Training;

class Replay : public testing::TestWithParam<Net> {
protected:
    static constexpr std::int64_t sizes[] = {8, 3, 16, 1, 8, 33};

    static Bits eager_step(Training& t, std::int64_t size, std::uint64_t seed)
    {
        manual_seed(seed);
        const auto [x, target] = t.batch(size, seed);
        const Tensor loss = t.step(x, target);
        return bits(loss);
    }
    static Bits replayed_step(const Training& t, const Program& p, std::int64_t size, std::uint64_t seed)
    {
        manual_seed(seed);
        const auto [x, target] = t.batch(size, seed);
        return bits(p(x, target));
    }
};
INSTANTIATE_TEST_SUITE_P(Nets, Replay, testing::ValuesIn(test::all_nets),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(Replay, EqualsEagerBitForBit)
{
    Training eager(GetParam()), recorded(GetParam());
    const Program program = recorded.recorded(symbol("batch"));
    EXPECT_EQ(recorded.state(), Training(GetParam()).state()) << "recording changed the state";
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        EXPECT_EQ(replayed_step(recorded, program, sizes[i], i), eager_step(eager, sizes[i], i))
            << "loss of step " << i << " at batch " << sizes[i];
        EXPECT_EQ(recorded.state(), eager.state()) << "step " << i << " at batch " << sizes[i];
    }
}

TEST_P(Replay, AnEmptyBatch)
{
    Training eager(GetParam()), recorded(GetParam());
    const Program program = recorded.recorded(symbol("batch"));
    EXPECT_EQ(replayed_step(recorded, program, 0, 1), eager_step(eager, 0, 1));
    EXPECT_EQ(recorded.state(), eager.state());
    if (GetParam() == Net::normalised) return; // the statistics of nothing are NaN
    EXPECT_EQ(replayed_step(recorded, program, 4, 2), eager_step(eager, 4, 2));
    EXPECT_EQ(recorded.state(), eager.state());
}

TEST_P(Replay, RecordsNothingAgain)
{
    Training t(GetParam());
    const Program program = t.recorded(symbol("batch"));
    std::vector<std::pair<Tensor, Tensor>> batches;
    for (const std::int64_t size : sizes) batches.push_back(t.batch(size, 1));
    for (const auto& [x, target] : batches) x.eval(), target.eval();
    const Stats before = stats();
    for (const auto& [x, target] : batches) program(x, target);
    default_device().synchronize();
    const Stats after = stats();
    EXPECT_EQ(after.recordings, before.recordings);
    EXPECT_EQ(after.pipelines, before.pipelines);
    EXPECT_EQ(after.shader_modules, before.shader_modules);
    EXPECT_EQ(after.plans, before.plans);
    EXPECT_EQ(after.replays - before.replays, std::size(sizes));
}

// Twenty sizes, in an order that jumps, several times over.
TEST_P(Replay, ServesAnySizeInAnyOrder)
{
    Training eager(GetParam()), t(GetParam());
    const Program program = t.recorded(symbol("batch"));
    std::vector<std::int64_t> order;
    for (std::int64_t size = 2; size < 22; ++size) order.push_back(size); // one alone has no statistics
    test::Numbers numbers(7);
    std::vector<std::pair<Tensor, Tensor>> batches;
    for (int round = 0; round < 2; ++round)
        for (std::size_t left = order.size(); left > 0; --left) {
            std::swap(
                order[left - 1],
                order[static_cast<std::size_t>(numbers.integer(0, static_cast<std::int64_t>(left) - 1))]);
            batches.push_back(t.batch(order[left - 1], left));
            batches.back().first.eval();
            batches.back().second.eval();
        }
    manual_seed(3);
    const Stats before = stats();
    std::vector<Tensor> losses;
    for (const auto& [x, target] : batches) losses.push_back(program(x, target));
    default_device().synchronize();
    const Stats after = stats();
    EXPECT_EQ(after.recordings, before.recordings);
    EXPECT_EQ(after.pipelines, before.pipelines);
    EXPECT_EQ(after.shader_modules, before.shader_modules);
    EXPECT_EQ(after.plans, before.plans);
    EXPECT_EQ(after.replays - before.replays, batches.size());
    manual_seed(3);
    for (std::size_t i = 0; i < batches.size(); ++i)
        EXPECT_EQ(bits(losses[i]), bits(eager.step(batches[i].first, batches[i].second))) << "step " << i;
    EXPECT_EQ(t.state(), eager.state());
}

TEST_P(Replay, CallsInFlightEqualCallsOneByOne)
{
    constexpr std::uint64_t calls = 40; // more than may be in flight
    Training waiting(GetParam());
    const Program one = waiting.recorded(symbol("batch"));
    std::vector<Bits> want;
    manual_seed(1);
    for (std::uint64_t i = 0; i < calls; ++i) {
        const auto [x, target] = waiting.batch(sizes[i % std::size(sizes)], i);
        want.push_back(bits(one(x, target)));
    }
    for (const std::uint32_t slots : {1u, 3u, RecordOptions{}.slots}) {
        Training flying(GetParam());
        const Program program = flying.recorded(symbol("batch"), {.slots = slots});
        manual_seed(1);
        std::vector<Tensor> losses;
        for (std::uint64_t i = 0; i < calls; ++i) {
            const auto [x, target] = flying.batch(sizes[i % std::size(sizes)], i);
            losses.push_back(program(x, target));
        }
        std::vector<Bits> got;
        for (const Tensor& loss : losses) got.push_back(bits(loss));
        EXPECT_EQ(got, want) << slots;
        EXPECT_EQ(flying.state(), waiting.state()) << slots;
    }
}

TEST_P(Replay, OneSeedOneResult)
{
    const auto run = [&] {
        Training t(GetParam(), 3);
        const Program program = t.recorded(symbol("batch"));
        manual_seed(9);
        for (std::uint64_t i = 0; i < 4; ++i) {
            const auto [x, target] = t.batch(6, i);
            program(x, target);
        }
        return t.state();
    };
    EXPECT_EQ(run(), run());
}

TEST_P(Replay, EagerStepsAndCallsMayAlternate)
{
    Training mixed(GetParam()), eager(GetParam());
    const Program program = mixed.recorded(symbol("batch"));
    for (std::uint64_t i = 0; i < 4; ++i) {
        eager_step(eager, 5, i);
        if (i % 2) eager_step(mixed, 5, i);
        else replayed_step(mixed, program, 5, i);
    }
    EXPECT_EQ(mixed.state(), eager.state());
}

TEST_P(Replay, OutlivesWhatItWasMadeOf)
{
    Program program;
    std::vector<Variable> parameters;
    std::vector<Bits> want;
    {
        Training eager(GetParam()), t(GetParam());
        program = t.recorded(symbol("batch"));
        parameters = t.net.parameters();
        eager_step(eager, 4, 1);
        for (const Variable& p : eager.net.parameters()) want.push_back(bits(p));
    }
    replayed_step(Training(GetParam()), program, 4, 1);
    std::vector<Bits> got;
    for (const Variable& p : parameters) got.push_back(bits(p));
    EXPECT_EQ(got, want);
}

// Bytes resident in memory; 0 where the system does not tell.
std::size_t resident_bytes()
{
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * 4096;
}

TEST(Memory, IsEqualAfterStepHundredAndThousand)
{
#ifdef __GLIBC__
    // Big blocks that a driver frees go back to the system, whatever earlier tests freed: glibc's own threshold rises.
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
    reset_device(default_device().name());
    Training t(Net::mlp);
    const Program program = t.recorded(symbol("batch"));
    const Device device = default_device();
    std::uint64_t live = 0;
    std::vector<std::size_t> resident;
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        const auto [x, target] = t.batch(i % 2 ? 16 : 5, i % 7);
        program(x, target);
        if (i % 100) continue;
        device.synchronize();
        if (i == 100) live = device.live_bytes();
        if (i % 300 == 100) resident.push_back(resident_bytes());
        EXPECT_EQ(device.live_bytes(), live) << "step " << i;
    }
#ifndef __SANITIZE_ADDRESS__ // it keeps what is freed for a while
    // A leak grows from each of 100, 400, 700 and 1000 steps to the next; the pools of a driver grow now and then.
    std::size_t least = ~std::size_t{0};
    for (std::size_t i = 1; i < resident.size(); ++i)
        least = std::min(least, std::max(resident[i], resident[i - 1]) - resident[i - 1]);
    EXPECT_LT(least, 256u << 10);
    EXPECT_LT(resident.back(), resident.front() + (8 << 20));
#endif
}

TEST(Memory, IsEqualInEagerCodeToo)
{
    Training t(Net::mlp);
    const Device device = default_device();
    std::uint64_t live = 0;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        const auto [x, target] = t.batch(4, i % 7);
        static_cast<void>(t.step(x, target).item<float>());
        for (const Variable& p : t.net.parameters()) p.eval();
        if (i == 20) live = device.live_bytes();
        if (i <= 20) continue;
        EXPECT_EQ(device.live_bytes(), live) << "step " << i;
    }
}

} // namespace
} // namespace reprise
