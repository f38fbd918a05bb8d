#include "device/cuda/cuda_device.hpp"
#include "device/cuda/recording.hpp"
#include <algorithm>
#include <cstring>
#include <reprise/error.hpp>

namespace reprise::device::cuda {

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20; // maximum of one copy of an upload

// Pinned host memory, which the device writes and the host reads.
class ReadableRange : public Memory {
public:
    ReadableRange(std::shared_ptr<Parts> parts, std::uint64_t size)
        : parts_(std::move(parts)), holder_(std::make_unique<RetiredSlice>(parts_->pinned.allocate(size)))
    {
        address = holder_->slice.address();
        bytes = size;
        host = holder_->slice.host();
    }
    ~ReadableRange() override { parts_->queue.retire(parts_->queue.submitted(), std::move(holder_)); }
    ReadableRange(const ReadableRange&) = delete;
    ReadableRange& operator=(const ReadableRange&) = delete;

private:
    std::shared_ptr<Parts> parts_;
    std::unique_ptr<RetiredSlice> holder_;
};

class CudaDevice : public DeviceWithHealth {
public:
    CudaDevice(const Driver& driver, int ordinal, const Capabilities& c)
        : capabilities_(c), parts_(std::make_shared<Parts>(driver, ordinal, c))
    {
        if (parts_->blas.usable()) capabilities_.product_library = product_library();
    }

    const Capabilities& capabilities() const override { return capabilities_; }
    Counters counters() const override;
    std::unique_ptr<Memory> allocate(std::uint64_t bytes) override
    {
        parts_->context.check("allocate", "allocate", [] { return CUDA_SUCCESS; });
        return std::make_unique<OwnedRange<Parts>>(parts_, bytes);
    }
    std::unique_ptr<Memory> allocate_readable(std::uint64_t bytes) override
    {
        parts_->context.check("allocate", "allocate", [] { return CUDA_SUCCESS; });
        return std::make_unique<ReadableRange>(parts_, bytes);
    }
    void set_memory_limit(std::uint64_t bytes) override { parts_->memory.set_limit(bytes); }
    void reset_peak() override { parts_->memory.reset_peak(); }
    void upload(Address to, std::span<const std::byte> from) override;
    void download(Address from, std::span<std::byte> to) override;
    std::unique_ptr<Recording> record(std::span<const LaunchDeclaration> launches,
                                      const RecordingOptions& options) override
    {
        parts_->context.check("record", "record", [] { return CUDA_SUCCESS; });
        return std::make_unique<CudaRecording>(parts_, launches, options);
    }
    void register_kernel(const std::string& name, std::vector<std::uint32_t> image) override
    {
        parts_->modules.add(name, std::move(image));
    }
    void with_context(const std::function<void()>& f) override
    {
        const Context::Current current(parts_->context);
        f();
    }
    void set_tensor_float32(bool allowed) override
    {
        parts_->blas.allow_tensor_float32(allowed && capabilities().compute_capability >= 80);
    }
    Ticket submitted() const override { return parts_->queue.submitted(); }
    bool done(Ticket ticket) override { return parts_->queue.done(ticket); }
    void wait(Ticket ticket) override { parts_->queue.wait(ticket); }
    void wait_idle() override
    {
        parts_->queue.wait(parts_->queue.submitted());
        parts_->queue.collect();
    }
    void close() override // memory is freed with its holders
    {
        if (!lost()) wait_idle();
        parts_->context.health.set_closed();
    }
    void abandon() noexcept override
    {
        parts_->host_calls.wait();
        parts_->queue.collect_all();
        parts_->context.abandon();
    }

private:
    Health& health() const override { return parts_->context.health; }

    Capabilities capabilities_;
    std::shared_ptr<Parts> parts_;
};

Counters CudaDevice::counters() const
{
    const SubAllocator::Usage usage = parts_->memory.usage();
    Counters c;
    c.recordings = parts_->recordings;
    c.transfers = parts_->transfers;
    c.pipelines = parts_->modules.functions();
    c.shader_modules = parts_->modules.loaded();
    c.submits = parts_->submits;
    c.replays = parts_->replays;
    c.captures = parts_->blas.captures();
    c.live_bytes = usage.live;
    c.peak_bytes = usage.peak;
    c.allocations = usage.allocations;
    c.memory_limit = usage.limit;
    return c;
}

void CudaDevice::upload(Address to, std::span<const std::byte> from)
{
    Context& context = parts_->context;
    context.health.require_alive("upload");
    for (std::uint64_t at = 0; at < from.size(); at += piece_bytes) {
        const std::uint64_t bytes = std::min<std::uint64_t>(piece_bytes, from.size() - at);
        auto staged = std::make_unique<RetiredSlice>(parts_->pinned.allocate(bytes));
        std::memcpy(staged->slice.host(), from.data() + at, bytes);
        const Context::Current current(context);
        Ticket ticket = 0;
        {
            const auto lock = parts_->queue.lock();
            context.call("cuMemcpyHtoDAsync", &Driver::cuMemcpyHtoDAsync, to + at, staged->slice.host(),
                         bytes, context.stream());
            ticket = parts_->queue.submitted_now();
        }
        ++parts_->transfers;
        parts_->queue.retire(ticket, std::move(staged));
    }
}

void CudaDevice::download(Address from, std::span<std::byte> to)
{
    Context& context = parts_->context;
    context.health.require_alive("download");
    if (to.empty()) return;
    const Context::Current current(context);
    try {
        Ticket ticket = 0;
        {
            const auto lock = parts_->queue.lock();
            context.check("submit", "cuMemcpyDtoHAsync", [&] {
                return context.driver.cuMemcpyDtoHAsync(to.data(), from, to.size(), context.stream());
            });
            ticket = parts_->queue.submitted_now();
        }
        ++parts_->transfers;
        parts_->queue.wait(ticket);
    } catch (...) {
        context.driver.cuStreamSynchronize(context.stream()); // `to` must outlive the copy
        throw;
    }
    parts_->queue.collect();
}

int attribute(const Driver& d, CUdevice device, CUdevice_attribute a)
{
    int value = 0;
    d.cuDeviceGetAttribute(&value, a, device);
    return value;
}

Listed inspect(const Driver& d, int ordinal)
{
    Listed found;
    Capabilities& c = found.capabilities;
    c.id = "cuda:" + std::to_string(ordinal);
    c.driver = "NVIDIA CUDA " + version_text(d.version);
    CUdevice device = 0;
    char name[256] = {};
    std::size_t bytes = 0;
    if (d.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
        d.cuDeviceGetName(name, sizeof name - 1, device) != CUDA_SUCCESS ||
        d.cuDeviceTotalMem(&bytes, device) != CUDA_SUCCESS) {
        found.refused = "the driver does not say what it is";
        return found;
    }
    const int major = attribute(d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const int minor = attribute(d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    c.name = name;
    c.kind = attribute(d, device, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0 ? Kind::integrated : Kind::discrete;
    c.memory_bytes = bytes;
    c.memory_limit = bytes / 10 * 9;
    c.subgroup_size = static_cast<std::uint32_t>(attribute(d, device, CU_DEVICE_ATTRIBUTE_WARP_SIZE));
    c.subgroup_shuffle = c.float16 = c.float64 = c.int64 = c.half_products = c.timestamps = true;
    c.half_access = c.unpacks_subnormals = true;
    c.shared_bytes =
        static_cast<std::uint32_t>(attribute(d, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    c.shader_class = "cuda";
    c.fuses_fma = true;
    c.compute_capability = static_cast<std::uint32_t>(10 * major + minor);
    c.bf16_products = c.compute_capability >= 80;
    if (c.compute_capability < 75) {
        found.refused = "it has compute capability " + std::to_string(major) + "." + std::to_string(minor) +
                        ", and kernels are compiled for 7.5 and later";
    }
    return found;
}

} // namespace

std::vector<Listed> find_devices()
{
    const auto& loaded = driver();
    if (const auto* reason = std::get_if<std::string>(&loaded))
        return {{.capabilities = {.id = "cuda", .name = "NVIDIA CUDA"}, .refused = *reason}};
    const Driver& d = std::get<Driver>(loaded);
    int count = 0;
    d.cuDeviceGetCount(&count);
    std::vector<Listed> list;
    for (int i = 0; i < count; ++i) list.push_back(inspect(d, i));
    return list;
}

std::string product_library() { return blas_version(); }

std::shared_ptr<Device> open_device(std::size_t number, const DeviceOptions&)
{
    const std::vector<Listed> list = find_devices();
    const auto* d = std::get_if<Driver>(&driver());
    if (number >= list.size() || !d || !list[number].refused.empty()) {
        reprise::detail::fail(ErrorKind::device, "open", "The device (cuda:", number, ") was not found",
                              number < list.size() ? ": " + list[number].refused : std::string(), ".");
    }
    return std::make_shared<CudaDevice>(*d, static_cast<int>(number), list[number].capabilities);
}

} // namespace reprise::device::cuda
