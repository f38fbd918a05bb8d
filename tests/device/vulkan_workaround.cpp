// Each row of workarounds.cpp whose reason can be seen from here is seen to hold, and not to hold elsewhere.
#include "device/vulkan/capabilities.hpp"
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

TEST_P(VulkanWorkaround, AWrongSelectAndAFusedFmaAreFound)
{
    const PhysicalDevice& physical = context().device.physical();
    const ProbeResults found = probe(*device_, physical);
    EXPECT_THAT(capabilities().warnings, testing::IsSupersetOf(found.warnings)) << "found when it was opened";
    EXPECT_EQ(capabilities().flushes_subnormals, found.flushes_subnormals);
    EXPECT_EQ(capabilities().fuses_fma, found.fuses_fma);
    EXPECT_EQ(capabilities().unpacks_subnormals, found.unpacks_subnormals);
    device_->register_kernel("probe", code::wrong_select);
    const ProbeResults imitated = probe(*device_, physical);
    EXPECT_THAT(imitated.warnings, testing::ElementsAre(testing::HasSubstr("copysign")));
    EXPECT_TRUE(imitated.fuses_fma);
    EXPECT_FALSE(imitated.unpacks_subnormals);
}

// The text that corrects quotients runs on the simulated GPU; here its constant reaches a driver.
TEST_P(VulkanWorkaround, AConstantTellsShadersToRefineDivisions)
{
    const auto told = [&] {
        const auto y = device_->allocate(256);
        const LaunchDeclaration launch{{"refines", {}, nullptr}, {Access::write}, 0, 0, 0};
        const auto recording = device_->record({&launch, 1}, {});
        recording->begin();
        const Operand operands[1] = {operand(*y)};
        recording->set(0, {operands, {}, {}, 1});
        device_->wait(recording->submit());
        return download<float>(*device_, y->address, 1)[0];
    };
    const ProbeResults found = probe(*device_, context().device.physical());
    const bool refines = found.fuses_fma && !found.rounds_division;
    device_->register_kernel("refines", code::refines);
    EXPECT_EQ(told(), refines ? 1.0f : 0.0f);
    reopen();
    context().pipelines.refine_divisions(true);
    device_->register_kernel("refines", code::refines);
    EXPECT_EQ(told(), 1.0f);
}

// A device that lacks the mode SignedZeroInfNanPreserve gets modules without it.
TEST_P(VulkanWorkaround, WithoutThePreserveModeModulesRun)
{
    PhysicalDevice physical = context().device.physical();
    physical.v12.shaderSignedZeroInfNanPreserveFloat32 = VK_FALSE;
    physical.v12.shaderSignedZeroInfNanPreserveFloat64 = VK_FALSE;
    EXPECT_THAT(widths_without_preserve_mode(physical), testing::ElementsAre(32, 64));
    EXPECT_THAT(capabilities_of(physical, "vulkan:0").warnings,
                testing::Contains(testing::HasSubstr("shaderSignedZeroInfNanPreserveFloat32")));
    const auto device =
        std::make_shared<VulkanDevice>(Instance::make(options_), physical, "vulkan:0", options_);
    const ProbeResults as_opened = probe(*device_, physical), found = probe(*device, physical);
    EXPECT_EQ(found.flushes_subnormals, as_opened.flushes_subnormals);
    EXPECT_EQ(found.warnings, as_opened.warnings);
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
