#include "device/registry.hpp"
#include "device_test_tools.hpp"

namespace reprise::device {
namespace {

class VulkanRegistry : public testing::Test {
protected:
    void SetUp() override
    {
        if (default_id() != "vulkan:0") {
            GTEST_SKIP() << enumerate().front().refused;
        }
    }
};

TEST_F(VulkanRegistry, VulkanStandsForTheBest)
{
    EXPECT_EQ(default_id(), "vulkan:0");
    const auto a = open("vulkan"), b = open("vulkan:0");
    EXPECT_EQ(a, b);
    EXPECT_EQ(a->capabilities().id, "vulkan:0");
}

TEST_F(VulkanRegistry, MemoryKeepsItsDeviceAlive)
{
    auto device = open("vulkan");
    const Device* const was = device.get();
    auto memory = device->allocate(100);
    device.reset();
    EXPECT_EQ(open("vulkan").get(), was);
    memory.reset();
}

TEST_F(VulkanRegistry, ALostDeviceIsOpenedAnew)
{
    const auto old = open("vulkan");
    old->fail_next("allocate", 1, Device::Fault::lost);
    expect_error(ErrorKind::device_lost, [&] { old->allocate(16); });
    EXPECT_TRUE(open("vulkan")->lost()) << "nobody has reset it";
    EXPECT_NO_THROW(open("reference")->allocate(16)) << "others work";
    reset("vulkan");
    const auto fresh = open("vulkan");
    EXPECT_FALSE(fresh->lost());
    const auto memory = fresh->allocate(16);
    upload(*fresh, memory->address, std::vector<int>{7});
    EXPECT_EQ(download<int>(*fresh, memory->address, 1), std::vector<int>{7});
}

} // namespace
} // namespace reprise::device
