// That the validation layer is really there, and that it has nothing to say about us.
#include "vulkan_fixture.hpp"

namespace reprise::device::vulkan {
namespace {

class VulkanValidation : public VulkanTest {
protected:
    void SetUp() override
    {
        options_.validation = true;
        VulkanTest::SetUp();
    }
};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanValidation, testing::Bool(), memory_name);

TEST_P(VulkanValidation, CanaryIsReported)
{
    VkBufferCreateInfo nothing{};
    nothing.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    nothing.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT; // and a size of 0
    VkBuffer buffer = VK_NULL_HANDLE;
    const LogicalDevice& device = context().device;
    device.vk.vkCreateBuffer(device.handle(), &nothing, nullptr, &buffer);
    device.vk.vkDestroyBuffer(device.handle(), buffer, nullptr);
    const std::lock_guard lock(mutex_);
    ASSERT_FALSE(messages_.empty()) << "the layer is not loaded";
    EXPECT_NE(messages_[0].find("VUID-VkBufferCreateInfo-size"), std::string::npos) << messages_[0];
    messages_.clear();
}

TEST_P(VulkanValidation, OtherwiseSilent) // the fixture fails for any message
{
    const auto a = device_->allocate(1 << 20), b = device_->allocate(1 << 20), c = device_->allocate(1 << 20);
    const auto readable = device_->allocate_readable(64);
    std::vector<LaunchDeclaration> list;
    for (std::uint32_t i = 0; i < 100; ++i) {
        list.push_back(affine_launch(i / 2, {i % 2}));
    }
    const bool texels = capabilities().texel_view;
    list.push_back({{texels ? "texel_add" : "window_add", {}, nullptr},
                    {Access::read, Access::read, Access::write},
                    0,
                    1,
                    50});
    for (const bool one_shot : {false, true}) {
        const auto recording = device_->record(list, {.timestamps = true, .one_shot = one_shot});
        for (int call = 0; call < (one_shot ? 1 : 5); ++call) {
            upload(*device_, a->address, std::vector<float>(1000, 1.0f));
            upload(*device_, a->address, std::vector<float>(1000, 2.0f));
            recording->begin();
            for (std::uint32_t i = 0; i < 100; ++i) {
                set_affine(*recording, i, operand(i % 2 == 0 ? *a : *b), 1, 0, i % 5 == 0 ? 0 : 1000);
            }
            const Operand operands[3] = {operand(*a), operand(*b), operand(*c)};
            const std::int32_t n = 250;
            recording->set(100, {operands, {}, {&n, 1}, 4});
            recording->submit();
        }
        download<float>(*device_, c->address, 1000);
        recording->times();
    }
    upload(*device_, readable->address, std::vector<int>{1});
    device_->wait_idle();
}

} // namespace
} // namespace reprise::device::vulkan
