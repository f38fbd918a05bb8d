#include <algorithm>
#include <cstring>
#include <thread>

#include <reprise/error.hpp>

#include "base/process.hpp"
#include "device/registry.hpp"
#include "distributed/world_state.hpp"
#include "eager/context.hpp"

namespace reprise::distributed {

namespace {

class Alone final : public Transport {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    int local_rank() const override { return 0; }
    std::string description() const override { return "one process"; }
    void exchange(const Label&, std::span<const std::span<const std::byte>>,
                  std::span<const std::span<std::byte>>, std::chrono::milliseconds) override
    {}
};

} // namespace

WorldState::WorldState(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

World::Traffic WorldState::traffic() const
{
    const std::lock_guard lock(mutex_);
    return traffic_;
}

void WorldState::use(const Device& d)
{
    if (!d.context()) return; // a placeholder's
    const std::shared_ptr<device::Device>& device = d.context()->device();
    const std::lock_guard lock(mutex_);
    const auto before = device_.lock();
    if (nccl_ && !before)
        detail::fail(ErrorKind::state, "collective",
                     "The device that this world gave to NCCL is gone: make a new world.");
    if (before && before != device)
        detail::fail(ErrorKind::argument, "collective", "The world has exchanged tensors of the device (",
                     before->capabilities().id, "), and this one is on (", d.name(),
                     "): a rank has one device for all collectives of a world.");
    device_ = device;
}

void WorldState::require_unused(const char* op) const
{
    const std::lock_guard lock(mutex_);
    if (nccl_) detail::fail(ErrorKind::state, op, "The world uses NCCL already.");
    if (!calls_.empty())
        detail::fail(ErrorKind::state, op,
                     "The world has exchanged tensors: call it before the first collective.");
}

void WorldState::wait_for_device() const
{
    std::shared_ptr<device::Device> device;
    {
        const std::lock_guard lock(mutex_);
        device = device_.lock();
    }
    if (device) device->wait_idle();
}

void WorldState::exchange(const std::string& what, const Sends& send, const Receives& receive,
                          std::chrono::milliseconds least_timeout)
{
    const std::lock_guard one_at_a_time(exchange_);
    Transport::Label label;
    {
        const std::lock_guard lock(mutex_);
        label.number = traffic_.exchanges++;
    }
    std::memcpy(label.text, what.data(), std::min(what.size(), sizeof label.text - 1));
    const auto from = std::chrono::steady_clock::now();
    transport_->exchange(label, send, receive, std::max(timeout_.load(), least_timeout));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
    const std::lock_guard lock(mutex_);
    const auto self = static_cast<std::size_t>(rank());
    for (std::size_t k = 0; k < send.size(); ++k) {
        if (k == self) continue;
        traffic_.bytes_sent += send[k].size();
        traffic_.bytes_received += receive[k].size();
    }
    traffic_.seconds += took.count();
}

void WorldState::supervise(const std::string& what, std::size_t bytes,
                           const std::function<void()>& await_begin, const std::function<bool()>& has_ended)
{
    constexpr double slowest = 10e6; // bytes/s
    try {
        await_begin();
        exchange_nothing(what);
        const std::chrono::duration<double> transfer(static_cast<double>(bytes) / slowest);
        const auto end = std::chrono::steady_clock::now() + timeout() + transfer;
        while (!has_ended()) {
            nccl_->require_sound();
            if (std::chrono::steady_clock::now() > end)
                detail::fail(ErrorKind::distributed, "NCCL", "The exchange (", what,
                             ") has not ended in time, although all ranks have begun it: a rank or the "
                             "network is gone.");
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        nccl_->require_sound(); // what was aborted ends, too
    } catch (const Error& e) {
        nccl_->abort(e);
        throw;
    } catch (...) {
        nccl_->abort(Error(ErrorKind::distributed, "[" + what + "] The exchange has failed."));
        throw;
    }
}

void WorldState::end_nccl() noexcept
{
    try {
        wait_for_device();
    } catch (const Error& e) { // a lost device, whose collectives may wait for other ranks
        nccl_->abort(e);
    }
    nccl_->close();
}

void WorldState::exchange_nothing(const std::string& what)
{
    const auto n = static_cast<std::size_t>(size());
    std::vector<std::byte> here(1), there(n);
    Receives receive;
    for (std::byte& b : there) receive.emplace_back(&b, 1);
    exchange(what, Sends(n, here), receive);
}

std::vector<std::string> WorldState::gather_texts(const std::string& what, const std::string& own,
                                                  std::chrono::milliseconds least_timeout)
{
    try {
        wait_for_device();
    } catch (
        const Error&) { // a lost device has no collectives any more: the others hear from this rank what it says
    }
    const auto n = static_cast<std::size_t>(size()), self = static_cast<std::size_t>(rank());
    const std::uint64_t own_size = own.size();
    std::vector<std::uint64_t> sizes(n);
    Sends send(n, std::as_bytes(std::span(&own_size, 1)));
    Receives receive;
    for (std::uint64_t& s : sizes) receive.push_back(std::as_writable_bytes(std::span(&s, 1)));
    exchange(what, send, receive, least_timeout);
    std::vector<std::string> texts(n);
    for (std::size_t k = 0; k < n; ++k) {
        texts[k] = k == self ? own : std::string(sizes[k], ' ');
        send[k] = std::as_bytes(std::span(own));
        receive[k] = std::as_writable_bytes(std::span(texts[k]));
    }
    exchange(what, send, receive, least_timeout);
    return texts;
}

std::shared_ptr<const graph::HostCall> WorldState::call(Kind kind, int a, int b)
{
    const std::lock_guard lock(mutex_);
    std::unique_ptr<const graph::HostCall>& call = calls_[{kind, a, b}];
    if (!call) call = make_call(*this, kind, a, b);
    return {shared_from_this(), call.get()};
}

World::World() : World(std::make_shared<Alone>()) {}

World::World(std::shared_ptr<Transport> transport)
{
    if (!transport) detail::fail(ErrorKind::argument, "World", "The transport is null.");
    state_ = std::make_shared<WorldState>(std::move(transport));
}

int World::rank() const { return state_->rank(); }
int World::size() const { return state_->size(); }
int World::local_rank() const { return state_->transport()->local_rank(); }
std::string World::description() const
{
    const std::string nccl = state_->nccl() ? ", NCCL " + Nccl::version() : "";
    return state_->transport()->description() + nccl;
}
void World::set_timeout(std::chrono::milliseconds t) { state_->set_timeout(t); }
World::Traffic World::traffic() const { return state_->traffic(); }

void World::barrier() const
{
    state_->wait_for_device();
    state_->exchange_nothing("barrier");
}

void World::leave() const
{
    try {
        state_->wait_for_device();
    } catch (const Error&) { // a lost device: nothing of this rank can be waited for
    }
    state_->transport()->leave();
}

Device local_device(const World& world)
{
    if (!detail::environment_variable("REPRISE_DEVICE").value_or("").empty()) return default_device();
    const std::string best = device::default_id(); // not opened, as each rank would open it
    const auto backend = [](const std::string& name) { return name.substr(0, name.find(':')); };
    const std::vector<DeviceDescription> all = devices();
    const auto own =
        std::find_if(all.begin(), all.end(), [&](const DeviceDescription& d) { return d.name == best; });
    if (own == all.end()) return default_device();
    std::vector<std::string> alike;
    std::size_t at = 0;
    for (const DeviceDescription& d : all) {
        if (d.kind != own->kind || backend(d.name) != backend(best)) continue;
        if (d.name == best) at = alike.size();
        alike.push_back(d.name);
    }
    return Device(alike[(at + static_cast<std::size_t>(world.local_rank())) % alike.size()]);
}

} // namespace reprise::distributed
