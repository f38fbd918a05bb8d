// Worlds of processes, each with the default device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/distributed/mpi.hpp>
#include <reprise/reprise.hpp>

#include "support/data_parallel.hpp"

namespace reprise {
namespace {

using namespace distributed;
using test::even, test::Result, test::train;

TEST(Mpi, TellsWhoIsThere)
{
    const World w = mpi_world();
    EXPECT_EQ(w, mpi_world());
    EXPECT_EQ(w.size(), 2);
    EXPECT_EQ(w.local_rank(), w.rank());
    EXPECT_THAT(w.description(), testing::AnyOf(testing::HasSubstr("Open MPI"), testing::HasSubstr("MPICH")));
    const Tensor ranks = all_gather(full({1}, static_cast<double>(w.rank())), w);
    EXPECT_EQ(ranks.to_vector<float>(), (std::vector<float>{0, 1}));
    w.barrier();
}

TEST(Mpi, CarriesAnySize)
{
    const World w = mpi_world();
    for (const std::int64_t size : {0, 1, 3, 1000, 1 << 20}) {
        const Tensor y = all_reduce(full({size}, w.rank() + 1.0), w);
        EXPECT_THAT(y.to_vector<float>(), testing::Each(3)) << size;
        EXPECT_THAT(
            send_receive(full({size}, w.rank() + 1.0), w, 1 - w.rank(), 1 - w.rank()).to_vector<float>(),
            testing::Each(2 - w.rank()));
    }
}

TEST(Mpi, TrainsAsOneProcessDoes)
{
    const World w = mpi_world();
    const Device d = default_device();
    const Result one = train(World(), d, {0, 24}, {}), both = train(w, d, even(2, 24), {}),
                 again = train(w, d, even(2, 24), {});
    EXPECT_EQ(both.weights, again.weights);
    const Tensor losses =
        all_reduce(from_vector(std::vector<float>(both.losses.begin(), both.losses.end())), w);
    for (std::size_t i = 0; i < one.losses.size(); ++i)
        EXPECT_NEAR(losses.to_vector<float>()[i], one.losses[i], 2e-6 * one.losses[i]) << "step " << i;
}

// The last test, as nothing can be exchanged after it.
TEST(MpiZ, TellsWhoDiffers)
{
    World w = mpi_world();
    w.set_timeout(std::chrono::seconds(2));
    const auto from = std::chrono::steady_clock::now();
    try {
        all_reduce(zeros({w.rank() == 0 ? 5 : 4}), w).to_vector<float>();
        FAIL() << "no error was thrown";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::distributed);
        EXPECT_THAT(e.what(),
                    testing::HasSubstr(w.rank() == 0 ? "Rank (1) has begun" : "Rank (0) has begun"));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(10));
}

} // namespace
} // namespace reprise
