// Processes with emulated CUDA devices and an emulated NCCL, which MPI connects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/distributed.hpp>
#include <reprise/distributed/mpi.hpp>
#include <reprise/reprise.hpp>

#include "support/data_parallel.hpp"

namespace reprise {
namespace {

using namespace distributed;
using test::even, test::Result, test::Setting, test::train;

TEST(NcclOfProcesses, FollowsOneProcess)
{
    const World w = mpi_world();
    const Device d = default_device();
    use_nccl(w, d);
    EXPECT_THAT(w.description(), testing::HasSubstr(", NCCL 2.14.5"));
    for (Setting s :
         {Setting{}, Setting{.bucket_bytes = 64, .dropout = 0.3}, Setting{.adam = true, .zero = true}}) {
        const std::int64_t rows = 26;
        const Result one = train(World(), d, {0, rows}, s), all = train(w, d, even(w.size(), rows), s);
        const Tensor losses =
            all_reduce(from_vector(std::vector<float>(all.losses.begin(), all.losses.end())), w);
        for (std::size_t i = 0; i < one.losses.size(); ++i)
            EXPECT_NEAR(losses.to_vector<float>()[i], one.losses[i], 1e-6 * one.losses[i]) << "step " << i;
        const Tensor weights = all_gather(from_vector(all.weights).reshape({1, -1}), w);
        for (int k = 0; k < w.size(); ++k) EXPECT_TRUE(equal(weights[k], weights[0])) << "rank " << k;
    }
}

} // namespace
} // namespace reprise
