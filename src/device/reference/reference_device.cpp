#include "device/reference/reference_device.hpp"
#include "device/health.hpp"
#include "device/host_calls.hpp"
#include "device/reference/arena.hpp"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <reprise/error.hpp>
#include <string_view>

namespace reprise::device {

namespace {

class ReferenceDevice : public DeviceWithHealth, public std::enable_shared_from_this<ReferenceDevice> {
public:
    explicit ReferenceDevice(std::uint64_t seed)
        : capabilities_(reference_capabilities()), arena_(capabilities_.memory_limit), generator_(seed)
    {}

    const Capabilities& capabilities() const override { return capabilities_; }
    Counters counters() const override;
    std::unique_ptr<Memory> allocate(std::uint64_t bytes) override;
    std::unique_ptr<Memory> allocate_readable(std::uint64_t bytes) override;
    void set_memory_limit(std::uint64_t bytes) override { arena_.set_limit(bytes); }
    void reset_peak() override { arena_.reset_peak(); }
    void upload(Address to, std::span<const std::byte> from) override;
    void download(Address from, std::span<std::byte> to) override;
    std::unique_ptr<Recording> record(std::span<const LaunchDeclaration>, const RecordingOptions&) override;
    void register_kernel(const std::string&, std::vector<std::uint32_t>) override {} // it runs no SPIR-V
    Ticket submitted() const override { return submits_; }
    bool done(Ticket) override
    {
        health_.require_alive("done");
        return true;
    }
    void wait(Ticket) override { health_.pass("wait", "wait"); }
    void wait_idle() override
    {
        health_.pass("wait", "wait_idle");
        arena_.check();
    }
    void close() override { health_.set_closed(); } // memory is freed with its holders

private:
    friend class ReferenceMemory;
    friend class ReferenceRecording;
    Health& health() const override { return health_; }
    void require_held(const char* op, Address, std::uint64_t bytes) const;

    Capabilities capabilities_;
    mutable Health health_;
    HostArena arena_;
    std::mutex run_; // one submission at a time
    HostCalls host_calls_{health_};
    std::mt19937_64 generator_;
    std::atomic<std::uint64_t> recordings_ = 0, submits_ = 0;
};

class ReferenceMemory : public Memory {
public:
    ReferenceMemory(std::shared_ptr<ReferenceDevice> device, std::uint64_t size) : device_(std::move(device))
    {
        address = device_->arena_.allocate(size);
        bytes = size;
        host = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address));
    }
    ~ReferenceMemory() override { device_->arena_.release(address); }
    ReferenceMemory(const ReferenceMemory&) = delete;
    ReferenceMemory& operator=(const ReferenceMemory&) = delete;

private:
    std::shared_ptr<ReferenceDevice> device_;
};

std::size_t hash_bytes(const Operand& operand)
{
    const auto* bytes = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(operand.address));
    return std::hash<std::string_view>()({bytes, operand.bytes});
}

bool overlap(const Operand& a, const Operand& b)
{
    return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

class ReferenceRecording : public Recording {
public:
    ReferenceRecording(std::shared_ptr<ReferenceDevice> device, std::span<const LaunchDeclaration> launches,
                       const RecordingOptions& options)
        : device_(std::move(device)), launches_(launches.begin(), launches.end()), calls_(launches.size()),
          timed_(options.timestamps)
    {
        for (const LaunchDeclaration& launch : launches_) {
            if (!launch.kernel.host) {
                reprise::detail::fail(ErrorKind::unsupported, "record", "The kernel (", launch.kernel.name,
                                      ") has no host function, so the reference device cannot run it.");
            }
        }
    }
    void begin() override
    {
        device_->health_.require_alive("begin");
        set_ = 0;
    }
    void set(std::uint32_t launch, const LaunchArguments&) override;
    Ticket submit() override;
    Times times() override { return {last_, times_}; }

private:
    void run_in_order();
    void run(std::size_t launch);
    void check_operands(std::size_t launch) const;
    std::vector<std::size_t> hash_reads(std::size_t launch) const;

    std::shared_ptr<ReferenceDevice> device_;
    std::vector<LaunchDeclaration> launches_;
    std::vector<HostArguments> calls_;
    std::vector<double> times_; // of `last_`
    Ticket last_ = 0;
    std::size_t set_ = 0;
    bool timed_;
};

void ReferenceRecording::set(std::uint32_t launch, const LaunchArguments& a)
{
    if (launch >= launches_.size() || a.operands.size() != launches_[launch].operands.size() ||
        a.floats.size() != launches_[launch].floats || a.ints.size() != launches_[launch].ints) {
        reprise::detail::fail(ErrorKind::internal, "set", "Launch (", launch, ") of (", launches_.size(),
                              ") was given (", a.operands.size(), ", ", a.floats.size(), ", ", a.ints.size(),
                              ") operands, floats and ints, which is not what it declares.");
    }
    calls_[launch].assign(a);
    ++set_;
}

Ticket ReferenceRecording::submit()
{
    device_->health_.pass("submit", "submit");
    if (set_ < launches_.size()) fail_unset(set_, launches_.size());
    const std::lock_guard lock(device_->run_);
    device_->arena_.check();
    try {
        run_in_order();
    } catch (...) {
        device_->host_calls_.wait(); // their operands may be freed now
        throw;
    }
    device_->host_calls_.wait();
    device_->health_.require_alive("submit");
    return last_ = ++device_->submits_;
}

void ReferenceRecording::run_in_order()
{
    const auto start = std::chrono::steady_clock::now();
    const auto stamp = [&](std::size_t i) {
        if (timed_)
            times_[i] =
                std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    };
    times_.assign(timed_ ? launches_.size() + 1 : 0, 0.0);
    std::vector<std::size_t> order(launches_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint32_t joins = ~std::uint32_t{0}; // the first epoch that waits for the host calls that were posted
    for (std::size_t first = 0; first < order.size();) {
        if (launches_[first].epoch >= joins) {
            device_->host_calls_.wait();
            device_->health_.require_alive("submit");
            joins = ~std::uint32_t{0};
        }
        std::size_t last = first;
        while (last < order.size() && launches_[last].epoch == launches_[first].epoch) {
            ++last;
        }
        const auto epoch = std::span(order).subspan(first, last - first);
        std::shuffle(epoch.begin(), epoch.end(), device_->generator_);
        for (std::size_t launch = first; launch < last; ++launch) { // in their order
            if (!launches_[launch].on_host || calls_[launch].groups == 0) continue;
            stamp(launch);
            device_->host_calls_.post({.run = [this, launch] { run(launch); }});
            joins = std::min(joins, launches_[launch].joins);
        }
        for (const std::size_t launch : epoch) {
            if (launches_[launch].on_host) continue;
            stamp(launch);
            run(launch);
        }
        first = last;
    }
    stamp(launches_.size());
}

void ReferenceRecording::run(std::size_t launch)
{
    const HostArguments& call = calls_[launch];
    if (call.groups == 0) {
        return;
    }
    check_operands(launch);
    const std::vector<std::size_t> before = hash_reads(launch);
    (*launches_[launch].kernel.host)(call.view());
    if (hash_reads(launch) != before) {
        reprise::detail::fail(ErrorKind::internal, "reference device", "Launch (", launch, ", ",
                              launches_[launch].kernel.name,
                              ") has changed an operand that it declares as read.");
    }
}

void ReferenceRecording::check_operands(std::size_t launch) const
{
    const HostArguments& call = calls_[launch];
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        const Operand& operand = call.operands[i];
        if (operand.address != 0 && !device_->arena_.holds(operand.address, operand.bytes)) {
            reprise::detail::fail(ErrorKind::internal, "reference device", "Operand (", i, ") of launch (",
                                  launch, ", ", launches_[launch].kernel.name, ") with (", operand.bytes,
                                  ") bytes lies outside every live allocation.");
        }
    }
}

// Hashes the operands that are declared as read and do not overlap an operand that is written.
std::vector<std::size_t> ReferenceRecording::hash_reads(std::size_t launch) const
{
    const HostArguments& call = calls_[launch];
    const std::vector<Access>& access = launches_[launch].operands;
    std::vector<std::size_t> hashes;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        bool checked = access[i] == Access::read && call.operands[i].address != 0;
        for (std::size_t k = 0; checked && k < call.operands.size(); ++k) {
            checked = access[k] == Access::read || !overlap(call.operands[i], call.operands[k]);
        }
        if (checked) {
            hashes.push_back(hash_bytes(call.operands[i]));
        }
    }
    return hashes;
}

Counters ReferenceDevice::counters() const
{
    Counters c;
    arena_.fill(c);
    c.recordings = recordings_;
    c.submits = c.replays = submits_;
    return c;
}

std::unique_ptr<Memory> ReferenceDevice::allocate(std::uint64_t bytes)
{
    health_.pass("allocate", "allocate");
    return std::make_unique<ReferenceMemory>(shared_from_this(), bytes);
}

std::unique_ptr<Memory> ReferenceDevice::allocate_readable(std::uint64_t bytes) { return allocate(bytes); }

void ReferenceDevice::require_held(const char* op, Address address, std::uint64_t bytes) const
{
    health_.require_alive(op);
    if (bytes > 0 && !arena_.holds(address, bytes)) {
        reprise::detail::fail(ErrorKind::internal, op, "The (", bytes, ") bytes at address (", address,
                              ") lie outside every live allocation.");
    }
}

void ReferenceDevice::upload(Address to, std::span<const std::byte> from)
{
    require_held("upload", to, from.size());
    const std::lock_guard lock(run_);
    if (!from.empty()) {
        std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), from.data(), from.size());
    }
}

void ReferenceDevice::download(Address from, std::span<std::byte> to)
{
    health_.pass("wait", "download");
    require_held("download", from, to.size());
    const std::lock_guard lock(run_);
    if (!to.empty()) {
        std::memcpy(to.data(), reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from)), to.size());
    }
}

std::unique_ptr<Recording> ReferenceDevice::record(std::span<const LaunchDeclaration> launches,
                                                   const RecordingOptions& options)
{
    health_.pass("record", "record");
    ++recordings_;
    return std::make_unique<ReferenceRecording>(shared_from_this(), launches, options);
}

} // namespace

Capabilities reference_capabilities()
{
    Capabilities c;
    c.id = "reference";
    c.name = "reference";
    c.driver = "plain C++, in double precision";
    c.kind = Kind::host;
    c.memory_bytes = c.memory_limit = std::uint64_t{16} << 30;
    c.host_kernels = true;
    c.subgroup_shuffle = true;
    c.float16 = c.float64 = c.int64 = true;
    c.timestamps = true;
    c.shader_class = "host";
    return c;
}

std::shared_ptr<Device> make_reference_device(std::uint64_t seed)
{
    return std::make_shared<ReferenceDevice>(seed);
}

} // namespace reprise::device
