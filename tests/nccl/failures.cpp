// What ranks are told if NCCL can't be used or fails, or if a rank differs, is late or gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "device/cuda_fixture.hpp"
#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using namespace distributed;
using namespace std::chrono_literals;
using test::even, test::on_ranks, test::train;
using testing::AllOf, testing::AnyOf, testing::HasSubstr;

struct Told {
    std::string text; // empty: no error
    ErrorKind kind{};
};
Told told_by(const std::function<void()>& f)
{
    try {
        f();
    } catch (const Error& e) {
        return {e.what(), e.kind()};
    }
    return {};
}

using OnRank = std::function<void(World&, const Device&)>;

class NcclFailures : public testing::Test {
protected:
    NcclFailures() { device::revive(); }
    ~NcclFailures() override { device::revive(); }

    // Runs f on two ranks, and returns what each was told.
    static std::map<int, Told> told_to_ranks(const OnRank& f)
    {
        std::map<int, Told> told;
        std::mutex mutex;
        on_ranks(2, [&](const World& given, const Device& d) {
            World w = given;
            w.set_timeout(400ms);
            const DeviceGuard guard(d);
            const Told own = told_by([&] { f(w, d); });
            w.leave();
            const std::lock_guard lock(mutex);
            told[w.rank()] = own;
        });
        return told;
    }
    static void fail(const char* function, int n = 1) { device::fail(function, CUDA_ERROR_UNKNOWN, n); }
};

TEST_F(NcclFailures, AWorldThatIsInUse)
{
    for (const auto& [rank, told] : told_to_ranks([](World&w, const Device&d) {
             all_reduce(zeros({1}), w).item<float>();
             use_nccl(w, d);
         })) {
        EXPECT_EQ(told.kind, ErrorKind::state);
        EXPECT_THAT(told.text, HasSubstr("call it before the first collective"));
    }
    for (const auto& [rank, told] : told_to_ranks([](World&w, const Device&d) {
             use_nccl(w, d);
             use_nccl(w, d);
         }))
        EXPECT_THAT(told.text, HasSubstr("The world uses NCCL already"));
}

TEST_F(NcclFailures, AnotherDevice)
{
    for (const auto& [rank, told] : told_to_ranks([](World&w, const Device&d) {
             const Device own = w.rank() == 0 ? Device("reference") : d;
             try {
                 use_nccl(w, own);
             } catch (const Error&) { // the world goes on through the host
                 EXPECT_EQ(all_reduce(ones({1}, {.device = own}), w).item<float>(), 2.0f);
                 throw;
             }
         })) {
        EXPECT_EQ(told.kind, ErrorKind::unsupported);
        EXPECT_THAT(told.text, HasSubstr("Rank (0): [use_nccl] The device (reference) is no CUDA device"));
    }
}

TEST_F(NcclFailures, OneRankDoesNotConnect)
{
    for (const auto& [rank, told] : told_to_ranks([](World&w, const Device&d) {
             if (w.rank() == 0) fail("ncclCommInitRankConfig");
             w.barrier();
             use_nccl(w, d);
         })) {
        EXPECT_EQ(told.kind, ErrorKind::distributed);
        EXPECT_THAT(told.text,
                    AllOf(HasSubstr("[ncclCommInitRankConfig] NCCL has failed: unhandled system error"),
                          HasSubstr("NCCL has not connected the ranks within (400) ms")));
    }
}

// One of the calls of both ranks fails: that rank is told why, and the other one that its peer is gone or has failed.
void expect_told(const std::map<int, Told>& told, const std::string& why)
{
    int reasons = 0;
    for (const auto& [rank, t] : told) {
        EXPECT_EQ(t.kind, ErrorKind::distributed) << t.text;
        EXPECT_FALSE(t.text.empty()) << "rank " << rank;
        reasons += t.text.find(why) != std::string::npos;
    }
    EXPECT_GE(reasons, 1) << told.at(0).text << told.at(1).text;
}

TEST_F(NcclFailures, OfACall)
{
    for (const char* function : {"ncclAllReduce", "ncclCommGetAsyncError"}) {
        SCOPED_TRACE(function);
        expect_told(told_to_ranks([&](World& w, const Device& d) {
                        use_nccl(w, d);
                        const Tensor x = ones({3});
                        all_reduce(x, w).to_vector<float>();
                        w.barrier();
                        if (w.rank() == 0) fail(function);
                        w.barrier();
                        for (int i = 0; i < 5; ++i) all_reduce(x, w).to_vector<float>();
                    }),
                    "NCCL has failed: unhandled system error, the emulation was told to fail");
        device::revive();
    }
}

TEST_F(NcclFailures, OfAnyCallOfTraining)
{
    for (int n = 1; n <= 20; ++n) {
        SCOPED_TRACE(n);
        expect_told(told_to_ranks([&](World& w, const Device& d) {
                        use_nccl(w, d);
                        w.barrier();
                        if (w.rank() == 0) fail("ncclAllReduce", n);
                        w.barrier();
                        train(w, d, even(w.size(), 26), {.bucket_bytes = 64});
                    }),
                    "NCCL has failed: unhandled system error");
        device::revive();
    }
}

TEST_F(NcclFailures, ToEnd)
{
    for (const auto& [rank, told] : told_to_ranks([](World&w, const Device&d) {
             use_nccl(w, d);
             const Tensor x = ones({3});
             all_reduce(x, w).to_vector<float>();
             w.barrier();
             if (w.rank() == 0)
                 fail("emulated_nccl_end"); // of one rank's collective, for which the other waits
             w.barrier();
             const Tensor y = all_reduce(x, w);
             const Told first = told_by([&] { y.to_vector<float>(); });
             EXPECT_EQ(told_by([&] { all_reduce(x, w).to_vector<float>(); }).text, first.text);
             w.set_timeout(30s); // both have ended by then
             detail::fail(first.kind, "test", first.text);
         }))
        EXPECT_THAT(told.text, HasSubstr("The exchange (all_reduce sum f32 [3]) has not ended in time"));
}

TEST_F(NcclFailures, RanksThatDiffer)
{
    for (const bool connected : {false, true}) {
        for (const auto& [rank, told] : told_to_ranks([&](World&w, const Device&d) {
                 use_nccl(w, d);
                 if (connected) all_reduce(ones({1}), w).to_vector<float>();
                 const Tensor x = zeros({w.rank() == 0 ? 5 : 4});
                 all_reduce(x, w).to_vector<float>();
             })) {
            EXPECT_EQ(told.kind, ErrorKind::distributed);
            EXPECT_THAT(told.text,
                        AllOf(HasSubstr("(all_reduce sum f32 [5]"), HasSubstr("(all_reduce sum f32 [4]")));
        }
    }
}

TEST_F(NcclFailures, ARankThatDoesNotCome)
{
    for (const bool connected : {false, true})
        for (const bool leaves : {false, true}) {
            const auto told = told_to_ranks([&](World& w, const Device& d) {
                use_nccl(w, d);
                const Tensor x = ones({4});
                if (connected) all_reduce(x, w).to_vector<float>();
                if (w.rank() == 1) {
                    if (!leaves) std::this_thread::sleep_for(1500ms);
                    return;
                }
                all_reduce(x, w).to_vector<float>();
            });
            EXPECT_THAT(told.at(0).text, HasSubstr("Rank (1)"));
            EXPECT_EQ(told.at(1).text, "");
        }
}

// Another world of the device fails: what NCCL has on the device must not hold it up.
TEST_F(NcclFailures, OfAnotherWorldOfTheDevice)
{
    const std::vector<World> host = local_worlds(2);
    const auto told = told_to_ranks([&](World& w, const Device& d) {
        use_nccl(w, d);
        const Tensor x = ones({4});
        all_reduce(x, w).to_vector<float>();
        World other = host[static_cast<std::size_t>(w.rank())];
        other.set_timeout(200ms);
        if (w.rank() == 1) {
            std::this_thread::sleep_for(1000ms);
            return;
        }
        const Tensor y = all_reduce(x, other) + 1.0; // rank 1 does not come
        all_reduce(y, w).to_vector<float>();
    });
    EXPECT_THAT(told.at(0).text, HasSubstr("Rank (1)"));
}

// In a process without the emulation of NCCL.
TEST(WithoutNccl, IsRefused)
{
    const World w = local_worlds(1)[0];
    const Told told = told_by([&] { use_nccl(w, default_device()); });
    EXPECT_EQ(told.kind, ErrorKind::unsupported);
    EXPECT_THAT(told.text, HasSubstr("Rank (0): [use_nccl] NCCL was not found: "));
    EXPECT_EQ(all_reduce(ones({1}), w).item<float>(), 1.0f);
}

} // namespace
} // namespace reprise
