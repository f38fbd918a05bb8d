// The Vulkan device behind the interface of device/device.hpp.
#pragma once
#include "device/vulkan/context.hpp"

namespace reprise::device::vulkan {

class VulkanDevice : public Device, public std::enable_shared_from_this<VulkanDevice> {
public:
    VulkanDevice(std::shared_ptr<Instance>, const PhysicalDevice&, const std::string& id,
                 const DeviceOptions&, const ExternalVulkan* external = nullptr);

    const Capabilities& capabilities() const override { return capabilities_; }
    Counters counters() const override;
    std::unique_ptr<Memory> allocate(std::uint64_t bytes) override;
    std::unique_ptr<Memory> allocate_readable(std::uint64_t bytes) override;
    void set_memory_limit(std::uint64_t bytes) override;
    void reset_peak() override;
    void upload(Address to, std::span<const std::byte> from) override;
    void download(Address from, std::span<std::byte> to) override;
    std::unique_ptr<Recording> record(std::span<const LaunchDeclaration>, const RecordingOptions&) override;
    void register_kernel(const std::string& name, std::vector<std::uint32_t> words) override;
    bool done(Ticket) override;
    void wait(Ticket) override;
    void wait_idle() override;
    void fail_next(const std::string& kind, std::uint32_t n, Fault) override;
    void clear_faults() override;
    bool lost() const override { return context_.device.health.lost(); }
    void close() override { context_.close(); }
    void abandon() noexcept override { context_.abandon(); }

    Context& context() noexcept { return context_; } // for tests

private:
    std::shared_ptr<Context> shared_context() { return {shared_from_this(), &context_}; }

    Context context_;
    Capabilities capabilities_;
};

// The devices best first.  Throws Error(device) where there is no Vulkan at all.
std::vector<Listed> find_devices();
// Throws Error(device) for a number that is not there or refused.
std::shared_ptr<Device> open_device(std::size_t number, const DeviceOptions&);

} // namespace reprise::device::vulkan
