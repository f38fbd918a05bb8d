// An application with an instance, a device and a queue of its own.
#pragma once
#include "vulkan_fixture.hpp"

namespace reprise::device::vulkan {

class Application : public testing::Test {
protected:
    void SetUp() override
    {
        if (volkInitialize() != VK_SUCCESS) {
            GTEST_SKIP() << "no Vulkan loader";
        }
        VkApplicationInfo application{};
        application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
        application.apiVersion = VK_API_VERSION_1_2;
        VkInstanceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        info.pApplicationInfo = &application;
        if (vkCreateInstance(&info, nullptr, &own_.instance) != VK_SUCCESS) {
            GTEST_SKIP() << "no Vulkan driver";
        }
        volkLoadInstanceOnly(own_.instance);
        std::uint32_t count = 1;
        vkEnumeratePhysicalDevices(own_.instance, &count, &own_.physical_device);
        ASSERT_EQ(count, 1u);
    }

    void make_device(FeatureChain& features)
    {
        const float priority = 1;
        VkDeviceQueueCreateInfo queue{};
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        VkDeviceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        info.pNext = features.head();
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
        ASSERT_EQ(vkCreateDevice(own_.physical_device, &info, nullptr, &own_.device), VK_SUCCESS);
        volkLoadDeviceTable(&functions_, own_.device);
        functions_.vkGetDeviceQueue(own_.device, 0, 0, &own_.queue);
    }

    void TearDown() override
    {
        if (own_.device != VK_NULL_HANDLE) {
            functions_.vkDeviceWaitIdle(own_.device);
            functions_.vkDestroyDevice(own_.device, nullptr);
        }
        if (own_.instance != VK_NULL_HANDLE) {
            vkDestroyInstance(own_.instance, nullptr);
        }
    }

    void compute(Device& device)
    {
        register_all(device);
        const auto y = device.allocate(256);
        upload(device, y->address, std::vector<float>(64, 1.0f));
        const auto recording = device.record(std::vector{affine_launch()}, {});
        recording->begin();
        set_affine(*recording, 0, operand(*y), 2, 1, 64);
        recording->submit();
        EXPECT_EQ(download<float>(device, y->address, 64), std::vector<float>(64, 3.0f));
    }

    ExternalVulkan own_;
    VolkDeviceTable functions_{};
};

} // namespace reprise::device::vulkan
