// Tests on whichever Vulkan driver the environment selects (VK_DRIVER_FILES).  Each runs twice: as the
// device is, and as if its memory were not the host's.  Any message of a layer fails the test, so that the
// whole suite is a validation test when VK_INSTANCE_LAYERS names the layer.
#pragma once
#include "device/vulkan/buffer.hpp"
#include "device/vulkan/vulkan_device.hpp"
#include "device_test_tools.hpp"
#include <fstream>
#include <mutex>

namespace reprise::device::vulkan {

namespace code {
inline const std::vector<std::uint32_t> saxpy = {
#include "device_shaders/saxpy.inc"
};
inline const std::vector<std::uint32_t> affine = {
#include "device_shaders/affine.inc"
};
inline const std::vector<std::uint32_t> mark = {
#include "device_shaders/mark.inc"
};
inline const std::vector<std::uint32_t> texel_add = {
#include "device_shaders/texel_add.inc"
};
inline const std::vector<std::uint32_t> window_add = {
#include "device_shaders/window_add.inc"
};
inline const std::vector<std::uint32_t> wrong_select = {
#include "device_shaders/wrong_select.inc"
};
inline const std::vector<std::uint32_t> refines = {
#include "device_shaders/refines.inc"
};
} // namespace code

inline void register_all(Device& device)
{
    device.register_kernel("saxpy", code::saxpy);
    device.register_kernel("affine", code::affine);
    device.register_kernel("mark", code::mark);
    device.register_kernel("texel_add", code::texel_add);
    device.register_kernel("window_add", code::window_add);
}

inline LaunchDeclaration saxpy_launch(std::uint32_t epoch = 0)
{
    return {{"saxpy", {}, nullptr}, {Access::read, Access::read_write}, 1, 1, epoch};
}

inline LaunchDeclaration affine_launch(std::uint32_t epoch = 0, std::vector<std::uint32_t> constants = {})
{
    return {{"affine", std::move(constants), nullptr}, {Access::read_write}, 2, 1, epoch};
}

// y[0, n) += a * x[0, n)
inline void set_saxpy(Recording& recording, std::uint32_t launch, const Memory& x, const Memory& y, double a,
                      std::int32_t n)
{
    const Operand operands[2] = {operand(x), operand(y)};
    recording.set(launch, {operands, {&a, 1}, {&n, 1}, (static_cast<std::uint64_t>(n) + 63) / 64});
}

// y[0, n) = y[0, n) * m + a
inline void set_affine(Recording& recording, std::uint32_t launch, const Operand& y, double m, double a,
                       std::int32_t n)
{
    const double f[2] = {m, a};
    recording.set(launch, {{&y, 1}, f, {&n, 1}, (static_cast<std::uint64_t>(n) + 63) / 64});
}

class VulkanTest : public testing::TestWithParam<bool> {
protected:
    void SetUp() override
    {
        options_.imitate_discrete = GetParam();
        options_.messages = [this](const std::string& text) {
            const std::lock_guard lock(mutex_);
            messages_.push_back(text);
        };
        reopen();
    }

    // A VkDevice of this test's own.
    void reopen()
    {
        try {
            device_ = open_device(0, options_);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
        register_all(*device_);
        opened_ = device_->counters();
    }

    void TearDown() override
    {
        device_.reset();
        for (const std::string& text : messages_) {
            ADD_FAILURE() << text;
        }
    }

    Context& context() { return dynamic_cast<VulkanDevice&>(*device_).context(); }
    const Capabilities& capabilities() const { return device_->capabilities(); }

    DeviceOptions options_;
    std::shared_ptr<Device> device_;
    Counters opened_; // after the probe for faults of the driver
    std::mutex mutex_;
    std::vector<std::string> messages_;
};

// Of this process; 0 where the system does not tell.
inline std::size_t resident_bytes()
{
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * 4096;
}

inline std::string memory_name(const testing::TestParamInfo<bool>& info)
{
    return info.param ? "Staged" : "Native";
}

} // namespace reprise::device::vulkan
