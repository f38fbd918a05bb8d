#include "device/registry.hpp"
#include "device_test_tools.hpp"
#include <algorithm>

namespace reprise::device {
namespace {

bool vulkan_serves()
{
    const auto list = enumerate();
    return std::any_of(list.begin(), list.end(),
                       [](const Listed& l) { return l.id == "vulkan:0" && l.refused.empty(); });
}

TEST(Registry, ListsDevicesOrReasons)
{
    const std::vector<Listed> list = enumerate();
    ASSERT_GE(list.size(), 3u) << "Vulkan (or why not), reference, null";
    EXPECT_EQ(list[list.size() - 2].id, "reference");
    EXPECT_EQ(list.back().id, "null");
    for (const Listed& entry : list) {
        EXPECT_TRUE(!entry.refused.empty() || entry.capabilities.id == entry.id) << entry.id;
    }
    const auto rank = [](const Listed& l) { // discrete, integrated, virtual, CPU; refused ones last
        const Kind order[] = {Kind::discrete, Kind::integrated, Kind::virtual_gpu, Kind::cpu};
        return l.refused.empty() ? std::find(order, order + 4, l.capabilities.kind) - order : 5;
    };
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end() - 2,
                               [&](const Listed& a, const Listed& b) { return rank(a) < rank(b); }));
}

TEST(Registry, OneObjectForOneName)
{
    const auto a = open("reference"), b = open("reference");
    EXPECT_EQ(a, b);
    EXPECT_NE(open("null"), a);
    reset("reference");
    const auto c = open("reference");
    EXPECT_NE(c, a);
    EXPECT_NO_THROW(a->allocate(16)) << "who holds the old one keeps it";
}

TEST(Registry, VulkanStandsForTheBest)
{
    if (!vulkan_serves()) {
        EXPECT_EQ(default_id(), "reference");
        expect_error(ErrorKind::device, [] { open("vulkan"); });
        GTEST_SKIP() << enumerate().front().refused;
    }
    EXPECT_EQ(default_id(), "vulkan:0");
    const auto a = open("vulkan"), b = open("vulkan:0");
    EXPECT_EQ(a, b);
    EXPECT_EQ(a->capabilities().id, "vulkan:0");
}

TEST(Registry, MemoryKeepsItsDeviceAlive)
{
    if (!vulkan_serves()) {
        GTEST_SKIP() << enumerate().front().refused;
    }
    auto device = open("vulkan");
    const Device* const was = device.get();
    auto memory = device->allocate(100);
    device.reset();
    EXPECT_EQ(open("vulkan").get(), was);
    memory.reset();
}

TEST(Registry, ALostDeviceIsOpenedAnew)
{
    if (!vulkan_serves()) {
        GTEST_SKIP() << enumerate().front().refused;
    }
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

TEST(Registry, UnknownNamesGetTheList)
{
    for (const char* name : {"vulkan:99", "cuda:7", "", "vulcan"}) {
        try {
            open(name);
            FAIL() << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::device);
            EXPECT_NE(std::string(error.what()).find("reference"), std::string::npos) << error.what();
        }
    }
}

} // namespace
} // namespace reprise::device
