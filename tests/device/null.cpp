#include "device/null/null_device.hpp"
#include "device_test_tools.hpp"

namespace reprise::device {
namespace {

TEST(NullDevice, AcceptsEverythingAndComputesNothing)
{
    const auto device = make_null_device();
    EXPECT_FALSE(device->capabilities().computes);
    const auto memory = device->allocate(1000);
    EXPECT_EQ(memory->address % 256, 0u);
    const std::vector<LaunchDeclaration> launches{{{"anything", {}, nullptr}, {Access::write}, 1, 1, 0}};
    const auto recording = device->record(launches, {});
    const std::vector<Operand> operands{operand(*memory)};
    const double f = 1;
    const std::int32_t n = 1;
    for (int i = 0; i < 3; ++i) {
        recording->begin();
        recording->set(0, {operands, {&f, 1}, {&n, 1}, 5});
        EXPECT_TRUE(device->done(recording->submit()));
    }
    EXPECT_EQ(device->counters().recordings, 1u);
    EXPECT_EQ(device->counters().replays, 3u);
    EXPECT_EQ(download<float>(*device, memory->address, 4), std::vector<float>(4, 0.0f));
}

TEST(NullDevice, ImitatesTheSlabsOfDrivers)
{
    const auto lavapipe = make_null_device({.imitate = "lavapipe"});
    const Capabilities& c = lavapipe->capabilities();
    EXPECT_EQ(c.shader_class, "lavapipe");
    EXPECT_TRUE(c.texel_view && c.prefer_texels);
    EXPECT_EQ(c.slab_bytes, std::uint64_t{2} << 30);
    const auto memory = lavapipe->allocate(100);
    EXPECT_LT(memory->address - c.slab_address, c.slab_bytes);
    const auto a = lavapipe->allocate(std::uint64_t{100} << 20),
               b = lavapipe->allocate(std::uint64_t{100} << 20);
    EXPECT_NE((a->address - c.slab_address) / c.window_bytes, (b->address - c.slab_address) / c.window_bytes);
    EXPECT_FALSE(make_null_device({.imitate = "swiftshader"})->capabilities().texel_view);
    expect_error(ErrorKind::argument, [] { make_null_device({.imitate = "toaster"}); });
}

TEST(NullDevice, HasALimitAndFaults)
{
    const auto device = make_null_device();
    device->set_memory_limit(1 << 20);
    const auto half = device->allocate(1 << 19);
    expect_error(ErrorKind::out_of_memory, [&] { device->allocate(1 << 20); });
    EXPECT_EQ(device->counters().live_bytes, std::uint64_t{1} << 19);
    device->fail_next("allocate", 2, Device::Fault::out_of_memory);
    const auto small = device->allocate(1);
    expect_error(ErrorKind::out_of_memory, [&] { device->allocate(1); });
    device->fail_next("record", 1, Device::Fault::lost);
    expect_error(ErrorKind::device_lost, [&] { device->record({}, {}); });
    expect_error(ErrorKind::device_lost, [&] { device->allocate(1); });
    EXPECT_TRUE(device->lost());
    expect_error(ErrorKind::argument, [&] { device->fail_next("dance", 1, Device::Fault::lost); });
}

} // namespace
} // namespace reprise::device
