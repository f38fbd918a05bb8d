#include "device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>

#include <reprise/error.hpp>

#include "device/embedded_kernels.hpp"
#include "device/health.hpp"
#include "device/null/null_device.hpp"
#include "device/records.hpp"
#include "device/suballocator.hpp"

namespace reprise::simulator {

using device::Address;
using device::Ticket;

namespace {

std::byte* pointer(Address address)
{
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

device::Capabilities capabilities_of(const Options& options)
{
    device::Capabilities c = device::null_capabilities({.imitate = "gpu"});
    c.id = "simulated:" + std::to_string(options.subgroup_size);
    c.name = "simulated GPU";
    c.driver = "interprets SPIR-V";
    c.computes = true;
    c.memory_bytes = c.memory_limit = std::uint64_t{16} << 30;
    c.subgroup_size = options.subgroup_size;
    c.float16 = c.float64 = c.int64 = c.half_access = true;
    c.fuses_fma = true;
    c.f16_matrix_side = c.bf16_matrix_side = 0;
    c.slab_address = c.slab_bytes = c.window_bytes = 0;
    c.texel_view = false;
    return c;
}

class SimulatedDevice : public Simulator, public std::enable_shared_from_this<SimulatedDevice> {
public:
    explicit SimulatedDevice(const Options& options)
        : options_(options), capabilities_(capabilities_of(options)), limit_(capabilities_.memory_limit)
    {}

    const device::Capabilities& capabilities() const override { return capabilities_; }
    device::Counters counters() const override;
    std::unique_ptr<device::Memory> allocate(std::uint64_t bytes) override;
    std::unique_ptr<device::Memory> allocate_readable(std::uint64_t bytes) override
    {
        return allocate(bytes);
    }
    void set_memory_limit(std::uint64_t bytes) override { limit_ = bytes; }
    void reset_peak() override { peak_ = live_.load(); }
    void upload(Address to, std::span<const std::byte> from) override
    {
        health_.require_alive("upload");
        const std::lock_guard lock(run_);
        if (!from.empty()) std::memcpy(pointer(to), from.data(), from.size());
    }
    void download(Address from, std::span<std::byte> to) override
    {
        health_.pass("wait", "download");
        const std::lock_guard lock(run_);
        if (!to.empty()) std::memcpy(to.data(), pointer(from), to.size());
    }
    std::unique_ptr<device::Recording> record(std::span<const device::LaunchDeclaration>,
                                              const device::RecordingOptions&) override;
    void register_kernel(const std::string& name, std::vector<std::uint32_t> words) override
    {
        const std::lock_guard lock(run_);
        registered_[name] = std::move(words);
        std::erase_if(kernels_, [&](const auto& kernel) { return kernel.first.first == name; });
    }
    Ticket submitted() const override { return submits_; }
    bool done(Ticket) override
    {
        health_.require_alive("done");
        return true;
    }
    void wait(Ticket) override { health_.pass("wait", "wait"); }
    void wait_idle() override { health_.pass("wait", "wait_idle"); }
    void fail_next(const std::string& kind, std::uint32_t n, Fault fault) override
    {
        health_.fail_next(kind, n, fault);
    }
    void clear_faults() override { health_.clear_faults(); }
    bool lost() const override { return health_.lost(); }
    void close() override { health_.set_closed(); } // memory is freed with its holders

    std::vector<const Counted*> counted() const override;
    void clear_counts() override { counted_.clear(); }

private:
    friend class SimulatedRecording;
    friend class SimulatedMemory;
    using Key = std::pair<std::string, std::vector<std::uint32_t>>;
    std::shared_ptr<Program> program(const device::Kernel&);
    void run(const device::LaunchDeclaration&, Program&, std::span<const device::Operand>,
             std::span<const std::byte> record, std::uint64_t groups);

    Options options_;
    device::Capabilities capabilities_;
    mutable device::Health health_;
    std::mutex run_; // one submission at a time
    std::map<std::string, std::vector<std::uint32_t>> registered_;
    std::map<Key, std::shared_ptr<Program>> kernels_;
    std::map<Key, Counted> counted_;
    std::atomic<std::uint64_t> limit_, live_ = 0, peak_ = 0, allocations_ = 0, recordings_ = 0, submits_ = 0;
};

class SimulatedMemory : public device::Memory {
public:
    SimulatedMemory(std::shared_ptr<SimulatedDevice> device, std::uint64_t size)
        : device_(std::move(device)), taken_(device::SubAllocator::rounded(size)),
          storage_(std::calloc(taken_ + 256, 1))
    {
        if (!storage_) throw std::bad_alloc();
        address = (reinterpret_cast<std::uintptr_t>(storage_) + 255) / 256 * 256;
        bytes = size;
        host = pointer(address);
        // NaN, or a large index.  Counting runs don't depend on values: their memory stays zero, and takes no pages.
        if (!device_->options_.counts) std::memset(pointer(address), 0xFF, taken_);
        device_->live_ += taken_;
        device_->peak_ = std::max(device_->peak_.load(), device_->live_.load());
        ++device_->allocations_;
    }
    ~SimulatedMemory() override
    {
        device_->live_ -= taken_;
        std::free(storage_);
    }
    SimulatedMemory(const SimulatedMemory&) = delete;
    SimulatedMemory& operator=(const SimulatedMemory&) = delete;

private:
    std::shared_ptr<SimulatedDevice> device_;
    std::uint64_t taken_;
    void* storage_;
};

class SimulatedRecording : public device::Recording {
public:
    SimulatedRecording(std::shared_ptr<SimulatedDevice> device,
                       std::span<const device::LaunchDeclaration> launches)
        : device_(std::move(device)), launches_(launches.begin(), launches.end()), records_(launches),
          block_(records_.bytes()), groups_(launches.size()), operands_(launches.size())
    {
        for (const device::LaunchDeclaration& l : launches_) programs_.push_back(device_->program(l.kernel));
    }
    void begin() override
    {
        device_->health_.require_alive("begin");
        set_ = 0;
    }
    void set(std::uint32_t launch, const device::LaunchArguments& a) override
    {
        device::LaunchArguments with_tags = a;
        std::vector<device::Operand> tagged_operands(a.operands.begin(), a.operands.end());
        for (std::size_t i = 0; i < tagged_operands.size(); ++i)
            tagged_operands[i].address = tagged(tagged_operands[i].address, i);
        with_tags.operands = tagged_operands;
        records_.write(block_.data(), launch, with_tags);
        operands_[launch].assign(a.operands.begin(), a.operands.end());
        groups_[launch] = a.groups;
        ++set_;
    }
    Ticket submit() override
    {
        device_->health_.pass("submit", "submit");
        if (set_ < launches_.size()) device::fail_unset(set_, launches_.size());
        const std::lock_guard lock(device_->run_);
        std::vector<std::uint32_t> order(launches_.size());
        std::iota(order.begin(), order.end(), 0U);
        if (device_->options_.reverses)
            std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
                return launches_[a].epoch != launches_[b].epoch ? launches_[a].epoch < launches_[b].epoch
                                                                : a > b;
            });
        for (const std::uint32_t i : order) run(i);
        return ++device_->submits_;
    }
    Times times() override { return {}; }

private:
    void run(std::uint32_t launch)
    {
        const std::uint64_t begin = records_.offset(launch);
        const std::uint64_t end =
            launch + 1 < launches_.size() ? records_.offset(launch + 1) : records_.bytes();
        if (groups_[launch] > 0)
            device_->run(launches_[launch], *programs_[launch], operands_[launch],
                         std::span(block_).subspan(begin, end - begin), groups_[launch]);
    }

    std::shared_ptr<SimulatedDevice> device_;
    std::vector<device::LaunchDeclaration> launches_;
    device::Records records_;
    std::vector<std::byte> block_;
    std::vector<std::uint64_t> groups_;
    std::vector<std::vector<device::Operand>> operands_;
    std::vector<std::shared_ptr<Program>> programs_;
    std::size_t set_ = 0;
};

std::unique_ptr<device::Memory> SimulatedDevice::allocate(std::uint64_t bytes)
{
    health_.pass("allocate", "allocate");
    if (const std::uint64_t taken = device::SubAllocator::rounded(bytes); live_ + taken > limit_)
        device::fail_out_of_memory(
            bytes,
            {limit_, live_, peak_, live_, limit_ - std::min(limit_.load(), live_.load()), allocations_},
            capabilities_.name);
    return std::make_unique<SimulatedMemory>(shared_from_this(), bytes);
}

std::unique_ptr<device::Recording> SimulatedDevice::record(
    std::span<const device::LaunchDeclaration> launches, const device::RecordingOptions&)
{
    health_.pass("record", "record");
    ++recordings_;
    return std::make_unique<SimulatedRecording>(shared_from_this(), launches);
}

std::shared_ptr<Program> SimulatedDevice::program(const device::Kernel& kernel)
{
    const std::lock_guard lock(run_);
    std::shared_ptr<Program>& found = kernels_[{kernel.name, kernel.constants}];
    if (found) return found;
    std::vector<std::uint32_t> code;
    if (const auto own = registered_.find(kernel.name); own != registered_.end()) code = own->second;
    else if (kernel.code) code = *kernel.code;
    else if (const auto* embedded = device::embedded_kernel(kernel.name))
        code = device::unpack(*embedded->code);
    else reprise::detail::fail(ErrorKind::unsupported, "record", "There is no kernel (", kernel.name, ").");
    return found =
               std::make_shared<Program>(decode(kernel.name, code, kernel.constants, options_.subgroup_size));
}

void SimulatedDevice::run(const device::LaunchDeclaration& launch, Program& program,
                          std::span<const device::Operand> operands, std::span<const std::byte> record,
                          std::uint64_t groups)
{
    Counted* counted = nullptr;
    if (options_.counts) {
        const Key key{launch.kernel.name, launch.kernel.constants};
        counted = &counted_
                       .try_emplace(
                           key, Counted{key.first, key.second, 0, 0, KernelCounts(program.accesses.size())})
                       .first->second;
        ++counted->launches;
        counted->groups += groups;
    }
    Launch(program, launch.operands, operands, record, groups, options_, counted ? &counted->counts : nullptr)
        .run();
}

std::vector<const Counted*> SimulatedDevice::counted() const
{
    std::vector<const Counted*> found;
    for (const auto& [key, value] : counted_) found.push_back(&value);
    return found;
}

device::Counters SimulatedDevice::counters() const
{
    device::Counters c;
    c.recordings = recordings_;
    c.submits = c.replays = submits_;
    c.live_bytes = live_;
    c.peak_bytes = peak_;
    c.allocations = allocations_;
    c.memory_limit = limit_;
    return c;
}

} // namespace

std::shared_ptr<Simulator> make_simulator(const Options& options)
{
    return std::make_shared<SimulatedDevice>(options);
}

} // namespace reprise::simulator
