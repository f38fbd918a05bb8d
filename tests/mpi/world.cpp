// Worlds of processes, each with the default device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/distributed/mpi.hpp>
#include <reprise/reprise.hpp>

#include "support/data_parallel.hpp"

namespace reprise {
namespace {

using namespace distributed;
using test::even, test::Result, test::Setting, test::train;

TEST(Mpi, TellsWhoIsThere)
{
    const World w = mpi_world();
    EXPECT_EQ(w, mpi_world());
    if (const char* ranks = std::getenv("REPRISE_TEST_RANKS")) EXPECT_EQ(std::to_string(w.size()), ranks);
    else EXPECT_GT(w.size(), 1);
    EXPECT_EQ(w.local_rank(), w.rank());
    EXPECT_THAT(w.description(), testing::AnyOf(testing::HasSubstr("Open MPI"), testing::HasSubstr("MPICH")));
    const Tensor ranks = all_gather(full({1}, static_cast<double>(w.rank())), w);
    for (int k = 0; k < w.size(); ++k) EXPECT_EQ(ranks.to_vector<float>()[static_cast<std::size_t>(k)], k);
    w.barrier();
}

TEST(Mpi, CarriesAnySize)
{
    const World w = mpi_world();
    const int n = w.size(), next = (w.rank() + 1) % n, before = (w.rank() + n - 1) % n;
    for (const std::int64_t size : {0, 1, 3, 1000, 1 << 18}) {
        const Tensor x = full({size}, w.rank() + 1.0);
        EXPECT_THAT(all_reduce(x, w).to_vector<float>(), testing::Each(n * (n + 1) / 2)) << size;
        EXPECT_THAT(send_receive(x, w, next, before).to_vector<float>(), testing::Each(before + 1));
    }
}

// 50 steps beside one process with the whole batch.
struct Training {
    const char* name;
    Setting setting;
    std::int64_t rows = 24; // of a batch
};
const Training trainings[] = {{"SGD", {}},
                              {"eager", {.recorded = false}},
                              {"small buckets", {.bucket_bytes = 64}},
                              {"accumulation", {.accumulate = 3}},
                              {"uneven rows", {}, 26},
                              {"a smaller last batch", {.ends_small = true}, 48},
                              {"dropout", {.dropout = 0.3}},
                              {"AdamW", {.adam = true}},
                              {"AdamW with accumulation", {.accumulate = 2, .adam = true}}};

void expect_as_one_process(const Training& training)
{
    SCOPED_TRACE(training.name);
    const World w = mpi_world();
    const Device d = default_device();
    Setting s = training.setting;
    s.steps = 50;
    const test::Begins begins = even(w.size(), training.rows);
    const Result one = train(World(), d, {0, training.rows}, s), all = train(w, d, begins, s),
                 again = train(w, d, begins, s);
    EXPECT_EQ(all.weights, again.weights) << "bits differ from run to run";
    const Tensor losses =
        all_reduce(from_vector(std::vector<float>(all.losses.begin(), all.losses.end())), w);
    for (std::size_t i = 0; i < one.losses.size(); ++i)
        EXPECT_NEAR(losses.to_vector<float>()[i], one.losses[i], 1e-6 * one.losses[i]) << "step " << i;
    EXPECT_LT(one.losses.back(), 0.9 * one.losses.front()) << "nothing was learned";
    const Tensor weights = all_gather(from_vector(all.weights).reshape({1, -1}), w);
    // Devices of different kinds round updates differently.
    const double tolerance = std::getenv("REPRISE_TEST_RANKS") ? 1e-5 : 0;
    for (int k = 0; k < w.size(); ++k)
        EXPECT_TRUE(allclose(weights[k], weights[0], tolerance, tolerance)) << "rank " << k;
    // With shards one rank updates each element: devices of different kinds have the same parameters.
    s.zero = true;
    const Result zero = train(w, d, begins, s);
    const Tensor of_zero = all_gather(from_vector(zero.weights).reshape({1, -1}), w);
    for (int k = 0; k < w.size(); ++k) EXPECT_TRUE(equal(of_zero[k], of_zero[0])) << "rank " << k;
    if (!std::getenv("REPRISE_TEST_RANKS")) {
        EXPECT_EQ(zero.weights, all.weights);
    }
}

TEST(Mpi, FollowsOneProcess)
{
    for (const Training& t : trainings) expect_as_one_process(t);
}

// In processes with emulated CUDA devices and an emulated NCCL.
TEST(NcclOfProcesses, FollowsOneProcess)
{
    const World w = mpi_world();
    use_nccl(w, default_device());
    EXPECT_THAT(w.description(), testing::HasSubstr(", NCCL 2.14.5"));
    for (const Training& t : trainings) expect_as_one_process(t);
}

// The last test, as nothing can be exchanged after it.
TEST(MpiZ, TellsWhoDiffers)
{
    World w = mpi_world();
    w.set_timeout(std::chrono::seconds(5));
    try {
        all_reduce(zeros({w.rank() == 0 ? 5 : 4}), w).to_vector<float>();
        FAIL() << "no error was thrown";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::distributed);
        EXPECT_THAT(e.what(), testing::HasSubstr(
                                  w.rank() == 0 ? "has begun the exchange (all_reduce sum f32 [4]"
                                                : "Rank (0) has begun the exchange (all_reduce sum f32 [5]"));
    }
}

} // namespace
} // namespace reprise
