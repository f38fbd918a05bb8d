// What `reprise devices` prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../../tools/reprise/devices_text.hpp"

namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<reprise::DeviceDescription> two()
{
    reprise::DeviceDescription good, bad;
    good.name = "vulkan:0";
    good.description = "llvmpipe (LLVM 15.0.6, 256 bits)";
    good.driver = "llvmpipe 22.3.6";
    good.kind = "cpu";
    good.memory_bytes = std::uint64_t{3} << 30;
    good.subgroup_size = 8;
    good.capabilities = {"texel slab", "f64"};
    bad.description = "Old GPU";
    bad.kind = "integrated";
    bad.refused = "it has no bufferDeviceAddress";
    return {good, bad};
}

TEST(DevicesText, TellsEachDeviceAndEachRefusal)
{
    const std::string text = command::devices_text(two(), "vulkan:0");
    for (const char* part :
         {"vulkan:0  llvmpipe (LLVM 15.0.6, 256 bits)  [default]", "llvmpipe 22.3.6", "3.0 GiB",
          "texel slab, f64", "(refused)  Old GPU", "it has no bufferDeviceAddress"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(command::devices_text(two(), ""), Not(HasSubstr("[default]")));
    EXPECT_EQ(command::devices_text({}, ""), "");
}

TEST(DevicesText, IsJsonToo)
{
    const auto json = nlohmann::json::parse(command::devices_json(two(), "vulkan:0"));
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["name"], "vulkan:0");
    EXPECT_EQ(json[0]["default"], true);
    EXPECT_TRUE(json[0]["refused"].is_null());
    EXPECT_EQ(json[0]["memory_bytes"], std::uint64_t{3} << 30);
    EXPECT_EQ(json[0]["capabilities"].size(), 2u);
    EXPECT_TRUE(json[1]["name"].is_null());
    EXPECT_EQ(json[1]["default"], false);
    EXPECT_EQ(json[1]["kind"], "integrated");
    EXPECT_EQ(json[1]["refused"], "it has no bufferDeviceAddress");
    reprise::DeviceDescription unknown;
    unknown.description = "NVIDIA CUDA";
    unknown.refused = "NVIDIA's driver was not found";
    EXPECT_TRUE(nlohmann::json::parse(command::devices_json({unknown}, ""))[0]["kind"].is_null());
    EXPECT_EQ(nlohmann::json::parse(command::devices_json({}, "")), nlohmann::json::array());
}

TEST(DevicesText, Memory)
{
    EXPECT_EQ(command::memory_text(0), "0 B");
    EXPECT_EQ(command::memory_text(1023), "1023 B");
    EXPECT_EQ(command::memory_text(1536), "1.5 KiB");
    EXPECT_EQ(command::memory_text(std::uint64_t{139} << 30), "139.0 GiB");
    EXPECT_EQ(command::memory_text(std::uint64_t{1} << 62), "4194304.0 TiB");
}

} // namespace
