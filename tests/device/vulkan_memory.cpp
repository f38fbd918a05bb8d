#include "vulkan_fixture.hpp"
#include <cstring>
#include <random>
#include <set>
#include <thread>

namespace reprise::device::vulkan {
namespace {

class VulkanMemory : public VulkanTest {};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanMemory, testing::Bool(), memory_name);

std::vector<std::uint8_t> noise(std::size_t bytes, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<std::uint8_t> values(bytes);
    for (auto& v : values) {
        v = static_cast<std::uint8_t>(random());
    }
    return values;
}

TEST_P(VulkanMemory, CapabilitiesAreWhatTheDriverIs)
{
    const Capabilities& c = capabilities();
    EXPECT_TRUE(c.computes);
    EXPECT_FALSE(c.host_kernels);
    EXPECT_FALSE(c.name.empty());
    EXPECT_GT(c.subgroup_size, 0u);
    EXPECT_EQ(c.memory_limit, c.memory_bytes / 10 * 9);
    if (c.shader_class == "lavapipe") {
        EXPECT_EQ(c.slab_bytes, 2048 * mebi);
        EXPECT_TRUE(c.texel_view && c.subgroup_shuffle);
        EXPECT_NE(c.prefer_texels, c.force_gpu_kernels);
        EXPECT_EQ(c.window_bytes, 128 * mebi);
    }
    if (c.shader_class == "swiftshader") {
        EXPECT_EQ(c.slab_bytes, 128 * mebi);
        EXPECT_FALSE(c.texel_view || c.prefer_texels || c.float16 || c.float64 || c.int64);
    }
}

TEST_P(VulkanMemory, RoundTripsOfEverySize)
{
    for (const std::size_t bytes :
         {1u, 3u, 4u, 15u, 16u, 17u, 255u, 4096u, 65537u, 4u << 20, (40u << 20) + 1}) {
        const auto memory = device_->allocate(bytes);
        EXPECT_EQ(memory->address % 256, 0u);
        const auto values = noise(bytes, static_cast<unsigned>(bytes));
        upload(*device_, memory->address, values);
        EXPECT_TRUE(download<std::uint8_t>(*device_, memory->address, bytes) == values) << bytes << " bytes";
    }
}

TEST_P(VulkanMemory, PartsOfATensorAreReached)
{
    const auto memory = device_->allocate(1000);
    upload(*device_, memory->address, std::vector<std::uint8_t>(1000, 1));
    upload(*device_, memory->address + 501, std::vector<std::uint8_t>(7, 2));
    const auto all = download<std::uint8_t>(*device_, memory->address, 1000);
    EXPECT_EQ(std::count(all.begin(), all.end(), 2), 7);
    EXPECT_EQ(all[500], 1);
    EXPECT_EQ(download<std::uint8_t>(*device_, memory->address + 507, 2), (std::vector<std::uint8_t>{2, 1}));
}

TEST_P(VulkanMemory, LaterUploadsToOnePlaceWin)
{
    const auto memory = device_->allocate(4096);
    const auto busy = device_->record(std::vector{affine_launch()}, {});
    for (int round = 0; round < 20; ++round) {
        busy->begin();
        set_affine(*busy, 0, operand(*memory), 1, 0, 1024);
        busy->submit(); // something in flight, so that uploads are staged
        for (int k = 0; k < 100; ++k) {
            upload(*device_, memory->address + 16 * static_cast<unsigned>(k % 7),
                   std::vector<int>(8, 100 * round + k));
        }
        upload(*device_, memory->address, std::vector<int>(1024, round));
        EXPECT_EQ(download<int>(*device_, memory->address, 1024), std::vector<int>(1024, round));
    }
}

TEST_P(VulkanMemory, UploadsAreOrderedWithSubmissions)
{
    const auto x = device_->allocate(4096), y = device_->allocate(4096);
    const auto recording = device_->record(std::vector{saxpy_launch()}, {});
    upload(*device_, y->address, std::vector<float>(1024, 0.0f));
    for (int i = 1; i <= 50; ++i) { // each call sees the x that was uploaded right before it
        upload(*device_, x->address, std::vector<float>(1024, static_cast<float>(i)));
        recording->begin();
        set_saxpy(*recording, 0, *x, *y, 1, 1024);
        recording->submit();
    }
    EXPECT_EQ(download<float>(*device_, y->address, 1024), std::vector<float>(1024, 1275.0f));
}

TEST_P(VulkanMemory, FreedRangesAreUsedAgain)
{
    std::set<Address> seen;
    for (int i = 0; i < 100; ++i) {
        seen.insert(device_->allocate(mebi)->address);
    }
    EXPECT_LE(seen.size(), 2u);
    EXPECT_EQ(device_->counters().live_bytes, 0u);
    EXPECT_EQ(device_->counters().peak_bytes, mebi);
    EXPECT_GE(device_->counters().allocations, 100u);
}

TEST_P(VulkanMemory, FreedRangesInFlightAreSafe)
{
    const auto sum = device_->allocate(256);
    upload(*device_, sum->address, std::vector<float>(64, 0.0f));
    const auto recording = device_->record(std::vector{saxpy_launch()}, {});
    for (int i = 0; i < 40; ++i) { // x is freed at once, and its range holds the next x
        const auto x = device_->allocate(256);
        upload(*device_, x->address, std::vector<float>(64, static_cast<float>(i)));
        recording->begin();
        set_saxpy(*recording, 0, *x, *sum, 1, 64);
        recording->submit();
    }
    EXPECT_EQ(download<float>(*device_, sum->address, 64), std::vector<float>(64, 780.0f));
}

TEST_P(VulkanMemory, LimitIsAnErrorThatChangesNothing)
{
    device_->set_memory_limit(10 * mebi);
    EXPECT_EQ(device_->counters().memory_limit, 10 * mebi);
    const auto kept = device_->allocate(6 * mebi);
    try {
        device_->allocate(5 * mebi);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        EXPECT_NE(std::string(error.what()).find("5 MiB"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("10 MiB"), std::string::npos) << error.what();
    }
    EXPECT_EQ(device_->counters().live_bytes, 6 * mebi);
    EXPECT_NO_THROW(device_->allocate(4 * mebi));
    expect_error(ErrorKind::out_of_memory, [&] { device_->allocate(~std::uint64_t{0}); });
    expect_error(ErrorKind::out_of_memory, [&] { device_->allocate(std::uint64_t{1} << 50); });
}

TEST_P(VulkanMemory, FurtherBlocksFollowTheSlab)
{
    options_.slab_bytes = 64 * mebi;
    device_.reset();
    reopen();
    ASSERT_EQ(capabilities().slab_bytes, 64 * mebi);
    const auto in_slab = device_->allocate(60 * mebi), beyond = device_->allocate(8 * mebi);
    EXPECT_LT(in_slab->address - capabilities().slab_address, capabilities().slab_bytes);
    EXPECT_GE(beyond->address - capabilities().slab_address, capabilities().slab_bytes);
    const auto values = noise(8 * mebi, 5);
    upload(*device_, beyond->address, values);
    EXPECT_TRUE(download<std::uint8_t>(*device_, beyond->address, 8 * mebi) == values);
    // Kernels reach it by address.
    const auto recording = device_->record(std::vector{affine_launch()}, {});
    upload(*device_, beyond->address, std::vector<float>(100, 3.0f));
    recording->begin();
    set_affine(*recording, 0, operand(*beyond), 2, 1, 100);
    recording->submit();
    EXPECT_EQ(download<float>(*device_, beyond->address, 100), std::vector<float>(100, 7.0f));
    context().memory.verify();
}

TEST_P(VulkanMemory, EmptyBlocksMakeRoomForALargerOne)
{
    options_.slab_bytes = 64 * mebi;
    options_.heap_bytes = 2048 * mebi;
    device_.reset();
    reopen();
    ASSERT_LE(capabilities().memory_bytes, options_.heap_bytes);
    const std::uint64_t large = 640 * mebi; // two of them and the slab pass the heap with a third
    for (int i = 0; i < 5; ++i) {
        const auto a = device_->allocate(large),
                   b = device_->allocate(large + static_cast<unsigned>(i) * 16 * mebi);
        upload(*device_, b->address + large - 4, std::vector<int>{i});
        EXPECT_EQ(download<int>(*device_, b->address + large - 4, 1), std::vector<int>{i});
    }
    EXPECT_LE(context().memory.usage().reserved, capabilities().memory_bytes);
}

TEST_P(VulkanMemory, BlocksThatCouldNotGoAreNotFoundAgain)
{
    options_.slab_bytes = 64 * mebi;
    options_.heap_bytes = 2048 * mebi;
    device_.reset();
    reopen();
    ASSERT_LE(capabilities().memory_bytes, options_.heap_bytes);
    {
        const auto a = device_->allocate(640 * mebi), b = device_->allocate(704 * mebi);
        upload(*device_, b->address, std::vector<int>{1});
    }
    device_->fail_next("submit", 1, Device::Fault::out_of_memory); // of the upload that waits
    if (context().device.imitates_discrete()) {
        expect_error(ErrorKind::out_of_memory, [&] { device_->allocate(1000 * mebi); });
    }
    device_->clear_faults();
    const auto c = device_->allocate(1000 * mebi), d = device_->allocate(300 * mebi);
    for (const auto* memory : {&c, &d}) {
        upload(*device_, (*memory)->address + 200 * mebi, std::vector<int>{5});
        EXPECT_EQ(download<int>(*device_, (*memory)->address + 200 * mebi, 1), std::vector<int>{5});
    }
    context().memory.verify();
}

TEST_P(VulkanMemory, ReadableMemoryNeedsNoDownload)
{
    const auto out = device_->allocate_readable(1024);
    ASSERT_NE(out->host, nullptr);
    upload(*device_, out->address, std::vector<float>(256, 1.0f));
    const auto recording = device_->record(std::vector{affine_launch()}, {});
    recording->begin();
    set_affine(*recording, 0, operand(*out), 5, 2, 256);
    device_->wait(recording->submit());
    std::vector<float> seen(256);
    std::memcpy(seen.data(), out->host, 1024);
    EXPECT_EQ(seen, std::vector<float>(256, 7.0f));
    EXPECT_EQ(download<float>(*device_, out->address, 256), seen);
}

TEST_P(VulkanMemory, ForeignAddressesAreRefused)
{
    expect_error(ErrorKind::internal, [&] { upload(*device_, 16, std::vector<int>{1}); });
    expect_error(ErrorKind::internal, [&] { download<int>(*device_, ~Address{0} - 64, 1); });
}

TEST_P(VulkanMemory, ThreadsShareADevice)
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this, t] {
            const auto x = device_->allocate(4096), y = device_->allocate(4096);
            const auto recording = device_->record(std::vector{saxpy_launch()}, {});
            upload(*device_, y->address, std::vector<float>(1024, 0.0f));
            for (int i = 0; i < 30; ++i) {
                upload(*device_, x->address, std::vector<float>(1024, static_cast<float>(t + i)));
                recording->begin();
                set_saxpy(*recording, 0, *x, *y, 2, 1024);
                recording->submit();
                const auto temporary = device_->allocate(1000 + static_cast<unsigned>(i) * 300);
            }
            const float expected = 2.0f * static_cast<float>(30 * t + 435);
            EXPECT_EQ(download<float>(*device_, y->address, 1024), std::vector<float>(1024, expected));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace
} // namespace reprise::device::vulkan
