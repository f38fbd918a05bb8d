#include "device/registry.hpp"
#include "device_test_tools.hpp"
#include <algorithm>

namespace reprise::device {
namespace {

TEST(Registry, ListsDevicesOrReasons)
{
    const std::vector<Listed> list = enumerate();
    ASSERT_GE(list.size(), 3u) << "Vulkan (or why not), reference, null";
    EXPECT_EQ(list[list.size() - 2].capabilities.id, "reference");
    EXPECT_EQ(list.back().capabilities.id, "null");
    for (const Listed& entry : list) {
        EXPECT_TRUE(!entry.refused.empty() || !entry.capabilities.id.empty());
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

TEST(Registry, UnknownNamesGetTheList)
{
    for (const char* name : {"vulkan:99", "cuda:7", "", "vulcan"}) {
        for (const std::function<void()>& call :
             {std::function<void()>([=] { open(name); }), std::function<void()>([=] { reset(name); })}) {
            try {
                call();
                ADD_FAILURE() << name;
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::device);
                EXPECT_NE(std::string(error.what()).find("reference"), std::string::npos) << error.what();
            }
        }
    }
}

} // namespace
} // namespace reprise::device
