// A loader's worker threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <reprise/data.hpp>
#include <reprise/ops.hpp>

namespace reprise {
namespace {

using data::DataLoader;
using data::Example;

// Counts what is being prepared; get(0) waits until another thread is in get(), too.
struct Meeting {
    std::mutex mutex;
    std::condition_variable met;
    int inside = 0;
    std::atomic<int> begun = 0;
};
struct Waiting {
    std::shared_ptr<Meeting> meeting;
    bool wait = true;

    Example<> get(std::size_t i) const
    {
        ++meeting->begun;
        if (wait && i < 2) {
            std::unique_lock lock(meeting->mutex);
            if (++meeting->inside == 2) meeting->met.notify_all();
            meeting->met.wait(lock, [this] { return meeting->inside >= 2; });
        }
        return {static_cast<float>(i), static_cast<int>(i)};
    }
    std::size_t size() const { return 40; }
};

// Two batches are prepared at the same time, or this never ends.
TEST(Threads, PrepareBatchesAtTheSameTime)
{
    const auto meeting = std::make_shared<Meeting>();
    DataLoader loader(Waiting{meeting}, {.batch_size = 1, .num_workers = 2});
    int expected = 0;
    for (auto [x, y] : loader) EXPECT_EQ(y.to_vector<std::int32_t>()[0], expected++);
    EXPECT_EQ(expected, 40);
}

// Example 0 is ready after the three behind it.
struct LateFirst {
    std::shared_ptr<std::atomic<int>> done = std::make_shared<std::atomic<int>>(0);
    Example<> get(std::size_t i) const
    {
        while (i == 0 && *done < 3) std::this_thread::yield();
        if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the loop may take another
        ++*done;
        return {static_cast<float>(i), static_cast<int>(i)};
    }
    std::size_t size() const { return 8; }
};

TEST(Threads, KeepTheOrderOfBatchesThatAreLate)
{
    DataLoader loader(LateFirst{}, {.batch_size = 1, .num_workers = 2});
    int expected = 0;
    for (auto [x, y] : loader) EXPECT_EQ(y.to_vector<std::int32_t>()[0], expected++);
    EXPECT_EQ(expected, 8);
}

// While the loop holds a batch the next ones are prepared, as many as the options say and no more.
TEST(Threads, PrepareAheadOfTheLoop)
{
    const auto meeting = std::make_shared<Meeting>();
    DataLoader loader(Waiting{meeting, false}, {.batch_size = 2, .num_workers = 2, .prefetch = 3});
    auto it = loader.begin();
    static_cast<void>(*it);
    const int most = 2 * (1 + 2 * 3); // examples of the batch that was taken, and of six ahead
    while (meeting->begun < most) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    EXPECT_EQ(meeting->begun, most);
} // left early: the workers end here

TEST(Threads, OfSeveralLoadersShareADevice)
{
    const data::TensorDataset set(arange(300).reshape({100, 3}));
    std::vector<std::thread> threads;
    std::atomic<int> rows = 0;
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        threads.emplace_back([&set, &rows, seed] {
            DataLoader loader(set, {.batch_size = 8, .shuffle = true, .seed = seed, .num_workers = 2});
            for (int epoch = 0; epoch < 2; ++epoch)
                for (auto& batch : loader) rows += static_cast<int>(batch.data.size(0).value());
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(rows, 600);
}

} // namespace
} // namespace reprise
