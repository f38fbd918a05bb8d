// Each row of workarounds.cpp whose reason can be seen from here is seen to hold, and not to hold elsewhere.
#include "device/vulkan/probe.hpp"
#include "device/vulkan/workarounds.hpp"
#include "vulkan_fixture.hpp"
#include <cstring>
#include <gmock/gmock.h>

namespace reprise::device::vulkan {
namespace {

class VulkanWorkaround : public VulkanTest {};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanWorkaround, testing::Values(false), memory_name);

TEST(Workarounds, SayWhatWhyAndWhere)
{
    for (const Workaround& row : workarounds()) {
        EXPECT_TRUE(std::strlen(row.what) > 10 && std::strlen(row.why) > 10);
        EXPECT_EQ(std::string(row.link).rfind("https://", 0), 0u);
    }
}

TEST_P(VulkanWorkaround, FlushesSubnormals)
{
    const float subnormal = 1e-39f;
    const auto y = device_->allocate(256);
    upload(*device_, y->address, std::vector<float>(64, subnormal));
    const auto recording = device_->record(std::vector{affine_launch()}, {});
    recording->begin();
    set_affine(*recording, 0, operand(*y), 1, 0, 64);
    recording->submit();
    const float out = download<float>(*device_, y->address, 1)[0];
    if (capabilities().kind == Kind::cpu) {
        EXPECT_EQ(out, capabilities().flushes_subnormals ? 0.0f : subnormal);
    }
}

TEST_P(VulkanWorkaround, AWrongSelectIsFoundWhereDriversAreKnownToHaveIt)
{
    const PhysicalDevice& physical = context().device.physical();
    const std::vector<std::string> found = probe(*device_, physical), listed = capabilities().warnings;
    EXPECT_THAT(listed, testing::IsSupersetOf(found)) << "what was found when the device was opened";
    device_->register_kernel("probe_select", code::wrong_select);
    EXPECT_EQ(probe(*device_, physical).size(),
              has_quirk(physical, Quirk::miscompiles_signed_selects) ? 1U : 0U);
}

TEST_P(VulkanWorkaround, WritesWhatItAllocates)
{
    const std::size_t bytes = std::size_t{256} << 20, before = resident_bytes();
    if (before == 0 || capabilities().kind != Kind::cpu) {
        GTEST_SKIP() << "cannot be seen here";
    }
    const Buffer buffer(context().device, bytes, MemoryUse::device, "test");
    const bool grown = resident_bytes() > before + bytes / 2;
    EXPECT_EQ(grown, has_quirk(context().device.physical(), Quirk::writes_what_it_allocates));
}

TEST_P(VulkanWorkaround, TexelViewOfAllOfTheSlab)
{
    const std::uint64_t most =
        16 * std::uint64_t{context().device.physical().properties.limits.maxTexelBufferElements};
    EXPECT_EQ(capabilities().texel_view, capabilities().slab_bytes <= most);
    if (capabilities().shader_class == "swiftshader") {
        EXPECT_EQ(most, std::uint64_t{1} << 20) << "a larger slab view could be had now";
    }
}

} // namespace
} // namespace reprise::device::vulkan
