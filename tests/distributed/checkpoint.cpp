// Checkpoints that several ranks write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>
#include <reprise/train.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"
#include "support/ranks.hpp"
#include "support/sharded_run.hpp"

namespace reprise {
namespace {

namespace fs = std::filesystem;

using distributed::save_checkpoint, distributed::World;
using test::batch, test::Net, test::on_ranks;
using test::ShardedRun;

std::vector<std::string> files_in(const fs::path& folder)
{
    std::vector<std::string> names;
    for (const fs::directory_entry& e : fs::directory_iterator(folder))
        names.push_back(e.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

class ShardedCheckpoint : public testing::Test {
protected:
    fs::path path(const std::string& name) const { return scratch_ / name; }
    fs::path folder() const { return scratch_.path(); }

private:
    Scratch scratch_;
};

TEST_F(ShardedCheckpoint, ResumesToTheSameBits)
{
    const fs::path index = path("run.json");
    std::vector<float> straight, resumed;
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(3);
        save_checkpoint(index, run.parts(), w);
        run.train_to(6);
        if (w.rank() == 0) straight = run.weights();
    });
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(1);
        train::load_checkpoint(index, run.parts());
        EXPECT_EQ(run.step, 3);
        run.train_to(6);
        if (w.rank() == 0) resumed = run.weights();
    });
    EXPECT_EQ(straight, resumed);
}

// Each rank has a file, and a later checkpoint replaces them.  Others' files stay.
TEST_F(ShardedCheckpoint, WritesAFileForEachRank)
{
    write_text(path("run-1-rank-notes.txt"), "mine");
    on_ranks(3, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(1);
        save_checkpoint(path("run.json"), run.parts(), w);
        save_checkpoint(path("run.json"), run.parts(), w);
    });
    EXPECT_THAT(files_in(folder()),
                testing::ElementsAre("run-1-rank-notes.txt", "run-2-rank-0-of-3.safetensors",
                                     "run-2-rank-1-of-3.safetensors", "run-2-rank-2-of-3.safetensors",
                                     "run.json"));
}

// Any number of ranks read it, and a process without a world does.
TEST_F(ShardedCheckpoint, IsReadByWorldsOfAnySize)
{
    const fs::path index = path("run.json");
    optim::StateDict state;
    std::vector<float> weights;
    on_ranks(3, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(2);
        save_checkpoint(index, run.parts(), w);
        const optim::StateDict all = run.optimizer->consolidated_state_dict();
        const std::vector<float> now = run.weights();
        if (w.rank() != 0) return;
        for (const auto& [name, value] : all) state.emplace(name, value.to(Device("reference")));
        weights = now;
    });
    for (const int ranks : {1, 2})
        on_ranks(ranks, [&](const World& w, const Device& d) {
            ShardedRun run(w, d);
            train::load_checkpoint(index, run.parts());
            EXPECT_EQ(run.weights(), weights);
            const optim::StateDict all = run.optimizer->consolidated_state_dict();
            ASSERT_EQ(all.size(), state.size());
            for (const auto& [name, value] : state)
                EXPECT_EQ(to_bytes(all.at(name)), to_bytes(value)) << name;
        });
    Net net(false);
    optim::AdamW plain(net.parameters());
    int step = 0;
    train::load_checkpoint(index, {{"net", net}, {"optimizer", plain}, {"step", step}});
    for (const auto& [name, value] : plain.state_dict())
        EXPECT_EQ(to_bytes(value), to_bytes(state.at(name))) << name;
}

TEST_F(ShardedCheckpoint, IsWrittenWithoutAWorld)
{
    ShardedRun run(World(), default_device());
    run.train_to(2);
    save_checkpoint(path("run.json"), run.parts(), World());
    Net net(false);
    optim::AdamW plain(net.parameters());
    int step = 0;
    train::load_checkpoint(path("run.json"), {{"net", net}, {"optimizer", plain}, {"step", step}});
    EXPECT_EQ(step, 2);
    EXPECT_TRUE(equal(net.a.weight, run.net.a.weight));
}

// Entries that differ between ranks are those of rank 0, and other ranks may have some of their own.
TEST_F(ShardedCheckpoint, TakesCommonEntriesFromRank0)
{
    on_ranks(2, [&](const World& w, const Device& d) {
        nn::BatchNorm1d norm(3);
        norm.to(d);
        norm(batch(w.rank(), 0, 8, d).x.narrow(1, 0, 3));
        std::vector<double> losses;
        if (w.rank() == 0) losses = {1, 2, 3};
        double own = w.rank();
        std::vector<train::Part> parts{{"norm", norm}, {"losses", losses}};
        if (w.rank() == 1) parts.emplace_back("own", own);
        save_checkpoint(path("run.json"), parts, w);
        if (w.rank() == 1) return;
        const std::map<std::string, Tensor> saved = load_safetensors(path("run.json"));
        EXPECT_TRUE(equal(saved.at("norm.running_mean"), norm.running_mean.to(default_device())));
        EXPECT_EQ(saved.at("losses").numel().value(), 3);
        EXPECT_EQ(saved.at("own").item<double>(), 1);
    });
}

struct Broken {
    bool fails;
    std::map<std::string, Tensor> state_dict() const
    {
        if (fails) throw std::runtime_error("the disk is full");
        return {};
    }
    void load_state_dict(const std::map<std::string, Tensor>&) {}
};

// A rank that can't save lets all fail, and the checkpoint of before stays.
TEST_F(ShardedCheckpoint, KeepsTheOneBeforeWhenARankFails)
{
    const fs::path index = path("run.json");
    std::vector<float> saved, loaded;
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(1);
        save_checkpoint(index, run.parts(), w);
        if (w.rank() == 0) saved = run.weights();
        run.train_to(2);
        Broken broken{w.rank() == 1};
        std::vector<train::Part> parts = run.parts();
        parts.emplace_back("broken", broken);
        try {
            save_checkpoint(index, parts, w);
            ADD_FAILURE() << "no error was thrown";
        } catch (const std::exception& e) {
            EXPECT_THAT(e.what(), testing::HasSubstr("the disk is full"));
            if (w.rank() == 0) {
                EXPECT_THAT(e.what(), testing::HasSubstr("Rank (1) can't save its part"));
            }
        }
        run.train_to(3); // goes on
    });
    on_ranks(1, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        train::load_checkpoint(index, run.parts());
        loaded = run.weights();
    });
    EXPECT_EQ(saved, loaded);
}

// A rank that does not save leaves the checkpoint of before.
TEST_F(ShardedCheckpoint, KeepsTheOneBeforeWhenARankIsGone)
{
    const fs::path index = path("run.json");
    std::vector<float> saved, loaded;
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(1);
        save_checkpoint(index, run.parts(), w);
        if (w.rank() == 0) saved = run.weights();
    });
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        run.train_to(1);
        if (w.rank() == 1) return;
        EXPECT_THROW(save_checkpoint(index, run.parts(), w), Error);
    });
    on_ranks(1, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        train::load_checkpoint(index, run.parts());
        loaded = run.weights();
    });
    EXPECT_EQ(saved, loaded);
}

TEST_F(ShardedCheckpoint, RefusesOtherNames)
{
    on_ranks(2, [&](const World& w, const Device& d) {
        ShardedRun run(w, d);
        const auto save = [&](const fs::path& p) {
            return error_of([&] { return save_checkpoint(p, run.parts(), w), 0; }).kind;
        };
        EXPECT_EQ(save(path("run.safetensors")), ErrorKind::argument);
        EXPECT_EQ(save(path("missing") / "run.json"), ErrorKind::file);
    });
    EXPECT_TRUE(files_in(folder()).empty());
}

} // namespace
} // namespace reprise
