#include "device/vulkan/vulkan_device.hpp"
#include "device/vulkan/one_shot.hpp"
#include "device/vulkan/recording.hpp"
#include <algorithm>
#include <bit>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {

using Range = OwnedRange<Context>;

// Readable memory on a device that is not unified: a slice of a readback buffer.
class ReadableRange : public Memory {
public:
    ReadableRange(std::shared_ptr<Context> context, std::uint64_t size)
        : context_(std::move(context)),
          holder_(std::make_unique<RetiredSlice>(context_->readback.allocate(size)))
    {
        const Slice& slice = holder_->slice;
        address = slice.address();
        bytes = size;
        host = slice.host();
        context_->memory.add_location(address, {buffer_of(slice), slice.offset(), size, slice.host(), true});
    }
    ~ReadableRange() override
    {
        context_->memory.remove_location(address);
        context_->queue.retire(context_->queue.submitted(), std::move(holder_)); // may free its buffer
    }
    ReadableRange(const ReadableRange&) = delete;
    ReadableRange& operator=(const ReadableRange&) = delete;

private:
    std::shared_ptr<Context> context_;
    std::unique_ptr<RetiredSlice> holder_;
};

Capabilities complete(Capabilities c, const Context& context)
{
    const Slab& slab = context.slab;
    const bool views = slab.has_texel_view() || slab.has_windows();
    c.slab_address = slab.buffer().address();
    c.slab_bytes = views ? slab.buffer().bytes() : 0;
    c.window_bytes = slab.has_windows() ? window_bytes : 0;
    c.texel_view = slab.has_texel_view();
    c.prefer_texels = c.prefer_texels && c.texel_view && slab.has_windows();
    if (std::bit_cast<std::uintptr_t>(slab.buffer().host()) != slab.buffer().address()) {
        c.native_from.reset(); // the host can't access memory at the addresses of operands
    }
    return c;
}

} // namespace

VulkanDevice::VulkanDevice(std::shared_ptr<Instance> instance, const PhysicalDevice& physical,
                           const std::string& id, const DeviceOptions& options,
                           const ExternalVulkan* external)
    : context_(std::move(instance), physical, options, external),
      capabilities_(complete(capabilities_of(physical, id), context_))
{}

Counters VulkanDevice::counters() const
{
    const SubAllocator::Usage usage = context_.memory.usage();
    Counters c;
    c.recordings = context_.arenas.begun().launches.load(std::memory_order_relaxed);
    c.transfers = context_.arenas.begun().copies.load(std::memory_order_relaxed);
    c.pipelines = context_.pipelines.pipelines();
    c.shader_modules = context_.pipelines.shader_modules();
    c.submits = context_.queue.submits();
    c.replays = context_.replays.load(std::memory_order_relaxed);
    c.live_bytes = usage.live;
    c.peak_bytes = usage.peak;
    c.allocations = usage.allocations;
    c.memory_limit = usage.limit;
    c.objects = static_cast<std::uint64_t>(context_.device.objects.load(std::memory_order_relaxed));
    return c;
}

std::unique_ptr<Memory> VulkanDevice::allocate(std::uint64_t bytes)
{
    context_.device.check("allocate", "allocate", [] { return VK_SUCCESS; });
    return std::make_unique<Range>(shared_context(), bytes);
}

std::unique_ptr<Memory> VulkanDevice::allocate_readable(std::uint64_t bytes)
{
    context_.device.check("allocate", "allocate", [] { return VK_SUCCESS; });
    if (!context_.device.unified()) {
        return std::make_unique<ReadableRange>(shared_context(), bytes);
    }
    auto range = std::make_unique<Range>(shared_context(), bytes);
    range->host = context_.memory.locate(range->address, bytes).host;
    return range;
}

std::unique_ptr<Recording> VulkanDevice::record(std::span<const LaunchDeclaration> launches,
                                                const RecordingOptions& options)
{
    context_.device.health.require_alive("record");
    const bool on_host =
        std::any_of(launches.begin(), launches.end(), [](const auto& l) { return l.on_host; });
    if (options.one_shot && !on_host) {
        return std::make_unique<OneShot>(shared_context(), launches, options);
    }
    return std::make_unique<VulkanRecording>(shared_context(), launches, options);
}

void VulkanDevice::measured(const ProbeResults& results)
{
    capabilities_.flushes_subnormals = results.flushes_subnormals;
    capabilities_.fuses_fma = results.fuses_fma;
    capabilities_.unpacks_subnormals = results.unpacks_subnormals;
    context_.pipelines.refine_divisions(results.fuses_fma && !results.rounds_division);
    capabilities_.warnings.insert(capabilities_.warnings.end(), results.warnings.begin(),
                                  results.warnings.end());
}

namespace {

void limit_heaps(PhysicalDevice& physical, const DeviceOptions& options)
{
    for (VkMemoryHeap& heap : physical.memory.memoryHeaps)
        if (options.heap_bytes > 0) heap.size = std::min(heap.size, options.heap_bytes);
}

std::shared_ptr<Device> probed(const std::shared_ptr<VulkanDevice>& device, const PhysicalDevice& physical)
{
    device->measured(probe(*device, physical));
    return device;
}

} // namespace

std::vector<Listed> find_devices()
{
    const std::shared_ptr<Instance> instance = Instance::make({});
    std::vector<Listed> list;
    for (const PhysicalDevice& physical : inspect_all(*instance)) {
        const std::string id = "vulkan:" + std::to_string(list.size());
        list.push_back({capabilities_of(physical, id), joined(physical.refusals)});
    }
    return list;
}

std::shared_ptr<Device> open_device(std::size_t number, const DeviceOptions& options)
{
    std::shared_ptr<Instance> instance = Instance::make(options);
    std::vector<PhysicalDevice> list = inspect_all(*instance);
    if (number >= list.size()) {
        reprise::detail::fail(ErrorKind::device, "open", "The device (vulkan:", number,
                              ") was not found: Vulkan has (", list.size(), ") devices.");
    }
    if (!list[number].refusals.empty()) {
        reprise::detail::fail(ErrorKind::device, "open", list[number].properties.deviceName,
                              " cannot be used. ", joined(list[number].refusals));
    }
    PhysicalDevice& physical = list[number];
    limit_heaps(physical, options);
    return probed(std::make_shared<VulkanDevice>(std::move(instance), physical,
                                                 "vulkan:" + std::to_string(number), options),
                  physical);
}

FeatureChain required_features(VkInstance instance, VkPhysicalDevice handle)
{
    const PhysicalDevice physical = inspect(*Instance::adopt(instance), handle);
    if (!physical.refusals.empty()) {
        reprise::detail::fail(ErrorKind::unsupported, "required_features", physical.properties.deviceName,
                              " cannot be used. ", joined(physical.refusals));
    }
    return physical.features.enabled();
}

std::shared_ptr<Device> open_external(const ExternalVulkan& external, const DeviceOptions& options)
{
    std::shared_ptr<Instance> instance = Instance::adopt(external.instance);
    PhysicalDevice physical = inspect(*instance, external.physical_device);
    physical.features.restrict_to(external.enabled);
    physical.matrices = {}; // the application has not enabled their extensions
    limit_heaps(physical, options);
    use_queue_family(*instance, physical, external.queue_family);
    if (!physical.refusals.empty() || !physical.features.missing().empty()) {
        reprise::detail::fail(ErrorKind::unsupported, "open", "The VkDevice on ",
                              physical.properties.deviceName, " cannot be used. ", joined(physical.refusals),
                              " Not enabled: (", joined(physical.features.missing()),
                              "). Ask required_features() first.");
    }
    return probed(
        std::make_shared<VulkanDevice>(std::move(instance), physical, "vulkan:external", options, &external),
        physical);
}

} // namespace reprise::device::vulkan
