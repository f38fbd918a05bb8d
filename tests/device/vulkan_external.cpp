// Running on an instance, device and queue that the application has made.
#include <cstdio>
#include <cstdlib>

#include <reprise/ops.hpp>
#include <reprise/vulkan.hpp>

#include "application.hpp"

namespace reprise::device::vulkan {
namespace {

TEST_F(Application, LendsItsDevice)
{
    FeatureChain features = required_features(own_.instance, own_.physical_device);
    EXPECT_TRUE(features.v12.bufferDeviceAddress && features.v12.timelineSemaphore);
    make_device(features);
    own_.enabled = &features;
    int depth = 0, locked = 0;
    own_.lock_queue = [&] { ASSERT_EQ(depth++, 0); };
    own_.unlock_queue = [&] {
        --depth;
        ++locked;
    };
    {
        const auto device = open_external(own_, {.slab_bytes = std::uint64_t{64} << 20});
        EXPECT_GT(device->capabilities().window_bytes, 0u);
        compute(*device);
    }
    EXPECT_GE(locked, 2);
    EXPECT_EQ(functions_.vkDeviceWaitIdle(own_.device), VK_SUCCESS) << "the application's device lives on";
}

TEST_F(Application, MayEnableTheLeast)
{
    FeatureChain least;
    least.v12.bufferDeviceAddress = least.v12.timelineSemaphore = VK_TRUE;
    make_device(least);
    const auto device = open_external(own_, {.slab_bytes = std::uint64_t{64} << 20});
    EXPECT_EQ(device->capabilities().window_bytes, 0u) << "nothing may index the windows";
    EXPECT_FALSE(device->capabilities().float64 || device->capabilities().prefer_texels);
    compute(*device);
    LaunchDeclaration with_windows = affine_launch();
    with_windows.kernel = {"elementwise_add_fwd_plain", {0}, nullptr};
    expect_error(ErrorKind::unsupported, [&] { device->record(std::vector{with_windows}, {}); });
}

TEST_F(Application, IsToldWhatIsMissing)
{
    FeatureChain less;
    less.v12.bufferDeviceAddress = VK_TRUE;
    make_device(less);
    own_.enabled = &less;
    try {
        open_external(own_);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_NE(std::string(error.what()).find("timelineSemaphore"), std::string::npos) << error.what();
    }
    own_.enabled = nullptr;
    own_.queue_family = 1000;
    expect_error(ErrorKind::argument, [&] { open_external(own_); });
}

// What is destroyed of the application's device, by kind.
struct Destroyed {
    int buffers = 0, memories = 0, pipelines = 0, modules = 0, pools = 0, semaphores = 0;
} destroyed;

TEST_F(Application, DestroysItsDeviceAfterClose)
{
    FeatureChain features = required_features(own_.instance, own_.physical_device);
    make_device(features);
    own_.enabled = &features;
    const auto device = open_external(own_, {.slab_bytes = std::uint64_t{64} << 20});
    compute(*device);
    auto y = device->allocate(256);
    auto recording = device->record(std::vector{affine_launch()}, {});
    static VolkDeviceTable real;
    VolkDeviceTable& vk = static_cast<VulkanDevice&>(*device).context().device.vk;
    real = vk;
    destroyed = {};
    vk.vkDestroyBuffer = [](VkDevice d, VkBuffer b, const VkAllocationCallbacks* a) {
        ++destroyed.buffers;
        real.vkDestroyBuffer(d, b, a);
    };
    vk.vkFreeMemory = [](VkDevice d, VkDeviceMemory m, const VkAllocationCallbacks* a) {
        ++destroyed.memories;
        real.vkFreeMemory(d, m, a);
    };
    vk.vkDestroyPipeline = [](VkDevice d, VkPipeline p, const VkAllocationCallbacks* a) {
        ++destroyed.pipelines;
        real.vkDestroyPipeline(d, p, a);
    };
    vk.vkDestroyShaderModule = [](VkDevice d, VkShaderModule m, const VkAllocationCallbacks* a) {
        ++destroyed.modules;
        real.vkDestroyShaderModule(d, m, a);
    };
    vk.vkDestroyCommandPool = [](VkDevice d, VkCommandPool p, const VkAllocationCallbacks* a) {
        ++destroyed.pools;
        real.vkDestroyCommandPool(d, p, a);
    };
    vk.vkDestroySemaphore = [](VkDevice d, VkSemaphore s, const VkAllocationCallbacks* a) {
        ++destroyed.semaphores;
        real.vkDestroySemaphore(d, s, a);
    };
    const Counters before = device->counters();
    device->close();
    device->close(); // does nothing more
    EXPECT_GE(destroyed.buffers, 3) << "slab, records, staging";
    EXPECT_EQ(destroyed.memories, destroyed.buffers);
    EXPECT_EQ(destroyed.pipelines, static_cast<int>(before.pipelines));
    EXPECT_GE(destroyed.modules, static_cast<int>(before.shader_modules));
    EXPECT_GE(destroyed.pools, 1);
    EXPECT_EQ(destroyed.semaphores, 4) << "of the queue, of reads, of exchanges and of native code";
    functions_.vkDestroyDevice(own_.device, nullptr);
    own_.device = VK_NULL_HANDLE;

    expect_error(ErrorKind::device, [&] { device->allocate(256); });
    expect_error(ErrorKind::device, [&] { device->allocate_readable(256); });
    expect_error(ErrorKind::device, [&] { upload(*device, y->address, std::vector<float>(64, 1.0f)); });
    expect_error(ErrorKind::device, [&] { download<float>(*device, y->address, 64); });
    expect_error(ErrorKind::device, [&] { device->record(std::vector{affine_launch()}, {}); });
    expect_error(ErrorKind::device, [&] { recording->begin(); });
    expect_error(ErrorKind::device, [&] { recording->times(); });
    expect_error(ErrorKind::device, [&] { device->wait_idle(); });
    y = nullptr;
    recording = nullptr;
    EXPECT_EQ(destroyed.semaphores, 4) << "nothing reaches the driver any more";
}

// The library's default is a handle of its own, which the end of the process lets go of.
TEST_F(Application, MayForgetTheDefaultDevice)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    FeatureChain features = required_features(own_.instance, own_.physical_device);
    make_device(features);
    const auto leave_with_default = [&](bool reset) {
        {
            const reprise::Device lent =
                reprise::vulkan::make_device({.instance = own_.instance,
                                              .physical_device = own_.physical_device,
                                              .device = own_.device,
                                              .queue = own_.queue,
                                              .lock_queue = nullptr,
                                              .unlock_queue = nullptr});
            set_default_device(lent);
            if (sum(ones({4})).item<float>() != 4) std::exit(2);
        }
        if (reset) reset_default_device();
        // Objects of the library are left then, which the validation layer reports, as it should.
        else if (!std::freopen("/dev/null", "w", stdout)) std::exit(3);
        functions_.vkDestroyDevice(own_.device, nullptr);
        std::exit(0);
    };
    own_.enabled = &features;
    EXPECT_EXIT(leave_with_default(false), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(leave_with_default(true), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace reprise::device::vulkan
