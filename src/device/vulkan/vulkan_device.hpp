// The Vulkan implementation of the interface in device/device.hpp.
#pragma once
#include "device/vulkan/context.hpp"
#include "device/vulkan/probe.hpp"

namespace reprise::device::vulkan {

class VulkanDevice : public DeviceWithHealth, public std::enable_shared_from_this<VulkanDevice> {
public:
    VulkanDevice(std::shared_ptr<Instance>, const PhysicalDevice&, const std::string& id,
                 const DeviceOptions&, const ExternalVulkan* external = nullptr);

    const Capabilities& capabilities() const override { return capabilities_; }
    Counters counters() const override;
    std::unique_ptr<Memory> allocate(std::uint64_t bytes) override;
    std::unique_ptr<Memory> allocate_readable(std::uint64_t bytes) override;
    void set_memory_limit(std::uint64_t bytes) override { context_.memory.set_limit(bytes); }
    void reset_peak() override { context_.memory.reset_peak(); }
    void upload(Address to, std::span<const std::byte> from) override { context_.transfers.upload(to, from); }
    void download(Address from, std::span<std::byte> to) override { context_.transfers.download(from, to); }
    void download_result(Address from, std::span<std::byte> to, Ticket by) override
    {
        context_.transfers.download_result(from, to, by);
    }
    std::unique_ptr<Recording> record(std::span<const LaunchDeclaration>, const RecordingOptions&) override;
    void register_kernel(const std::string& name, std::vector<std::uint32_t> words) override
    {
        context_.pipelines.register_kernel(name, std::move(words));
    }
    Ticket submitted() const override { return context_.queue.submitted(); }
    bool done(Ticket ticket) override { return context_.queue.done(ticket); }
    void wait(Ticket ticket) override { context_.queue.wait(ticket); }
    void wait_idle() override { context_.drain(); }
    void set_slice(std::optional<std::chrono::nanoseconds> slice) override
    {
        context_.queue.set_slice(slice);
    }
    bool advance() override { return context_.queue.advance(); }
    std::chrono::nanoseconds slice_left() override { return context_.queue.slice_left(); }
    std::size_t cancel() override { return context_.queue.cancel(); }
    bool dropped(Ticket ticket) const override { return context_.queue.dropped(ticket); }
    void close() override { context_.close(); }
    void abandon() noexcept override { context_.abandon(); }

    Context& context() noexcept { return context_; } // for tests
    void measured(const ProbeResults&);              // completes the capabilities when the device is opened

private:
    Health& health() const override { return context_.device.health; }
    std::shared_ptr<Context> shared_context() { return {shared_from_this(), &context_}; }

    Context context_;
    Capabilities capabilities_;
};

// Lists the devices, best first.  Throws Error(device) if there is no Vulkan at all.
std::vector<Listed> find_devices();
// Throws Error(device) for a number that does not exist or is refused.
std::shared_ptr<Device> open_device(std::size_t number, const DeviceOptions&);

} // namespace reprise::device::vulkan
