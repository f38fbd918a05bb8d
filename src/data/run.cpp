#include "data/run.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <reprise/error.hpp>

namespace reprise::data {

DataLoader::Run::Run(std::shared_ptr<const BatchSource> source, std::vector<Pick> picks, std::int64_t count,
                     const DataLoaderSettings& options, std::shared_ptr<Place> place)
    : source_(std::move(source)), picks_(std::move(picks)), batch_size_(options.batch_size),
      ahead_(static_cast<std::int64_t>(options.num_workers * options.prefetch)), device_(options.device),
      place_(std::move(place)), count_(count), index_(place_ ? place_->batch : 0), begun_(index_),
      taken_(index_), last_(count), ready_(static_cast<std::size_t>(std::min(ahead_, count - index_)))
{
    move_place();
    start(std::min(options.num_workers, static_cast<std::size_t>(count - index_)));
}

// To the next batch that is given out; at the end, to the next epoch.
void DataLoader::Run::move_place()
{
    if (!place_) return;
    place_->batch = index_;
    if (at_end()) *place_ = {.epoch = place_->epoch + 1};
}

void DataLoader::Run::start(std::size_t workers)
{
    threads_.reserve(workers);
    try {
        while (threads_.size() < workers) threads_.emplace_back([this] { work(); });
    } catch (const std::exception& e) { // a thread cannot be started, or memory is out
        if (threads_.empty())
            detail::fail(ErrorKind::unsupported, "DataLoader", "No worker thread can be started: ", e.what());
    } // fewer threads are enough
}

DataLoader::Run::~Run()
{
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    wanted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

std::span<const Pick> DataLoader::Run::picks_of(std::int64_t index) const
{
    const std::span<const Pick> rest =
        std::span(picks_).subspan(static_cast<std::size_t>(index * batch_size_));
    return rest.first(std::min(rest.size(), static_cast<std::size_t>(batch_size_)));
}

void DataLoader::Run::work()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        wanted_.wait(lock, [this] { return stopped_ || begun_ == last_ || begun_ < taken_ + ahead_; });
        if (stopped_ || begun_ == last_) return;
        const std::int64_t index = begun_++;
        lock.unlock();
        Prepared prepared;
        try {
            prepared.batch = source_->batch(picks_of(index));
        } catch (...) {
            prepared.thrown = std::current_exception();
        }
        lock.lock();
        slot(index) = std::move(prepared);
        prepared_.notify_one(); // only the loop's thread waits for it
    }
}

Example<> DataLoader::Run::take()
{
    if (threads_.empty()) return source_->batch(picks_of(index_));
    Prepared prepared;
    {
        std::unique_lock lock(mutex_);
        prepared_.wait(lock, [this] { return slot(index_).has_value(); });
        prepared = *std::exchange(slot(index_), std::nullopt);
        taken_ = index_ + 1;
    }
    wanted_.notify_one();
    if (prepared.thrown) std::rethrow_exception(prepared.thrown);
    return std::move(prepared.batch);
}

DataLoader::Batch& DataLoader::Run::current()
{
    if (current_) return *current_;
    if (at_end())
        detail::fail(ErrorKind::state, "DataLoader", "The epoch has no more than (", count_,
                     ") batches, and ends where one throws.");
    try {
        const Example<> batch = take();
        current_ = Batch{batch.data.to_tensor(device_), batch.target.to_tensor(device_)};
    } catch (...) {
        index_ = count_;
        throw;
    }
    if (place_) place_->batch = index_ + 1;
    return *current_;
}

void DataLoader::Run::advance()
{
    try {
        if (!current_ && !at_end() && !threads_.empty()) take(); // unread, but its slot is needed
    } catch (...) {
        index_ = count_;
        throw;
    }
    current_.reset();
    ++index_;
    if (index_ <= count_) move_place(); // the end is reached once
}

} // namespace reprise::data
