// Worlds inside one process.  The ranks meet twice for each exchange: to read each other's buffers, and when all have.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include <reprise/distributed/world.hpp>
#include <reprise/error.hpp>

#include "distributed/labels.hpp"

namespace reprise::distributed {

namespace {

using Label = Transport::Label;

// What a rank offers to another one in its current exchange.
struct Offer {
    Label label;
    std::span<const std::byte> bytes;
    bool is_being_read = false, is_taken = false;
    bool is_withdrawn = false; // its rank is gone: the label is still compared
};

// Where the ranks meet.
struct Hub {
    explicit Hub(int n)
        : offers(static_cast<std::size_t>(n * n)), gone(static_cast<std::size_t>(n), false), size(n)
    {}
    std::optional<Offer>& offer(int from, int to)
    {
        return offers[static_cast<std::size_t>(from * size + to)];
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::optional<Offer>> offers; // by sender and receiver
    std::vector<bool> gone;                   // by rank
    int size;
};

class LocalTransport final : public Transport {
public:
    LocalTransport(std::shared_ptr<Hub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}
    ~LocalTransport() override
    {
        std::unique_lock lock(hub_->mutex);
        leave(lock);
    }

    int rank() const override { return rank_; }
    int size() const override { return hub_->size; }
    int local_rank() const override { return rank_; }
    std::string description() const override { return "threads of one process"; }

    void exchange(const Label& label, std::span<const std::span<const std::byte>> send,
                  std::span<const std::span<std::byte>> receive, std::chrono::milliseconds limit) override
    {
        const auto end = std::chrono::steady_clock::now() + limit;
        std::vector<int> peers;
        for (int k = 0; k < size(); ++k) {
            const auto i = static_cast<std::size_t>(k);
            if (k != rank_ && (!send[i].empty() || !receive[i].empty())) peers.push_back(k);
        }
        std::unique_lock lock(hub_->mutex);
        if (hub_->gone[static_cast<std::size_t>(rank_)]) fail_again();
        for (const int k : peers) hub_->offer(rank_, k) = Offer{label, send[static_cast<std::size_t>(k)]};
        hub_->changed.notify_all();
        try {
            for (const int k : peers) {
                wait(lock, label, k, end, limit,
                     [&] { return hub_->offer(k, rank_) && !hub_->offer(k, rank_)->is_taken; });
                Offer& offer = *hub_->offer(k, rank_);
                const std::span<std::byte> to = receive[static_cast<std::size_t>(k)];
                require_same(label, offer.label, k);
                if (offer.is_withdrawn) fail_gone(label, k);
                if (offer.bytes.size() != to.size()) fail_sizes(label, k, offer.bytes.size(), to.size());
                offer.is_being_read = true;
                lock.unlock(); // the sender waits until its bytes are taken
                if (!to.empty()) std::memcpy(to.data(), offer.bytes.data(), to.size());
                lock.lock();
                offer.is_being_read = false;
                offer.is_taken = true;
                hub_->changed.notify_all();
            }
            for (const int k : peers) {
                wait(lock, label, k, end, limit, [&] { return hub_->offer(rank_, k)->is_taken; });
                hub_->offer(rank_, k).reset();
            }
        } catch (...) {
            leave(lock);
            throw;
        }
    }

    void leave() override
    {
        std::unique_lock lock(hub_->mutex);
        leave(lock);
    }

private:
    template <class Condition> void wait(std::unique_lock<std::mutex>& lock, const Label& label, int k,
                                         std::chrono::steady_clock::time_point end,
                                         std::chrono::milliseconds limit, const Condition& condition)
    {
        const bool in_time = hub_->changed.wait_until(
            lock, end, [&] { return condition() || hub_->gone[static_cast<std::size_t>(k)]; });
        if (condition()) return;
        if (in_time) fail_gone(label, k);
        fail_late(label, {k}, limit);
    }

    void leave(std::unique_lock<std::mutex>& lock)
    {
        hub_->changed.wait(lock, [&] {
            for (int k = 0; k < size(); ++k)
                if (const auto& offer = hub_->offer(rank_, k); offer && offer->is_being_read) return false;
            return true;
        });
        hub_->gone[static_cast<std::size_t>(rank_)] = true;
        for (int k = 0; k < size(); ++k)
            if (auto& offer = hub_->offer(rank_, k)) offer->is_withdrawn = true;
        hub_->changed.notify_all();
    }

    std::shared_ptr<Hub> hub_;
    const int rank_;
};

} // namespace

std::vector<World> local_worlds(int size)
{
    if (size < 1)
        detail::fail(ErrorKind::argument, "local_worlds", "A world of (", size, ") ranks: give at least 1.");
    const auto hub = std::make_shared<Hub>(size);
    std::vector<World> worlds;
    for (int k = 0; k < size; ++k) worlds.emplace_back(std::make_shared<LocalTransport>(hub, k));
    return worlds;
}

} // namespace reprise::distributed
