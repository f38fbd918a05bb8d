// Threads of an emulated block that wait for each other.
#include "fibers.hpp"
#include <gmock/gmock.h>
#include <numeric>
#include <vector>

#include "common/block.cuh"

namespace {

using cuda_emulation::run_block;
using testing::Each;

class Fibers : public testing::TestWithParam<bool> {}; // backwards

TEST_P(Fibers, MeetAtBarriers)
{
    constexpr unsigned threads = 96, rounds = 5;
    std::vector<unsigned> count(rounds);
    std::vector<unsigned> seen;
    ASSERT_TRUE(run_block(threads, GetParam(), [&] {
        for (unsigned& c : count) {
            ++c;
            rp::barrier();
            seen.push_back(c);
        }
    }));
    EXPECT_EQ(seen.size(), threads * rounds);
    EXPECT_THAT(seen, Each(threads));
}

TEST_P(Fibers, KeepTheirPlaceAndTheirLocals)
{
    std::vector<unsigned> sums(64);
    ASSERT_TRUE(run_block(64, GetParam(), [&] {
        unsigned sum = 0;
        for (unsigned i = 0; i < 3; ++i) {
            sum += threadIdx.x;
            rp::barrier();
        }
        sums[threadIdx.x] = sum;
    }));
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(sums[i], 3 * i);
}

TEST_P(Fibers, ExchangeWithinTheirWarp)
{
    std::vector<unsigned> turned(64);
    std::vector<double> sums(64);
    ASSERT_TRUE(run_block(64, GetParam(), [&] {
        const unsigned t = threadIdx.x;
        turned[t] = rp::shuffle(t, (t + 1) % 32);
        double sum = 1.0 + t;
        for (unsigned apart = 16; apart > 0; apart /= 2) sum += rp::shuffle_xor(sum, apart);
        sums[t] = sum;
    }));
    for (unsigned t = 0; t < 64; ++t) {
        EXPECT_EQ(turned[t], t / 32 * 32 + (t + 1) % 32);
        EXPECT_EQ(sums[t], t < 32 ? 32 * 33 / 2 : 32 * 32 + 32 * 33 / 2);
    }
}

TEST_P(Fibers, ReduceInSharedMemory)
{
    std::vector<float> sums(128);
    ASSERT_TRUE(run_block(128, GetParam(), [&] {
        RP_SHARED(float, room, 128);
        const unsigned t = threadIdx.x;
        room[t] = static_cast<float>(t);
        rp::barrier();
        for (unsigned apart = 64; apart > 0; apart /= 2) {
            if (t < apart) room[t] += room[t + apart];
            rp::barrier();
        }
        sums[t] = room[0];
    }));
    EXPECT_THAT(sums, Each(127 * 64.0F));
}

TEST_P(Fibers, SayThatTheyCannotGoOn)
{
    EXPECT_FALSE(run_block(64, GetParam(), [] {
        if (threadIdx.x != 5) rp::barrier(); // which one thread never reaches
    }));
    EXPECT_FALSE(run_block(64, GetParam(), [] {
        if (threadIdx.x < 20) rp::shuffle(1, 0);
    }));
    EXPECT_FALSE(run_block(64, GetParam(), [] {
        if (threadIdx.x % 2) rp::barrier();
        else rp::shuffle(1, 0);
    }));
    unsigned ran = 0;
    EXPECT_TRUE(run_block(32, GetParam(), [&] { ++ran; })) << "after blocks that were given up";
    EXPECT_EQ(ran, 32u);
}

INSTANTIATE_TEST_SUITE_P(BothWays, Fibers, testing::Bool(),
                         [](const auto& p) { return p.param ? "Backwards" : "Forwards"; });

} // namespace
