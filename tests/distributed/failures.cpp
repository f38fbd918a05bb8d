// Ranks that die at any point of a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "distributed/world_state.hpp"
#include "io/scratch.hpp"
#include "support/ranks.hpp"
#include "support/sharded_run.hpp"

namespace reprise {
namespace {

using distributed::Transport, distributed::World;
using test::on_ranks, test::ShardedRun;

// Hands exchanges on until one of a given number, at which its rank is gone without a word.
class Mortal final : public Transport {
public:
    Mortal(std::shared_ptr<Transport> inner, std::uint64_t dies_at)
        : inner_(std::move(inner)), dies_at_(dies_at), rank_(inner_->rank()), size_(inner_->size())
    {}
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return rank_; }
    std::string description() const override { return "mortal"; }
    void exchange(const Label& label, std::span<const std::span<const std::byte>> send,
                  std::span<const std::span<std::byte>> receive, std::chrono::milliseconds limit) override
    {
        if (label.number >= dies_at_) inner_.reset();
        if (!inner_) throw std::runtime_error("dead");
        inner_->exchange(label, send, receive, limit);
    }

private:
    std::shared_ptr<Transport> inner_;
    std::uint64_t dies_at_;
    int rank_, size_;
};

// Worlds of two ranks, of which one dies.
std::vector<World> worlds(int dying, std::uint64_t dies_at)
{
    std::vector<World> all;
    for (World& w : distributed::local_worlds(2)) {
        if (w.rank() == dying) w = World(std::make_shared<Mortal>(w.state()->transport(), dies_at));
        all.push_back(w);
    }
    return all;
}

class DyingRank : public testing::TestWithParam<int> {}; // the exchange of a step at which it dies
INSTANTIATE_TEST_SUITE_P(At, DyingRank, testing::Range(0, 10));

// The other rank ends with an error that names it, and a run that goes on from the last save has the bits of one
// without a failure.
TEST_P(DyingRank, EndsAllOthersInTime)
{
    const Scratch scratch;
    const std::filesystem::path index = scratch / "run.json";
    constexpr int last = 3;
    std::vector<float> straight, resumed;
    std::uint64_t begin = 0; // the first exchange of the step after the save
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(1);
        save_checkpoint(index, run.parts(), w);
        if (w.rank() == 0) begin = w.traffic().exchanges;
        run.train_to(2);
        const std::vector<float> weights = run.weights();
        w.barrier();
        if (w.rank() == 0) {
            EXPECT_GE(w.traffic().exchanges - begin, 10u);
        }
        run.train_to(last);
        if (w.rank() == 0) straight = run.weights();
    });
    const int dying = GetParam() % 2;
    on_ranks(worlds(dying, begin + static_cast<std::uint64_t>(GetParam())),
             [&](const World& w, const Device& d) {
                 const auto from = std::chrono::steady_clock::now();
                 try {
                     ShardedRun run(w, d);
                     run.train_to(1);
                     save_checkpoint(index, run.parts(), w);
                     run.train_to(2);
                     run.weights();
                     ADD_FAILURE() << "rank " << w.rank() << " has not failed";
                 } catch (const std::exception& e) {
                     const std::string rank = std::to_string(dying);
                     if (w.rank() != dying) {
                         EXPECT_THAT(e.what(), testing::HasSubstr("Rank (" + rank + ") is gone"));
                     }
                 }
                 EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(30));
             });
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        train::load_checkpoint(index, run.parts());
        EXPECT_EQ(run.step, 1);
        run.train_to(last);
        if (w.rank() == 0) resumed = run.weights();
    });
    EXPECT_EQ(straight, resumed);
}

// At any exchange of a save: the checkpoint before it stays whole until the new one is.
TEST(DyingWhileItSaves, LeavesOneCheckpointWhole)
{
    const Scratch scratch;
    const std::filesystem::path index = scratch / "run.json";
    std::uint64_t begin = 0, end = 0;
    std::vector<float> weights[2];
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        for (const int step : {0, 1}) {
            run.train_to(step + 1);
            const std::vector<float> now = run.weights();
            w.barrier();
            if (w.rank() == 0) {
                weights[step] = now;
                begin = w.traffic().exchanges;
            }
            save_checkpoint(index, run.parts(), w);
            if (w.rank() == 0) end = w.traffic().exchanges;
        }
    });
    ASSERT_GT(end, begin + 10);
    for (std::uint64_t at = begin; at < end; ++at) {
        on_ranks(worlds(static_cast<int>(at % 2), at), [&](const World& w, const Device& d) {
            try {
                ShardedRun run(w, d);
                for (const int step : {0, 1}) {
                    run.train_to(step + 1);
                    run.weights();
                    w.barrier();
                    save_checkpoint(index, run.parts(), w);
                }
            } catch (const std::exception&) { // the next run begins anew
            }
        });
        on_ranks(1, [&](const World& w, const Device& d) {
            ShardedRun run(w, d);
            train::load_checkpoint(index, run.parts());
            ASSERT_TRUE(run.step == 1 || run.step == 2);
            EXPECT_EQ(run.weights(), weights[run.step - 1]) << "exchange " << at - begin;
        });
    }
}

} // namespace
} // namespace reprise
