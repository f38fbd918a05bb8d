// The state that copies of a World share.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/distributed/world.hpp>

#include "device/device.hpp"
#include "distributed/nccl.hpp"
#include "graph/host_call.hpp"
#include "ops/reference.hpp"

namespace reprise::distributed {

enum class Kind : std::uint8_t {
    all_reduce,
    broadcast,
    reduce,
    all_gather,
    reduce_scatter,
    all_to_all,
    send_receive
};

using Sends = std::vector<std::span<const std::byte>>; // by rank
using Receives = std::vector<std::span<std::byte>>;    // by rank

class WorldState : public std::enable_shared_from_this<WorldState> {
public:
    explicit WorldState(std::shared_ptr<Transport>);

    int rank() const { return transport_->rank(); }
    int size() const { return transport_->size(); }
    const std::shared_ptr<Transport>& transport() const { return transport_; }
    void set_timeout(std::chrono::milliseconds t) { timeout_ = t; }
    std::chrono::milliseconds timeout() const { return timeout_; }
    World::Traffic traffic() const;

    // Notes that a collective runs on the device.  Error(argument) if another one did: exchanges of two devices have no
    // order.
    void use(const Device&);
    void require_unused(const char* op) const; // Error(state) after a collective or set_nccl()
    void wait_for_device() const;              // until all collectives that were submitted have ended

    // Transport::exchange(), counted; `what` begins the label.  The limit is the timeout, or the least one if that is
    // longer.
    void exchange(const std::string& what, const Sends&, const Receives&,
                  std::chrono::milliseconds least_timeout = {});

    // The collectives run by NCCL from now on; null: through the host.
    void set_nccl(std::shared_ptr<Nccl> n) { nccl_ = std::move(n); }
    const std::shared_ptr<Nccl>& nccl() const { return nccl_; }
    void end_nccl() noexcept; // at the process's end
    // Waits for `await_begin`, compares the label with those of all ranks, and waits until `has_ended` tells that NCCL
    // has computed the collective, which sends this many bytes.  Aborts NCCL and throws Error(distributed) if a rank
    // differs, or does not come within the timeout, or if NCCL then takes longer than the timeout and a second for
    // each 10 MB.
    void supervise(const std::string& what, std::size_t bytes, const std::function<void()>& await_begin,
                   const std::function<bool()>& has_ended);
    void exchange_nothing(const std::string& what); // returns when all ranks have called it

    // Returns the texts of all ranks, after all collectives that were submitted have ended.
    std::vector<std::string> gather_texts(const std::string& what, const std::string& own,
                                          std::chrono::milliseconds least_timeout);

    // Returns the call of this kind, which is the same object each time, so that compiled graphs are reused.
    std::shared_ptr<const graph::HostCall> call(Kind, int a = 0, int b = 0);

private:
    const std::shared_ptr<Transport> transport_;
    std::atomic<std::chrono::milliseconds> timeout_{std::chrono::seconds(30)};
    mutable std::mutex mutex_; // guards the counts and the list of calls
    std::mutex exchange_;      // held during an exchange
    World::Traffic traffic_;
    std::shared_ptr<Nccl> nccl_;
    std::weak_ptr<device::Device> device_; // expired: no collective has run on one that exists
    std::map<std::tuple<Kind, int, int>, std::unique_ptr<const graph::HostCall>> calls_;
};

// Sets `into` to the reduction of `parts`, in their order; all have the dtype and the same number of elements.
void reduce(DType, int reduction, const std::vector<const std::byte*>& parts, std::byte* into,
            std::size_t count);

// Creates a call; defined with the collectives.
std::unique_ptr<const graph::HostCall> make_call(WorldState&, Kind, int a, int b);

} // namespace reprise::distributed
