// One epoch of a loader, while it is iterated.
#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <reprise/data/loader.hpp>

namespace reprise::data {

// The place that DataLoader::state_dict() tells.
struct DataLoader::Place {
    std::uint64_t epoch = 0;
    std::int64_t batch = 0; // the next one
};

// Yields batches in the order of the epoch. A worker thread prepares the next batch that no other has begun, at
// most `ahead_` beyond those that the loop has taken, and stores it, or the exception that it threw, in a slot.
// The loop waits for the slot of its next batch.
class DataLoader::Run {
public:
    // Prepares `count` batches of the picks, but for those before place->batch, and moves the place; null: all.
    Run(std::shared_ptr<const BatchSource>, std::vector<Pick>, std::int64_t count, const DataLoaderSettings&,
        std::shared_ptr<Place>);
    ~Run(); // waits for the batches in preparation
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    bool at_end() const noexcept { return index_ >= count_; }
    Batch& current();
    void advance();

private:
    struct Prepared {
        Example<> batch;
        std::exception_ptr thrown;
    };
    std::span<const Pick> picks_of(std::int64_t index) const;
    std::optional<Prepared>& slot(std::int64_t index)
    {
        return ready_[static_cast<std::size_t>(index) % ready_.size()];
    }
    void start(std::size_t workers);
    void work();
    Example<> take(); // the batch number index_
    void move_place();

    const std::shared_ptr<const BatchSource> source_;
    const std::vector<Pick> picks_;
    const std::int64_t batch_size_, ahead_;
    const std::optional<Device> device_;
    // Used by the loop's thread only.
    const std::shared_ptr<Place> place_;
    std::int64_t count_, index_;
    std::optional<Batch> current_;
    std::vector<std::thread> threads_;
    // Shared with the workers.
    std::mutex mutex_;
    std::condition_variable wanted_, prepared_;
    std::int64_t begun_, taken_;
    const std::int64_t last_;
    bool stopped_ = false;
    // A ring buffer with one slot per batch that may be begun ahead, so that storing a batch allocates nothing: a
    // worker could not report std::bad_alloc.
    std::vector<std::optional<Prepared>> ready_;
};

} // namespace reprise::data
