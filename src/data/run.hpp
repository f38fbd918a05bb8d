// An epoch of a loader that is being iterated.
#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <reprise/data/loader.hpp>

namespace reprise::data {

// Batches come in the epoch's order.  Worker threads take the next one that nobody has begun, at most
// `ahead` beyond those that the loop has taken, and put it, or what was thrown instead, where the loop waits
// for it.
class DataLoader::Run {
public:
    // `count` batches of the picks.
    Run(std::shared_ptr<const BatchSource>, std::vector<Pick>, std::int64_t count, const DataLoaderSettings&);
    ~Run(); // waits for what is being prepared
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
    Example<> take(); // of index_

    const std::shared_ptr<const BatchSource> source_;
    const std::vector<Pick> picks_;
    const std::int64_t batch_size_, ahead_;
    const std::optional<Device> device_;
    // The loop's own.
    std::int64_t count_, index_ = 0;
    std::optional<Batch> current_;
    std::vector<std::thread> threads_;
    // Shared with the workers.
    std::mutex mutex_;
    std::condition_variable wanted_, prepared_;
    std::int64_t begun_ = 0, taken_ = 0;
    const std::int64_t last_;
    bool stopped_ = false;
    // As many places as batches are begun ahead, so that putting one there allocates nothing: a worker could tell no
    // one of what that throws.
    std::vector<std::optional<Prepared>> ready_;
};

} // namespace reprise::data
