#include "device/null/null_device.hpp"
#include "device/health.hpp"
#include "device/native/tiles.hpp"
#include "device/suballocator.hpp"
#include <algorithm>
#include <reprise/error.hpp>

namespace reprise::device {

namespace {

constexpr Address first_address = Address{1} << 40; // not an address of host memory
constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

class NullDevice : public DeviceWithHealth, public std::enable_shared_from_this<NullDevice> {
public:
    explicit NullDevice(const NullOptions& options)
        : capabilities_(null_capabilities(options)), ranges_(capabilities_.memory_limit)
    {
        const std::uint64_t slab = capabilities_.slab_bytes;
        if (slab > 0) {
            ranges_.add_block(first_address, slab, capabilities_.window_bytes);
        }
        ranges_.add_block(first_address + slab, capabilities_.memory_bytes, 0);
    }

    const Capabilities& capabilities() const override { return capabilities_; }
    Counters counters() const override;
    std::unique_ptr<Memory> allocate(std::uint64_t bytes) override { return make_memory(bytes, false); }
    std::unique_ptr<Memory> allocate_readable(std::uint64_t bytes) override
    {
        return make_memory(bytes, true);
    }
    void set_memory_limit(std::uint64_t bytes) override { ranges_.set_limit(bytes); }
    void reset_peak() override { ranges_.reset_peak(); }
    void upload(Address, std::span<const std::byte>) override { health_.require_alive("upload"); }
    void download(Address, std::span<std::byte> to) override
    {
        health_.pass("wait", "download");
        std::fill(to.begin(), to.end(), std::byte{0});
    }
    std::unique_ptr<Recording> record(std::span<const LaunchDeclaration>, const RecordingOptions&) override;
    void register_kernel(const std::string&, std::vector<std::uint32_t>) override {}
    Ticket submitted() const override { return submits_; }
    bool done(Ticket) override
    {
        health_.require_alive("done");
        return true;
    }
    void wait(Ticket) override { health_.pass("wait", "wait"); }
    void wait_idle() override { health_.pass("wait", "wait_idle"); }
    void close() override { health_.set_closed(); } // memory is freed with its holders

private:
    friend class NullRecording;
    friend class NullMemory;
    Health& health() const override { return health_; }
    std::unique_ptr<Memory> make_memory(std::uint64_t bytes, bool readable);

    Capabilities capabilities_;
    mutable Health health_;
    SubAllocator ranges_;
    std::atomic<std::uint64_t> recordings_ = 0, submits_ = 0;
};

class NullMemory : public Memory {
public:
    NullMemory(std::shared_ptr<NullDevice> device, const SubAllocator::Allocation& allocation,
               std::uint64_t size, bool readable)
        : device_(std::move(device)), allocation_(allocation)
    {
        address = allocation.address;
        bytes = size;
        if (readable) {
            zeros_.resize(size);
            host = zeros_.data();
        }
    }
    ~NullMemory() override { device_->ranges_.release(allocation_); }
    NullMemory(const NullMemory&) = delete;
    NullMemory& operator=(const NullMemory&) = delete;

private:
    std::shared_ptr<NullDevice> device_;
    SubAllocator::Allocation allocation_;
    std::vector<std::byte> zeros_;
};

class NullRecording : public Recording {
public:
    NullRecording(std::shared_ptr<NullDevice> device, std::size_t launches)
        : device_(std::move(device)), launches_(launches)
    {}
    void begin() override
    {
        device_->health_.require_alive("begin");
        set_ = 0;
    }
    void set(std::uint32_t launch, const LaunchArguments&) override
    {
        if (launch >= launches_) {
            reprise::detail::fail(ErrorKind::internal, "set", "The recording has (", launches_,
                                  ") launches and no number (", launch, ").");
        }
        ++set_;
    }
    Ticket submit() override
    {
        device_->health_.pass("submit", "submit");
        if (set_ < launches_) fail_unset(set_, launches_);
        return ++device_->submits_;
    }
    Times times() override { return {}; }

private:
    std::shared_ptr<NullDevice> device_;
    std::size_t launches_, set_ = 0;
};

std::unique_ptr<Memory> NullDevice::make_memory(std::uint64_t bytes, bool readable)
{
    health_.pass("allocate", "allocate");
    const auto result = ranges_.allocate(bytes);
    if (const auto* allocation = std::get_if<SubAllocator::Allocation>(&result)) {
        return std::make_unique<NullMemory>(shared_from_this(), *allocation, bytes, readable);
    }
    fail_out_of_memory(bytes, ranges_.usage(), capabilities_.name);
}

std::unique_ptr<Recording> NullDevice::record(std::span<const LaunchDeclaration> launches,
                                              const RecordingOptions&)
{
    health_.pass("record", "record");
    ++recordings_;
    return std::make_unique<NullRecording>(shared_from_this(), launches.size());
}

Counters NullDevice::counters() const
{
    const SubAllocator::Usage usage = ranges_.usage();
    Counters c;
    c.recordings = recordings_;
    c.submits = c.replays = submits_;
    c.live_bytes = usage.live;
    c.peak_bytes = usage.peak;
    c.allocations = usage.allocations;
    c.memory_limit = usage.limit;
    return c;
}

} // namespace

Capabilities null_capabilities(const NullOptions& options)
{
    Capabilities c;
    c.id = "null";
    c.name = "computes nothing";
    if (options.imitate != "null") c.name += ", plans as for " + options.imitate;
    c.driver = "none";
    c.kind = Kind::null;
    c.computes = false;
    c.memory_bytes = c.memory_limit = options.memory_bytes;
    c.subgroup_shuffle = true;
    c.shader_class = options.imitate == "native" ? "lavapipe" : options.imitate;
    if (options.imitate == "native") c.native_from = native::default_native_from;
    if (c.shader_class == "lavapipe") {
        c.kind = Kind::cpu;
        c.subgroup_size = 8;
        c.float64 = c.int64 = true;
        c.slab_bytes = 2048 * mebi;
        c.texel_view = c.prefer_texels = true;
    } else if (options.imitate == "swiftshader") {
        c.kind = Kind::cpu;
        c.subgroup_size = 4;
        c.slab_bytes = 128 * mebi;
        c.flushes_subnormals = true;
    } else if (options.imitate == "gpu") {
        c.kind = Kind::discrete;
        c.subgroup_size = 32;
        c.shared_bytes = 32768;
        c.float16 = c.int64 = c.half_access = c.unpacks_subnormals = true;
        c.f16_matrix_side = c.bf16_matrix_side = 16;
        c.slab_bytes = 256 * mebi;
        c.texel_view = true;
    } else if (options.imitate != "null") {
        reprise::detail::fail(ErrorKind::argument, "null device",
                              "It imitates lavapipe, native, swiftshader, gpu or null, "
                              "not (",
                              options.imitate, ").");
    }
    if (c.slab_bytes > 0) {
        c.slab_address = first_address;
        c.window_bytes = 128 * mebi;
    }
    return c;
}

std::shared_ptr<Device> make_null_device(const NullOptions& options)
{
    return std::make_shared<NullDevice>(options);
}

} // namespace reprise::device
