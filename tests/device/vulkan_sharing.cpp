// Buffers and semaphores that the library and an application share.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/vulkan.hpp>

#include "application.hpp"

namespace reprise::device::vulkan {
namespace {

using reprise::vulkan::buffer_of;
using reprise::vulkan::from_buffer;

// A buffer of the application that host and device see.
class OwnBuffer {
public:
    static constexpr VkBufferUsageFlags usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
        VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

    OwnBuffer(const VolkDeviceTable& vk, VkDevice device, VkPhysicalDevice physical, VkDeviceSize size)
        : bytes(size), vk_(vk), device_(device)
    {
        const VkBufferCreateInfo info{
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
        EXPECT_EQ(vk.vkCreateBuffer(device, &info, nullptr, &handle), VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk.vkGetBufferMemoryRequirements(device, handle, &needs);
        VkPhysicalDeviceMemoryProperties types{};
        vkGetPhysicalDeviceMemoryProperties(physical, &types);
        const VkMemoryPropertyFlags wanted =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        std::uint32_t type = 0;
        while (!(needs.memoryTypeBits >> type & 1) ||
               (types.memoryTypes[type].propertyFlags & wanted) != wanted)
            ++type;
        const VkMemoryAllocateFlagsInfo flags{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                              .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
        const VkMemoryAllocateInfo allocation{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                              .pNext = &flags,
                                              .allocationSize = needs.size,
                                              .memoryTypeIndex = type};
        EXPECT_EQ(vk.vkAllocateMemory(device, &allocation, nullptr, &memory_), VK_SUCCESS);
        EXPECT_EQ(vk.vkBindBufferMemory(device, handle, memory_, 0), VK_SUCCESS);
        void* host = nullptr;
        EXPECT_EQ(vk.vkMapMemory(device, memory_, 0, size, 0, &host), VK_SUCCESS);
        floats = {static_cast<float*>(host), size / sizeof(float)};
    }
    ~OwnBuffer()
    {
        vk_.vkDestroyBuffer(device_, handle, nullptr);
        vk_.vkFreeMemory(device_, memory_, nullptr);
    }
    OwnBuffer(const OwnBuffer&) = delete;
    OwnBuffer& operator=(const OwnBuffer&) = delete;

    const VkDeviceSize bytes;
    VkBuffer handle = VK_NULL_HANDLE;
    std::span<float> floats;

private:
    const VolkDeviceTable& vk_;
    VkDevice device_;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

// Runs under synchronization validation have barriers: the layer before version 1.4 reports launches without them.
bool has_barriers() { return std::getenv("REPRISE_TEST_BARRIERS") != nullptr; }

class Sharing : public Application {
protected:
    void SetUp() override
    {
        Application::SetUp();
        if (IsSkipped()) return;
        features_.emplace(own_.instance, own_.physical_device);
        FeatureChain features = required_features(own_.instance, own_.physical_device);
        make_device(features);
        device_.emplace(reprise::vulkan::make_device({.instance = own_.instance,
                                                      .physical_device = own_.physical_device,
                                                      .device = own_.device,
                                                      .queue = own_.queue,
                                                      .enabled = &*features_,
                                                      .barrier_per_launch = has_barriers()}));
        set_default_device(*device_);
        buffer_ = std::make_unique<OwnBuffer>(functions_, own_.device, own_.physical_device, 4096);
        std::iota(buffer_->floats.begin(), buffer_->floats.end(), 0.0f);
        const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        ASSERT_EQ(functions_.vkCreateCommandPool(own_.device, &pool, nullptr, &pool_), VK_SUCCESS);
        const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                             .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
        const VkSemaphoreCreateInfo semaphore{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                              .pNext = &type};
        ASSERT_EQ(functions_.vkCreateSemaphore(own_.device, &semaphore, nullptr, &timeline_), VK_SUCCESS);
    }
    void TearDown() override
    {
        reset_default_device();
        if (device_) device_->close();
        device_.reset();
        buffer_.reset();
        if (own_.device) {
            functions_.vkDestroyCommandPool(own_.device, pool_, nullptr);
            functions_.vkDestroySemaphore(own_.device, timeline_, nullptr);
        }
        Application::TearDown();
    }

    VkCommandBuffer begun_list() const
    {
        const VkCommandBufferAllocateInfo one{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool_,
                                              .commandBufferCount = 1};
        VkCommandBuffer list = VK_NULL_HANDLE;
        EXPECT_EQ(functions_.vkAllocateCommandBuffers(own_.device, &one, &list), VK_SUCCESS);
        const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        functions_.vkBeginCommandBuffer(list, &begin);
        return list;
    }

    // The tensor's elements, copied by the application on the shared queue into its own buffer.
    std::vector<float> copied(const Tensor& t)
    {
        const reprise::vulkan::TensorBuffer from = buffer_of(t);
        EXPECT_EQ(from.offset % 16, 0u);
        const VkCommandBuffer list = begun_list();
        const VkMemoryBarrier after_writes{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                           .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                           .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
        functions_.vkCmdPipelineBarrier(list, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                        VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &after_writes, 0, nullptr, 0,
                                        nullptr);
        const VkBufferCopy copy{from.offset, 0, from.bytes};
        functions_.vkCmdCopyBuffer(list, static_cast<VkBuffer>(from.buffer), buffer_->handle, 1, &copy);
        functions_.vkEndCommandBuffer(list);
        // It also waits for the library's semaphore, as another queue would.
        const auto wait = static_cast<VkSemaphore>(from.semaphore);
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
        const VkTimelineSemaphoreSubmitInfo values{.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                   .waitSemaphoreValueCount = 1,
                                                   .pWaitSemaphoreValues = &from.value};
        const VkSubmitInfo submission{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                      .pNext = &values,
                                      .waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &wait,
                                      .pWaitDstStageMask = &stage,
                                      .commandBufferCount = 1,
                                      .pCommandBuffers = &list};
        EXPECT_EQ(functions_.vkQueueSubmit(own_.queue, 1, &submission, VK_NULL_HANDLE), VK_SUCCESS);
        EXPECT_EQ(functions_.vkQueueWaitIdle(own_.queue), VK_SUCCESS);
        return {buffer_->floats.begin(),
                buffer_->floats.begin() + static_cast<std::ptrdiff_t>(from.bytes / sizeof(float))};
    }

    // The tensor in the application's buffer, from this element on.
    Tensor tensor(const std::vector<std::int64_t>& sizes, std::uint64_t from = 0) const
    {
        return from_buffer(*device_, buffer_->handle, buffer_->bytes, from * sizeof(float), sizes);
    }

    std::optional<reprise::vulkan::RequiredFeatures> features_;
    std::optional<reprise::Device> device_;
    std::unique_ptr<OwnBuffer> buffer_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkSemaphore timeline_ = VK_NULL_HANDLE;
};

TEST_F(Sharing, ReadsTensorsWhereTheyAre)
{
    const Tensor x = arange(60) * 0.5; // pending
    std::vector<float> expected(60);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 0.5f * static_cast<float>(i);
    EXPECT_EQ(copied(x.to(f32)), expected);
    EXPECT_EQ(copied(full({1}, 3.0)), std::vector<float>{3});
    const Program twice = record([](const Tensor& in) { return in * 2; }, {spec({symbol("n")})});
    const Tensor y = twice(full({7}, 4.0));
    EXPECT_EQ(copied(y), std::vector<float>(7, 8.0f));
    device_->set_slice(std::chrono::nanoseconds(1)); // buffer_of() hands over what computes the tensor
    EXPECT_EQ(copied(twice(full({9}, 5.0))), std::vector<float>(9, 10.0f));
    device_->set_slice(std::nullopt);
    expect_error(ErrorKind::argument, [&] { buffer_of(full({4, 6}, 1.0).transpose(0, 1)); });
    expect_error(ErrorKind::state, [&] {
        record([](const Tensor& in) { return buffer_of(in).bytes > 0 ? in : in + 1; }, {spec({4})});
    });
}

TEST_F(Sharing, ReadsWhatWasJustUploaded)
{
    const std::vector<float> values{3, 1, 4, 1, 5};
    EXPECT_EQ(copied(from_vector(values, {5})), values);
    device_->set_slice(std::chrono::hours(1));
    EXPECT_EQ(copied(from_vector(values, {5})), values);
    device_->set_slice(std::nullopt);
}

TEST_F(Sharing, ComputesOnItsBuffer)
{
    const Tensor whole = tensor({32, 32}), part = tensor({10}, 100), row = tensor({2, 5}, 100);
    EXPECT_EQ(whole.sum().item<float>(), 1023.0f * 512);
    EXPECT_EQ((part + 1).to_vector<float>(), arange(101, 111).to(f32).to_vector<float>());
    EXPECT_EQ(row.transpose(0, 1).select(0, 1).to_vector<float>(), (std::vector<float>{101, 106}));
    EXPECT_EQ(matmul(whole, whole).select(0, 0).select(0, 1).item<float>(),
              matmul(whole.clone(), whole.clone()).select(0, 0).select(0, 1).item<float>());
    buffer_->floats[100] = -7; // coherent memory that no work in flight uses
    EXPECT_EQ(part.select(0, 0).item<float>(), -7.0f);
    EXPECT_EQ(buffer_of(part).buffer, static_cast<void*>(buffer_->handle));
    EXPECT_EQ(buffer_of(part).offset, 400u);
    EXPECT_EQ(tensor({0}).sum().item<float>(), 0.0f);
}

TEST_F(Sharing, IsWrittenByPrograms)
{
    Variable out(tensor({8}, 16), false);
    const Program write = record([&](const Tensor& in) { out.assign(out + in); }, {spec({8})});
    write.call({full({8}, 0.5)});
    write.call({full({8}, 0.5)});
    device_->synchronize();
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(buffer_->floats[16 + i], static_cast<float>(17 + i));
    EXPECT_EQ(buffer_->floats[15], 15.0f);
    EXPECT_EQ(buffer_->floats[24], 24.0f);

    Variable odd(tensor({5}, 32), false); // kernels store up to the next 16 bytes
    const Program fill = record([&](const Tensor& in) { odd.assign(odd * 0 + in); }, {spec({5})});
    fill.call({full({5}, 0.25)});
    device_->synchronize();
    for (std::size_t i = 32; i < 37; ++i) EXPECT_EQ(buffer_->floats[i], 0.25f);
    EXPECT_EQ(buffer_->floats[40], 40.0f);
}

TEST_F(Sharing, RefusesWhatDoesNotFit)
{
    const auto refused = [&](std::uint64_t offset, const std::vector<std::int64_t>& sizes) {
        expect_error(ErrorKind::argument,
                     [&] { from_buffer(*device_, buffer_->handle, buffer_->bytes, offset, sizes); });
    };
    refused(0, {1025});
    refused(16, {1024});
    refused(4080, {5});
    EXPECT_EQ(tensor({3}, 1020).numel().value(), 3);
    refused(8, {4});
    refused(8192, {0});
    refused(0, {-1});
    expect_error(ErrorKind::argument, [&] { from_buffer(*device_, nullptr, 64, 0, {4}); });
    expect_error(ErrorKind::argument, [&] { reprise::vulkan::wait_for(*device_, nullptr, 1); });
    expect_error(ErrorKind::argument, [&] { reprise::vulkan::signal(*device_, nullptr, 1); });
    const reprise::Device host("reference");
    expect_error(ErrorKind::unsupported, [&] { from_buffer(host, buffer_->handle, 64, 0, {4}); });
    expect_error(ErrorKind::unsupported, [&] { buffer_of(full({4}, 1.0, {.device = host})); });
    expect_error(ErrorKind::unsupported, [&] { reprise::vulkan::wait_for(host, timeline_, 1); });
    expect_error(ErrorKind::unsupported, [&] { reprise::vulkan::signal(host, timeline_, 1); });
}

TEST_F(Sharing, WaitsForSemaphoresAndSignalsThem)
{
    const Tensor x = tensor({4});
    const Program twice = record([](const Tensor& in) { return in * 2; }, {spec({4})});
    twice(x).to_vector<float>();
    reprise::vulkan::wait_for(*device_, timeline_, 1);
    const Tensor y = twice(x);
    reprise::vulkan::signal(*device_, timeline_, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(y.is_ready());
    buffer_->floats[0] = 21; // before the semaphore is signalled
    const VkSemaphoreSignalInfo now{
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline_, .value = 1};
    EXPECT_EQ(functions_.vkSignalSemaphore(own_.device, &now), VK_SUCCESS);
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{42, 2, 4, 6}));
    const std::uint64_t value = 2;
    const VkSemaphoreWaitInfo wait{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                   .semaphoreCount = 1,
                                   .pSemaphores = &timeline_,
                                   .pValues = &value};
    EXPECT_EQ(functions_.vkWaitSemaphores(own_.device, &wait, 10'000'000'000), VK_SUCCESS);
}

// The order in which an application lets go of the device, tensors, programs and its buffer.
TEST_F(Sharing, EndsInAnyOrder)
{
    for (int order = 0; order < 4; ++order) {
        auto shared = std::make_unique<Tensor>(tensor({16}));
        auto program =
            std::make_unique<Program>(record([](const Tensor& in) { return in * 2; }, {spec({16})}));
        auto result = std::make_unique<Tensor>((*program)(*shared));
        device_->set_slice(std::chrono::milliseconds(4)); // the next call is still in the queue
        *result = (*program)(*result);
        const auto drop = [](auto&... each) { (each.reset(), ...); };
        if (order == 0) drop(program, shared, result);
        if (order == 1) drop(result, shared, program);
        if (order == 2) drop(shared, result, program);
        if (order == 3) { // the device first: what is left may only be destroyed
            reset_default_device();
            device_->close();
            expect_error(ErrorKind::device, [&] { result->to_vector<float>(); });
            drop(shared, program, result);
            return;
        }
        device_->set_slice(std::nullopt);
        device_->synchronize();
    }
}

using HazardWithoutABarrier = Sharing;

// Two copies write the same bytes: the layer must report this in an entry with synchronization validation
// (tests/CMakeLists.txt).
TEST_F(HazardWithoutABarrier, OfTwoCopies)
{
    const VkCommandBuffer list = begun_list();
    const VkBufferCopy copy{0, 2048, 64};
    for (int i = 0; i < 2; ++i) functions_.vkCmdCopyBuffer(list, buffer_->handle, buffer_->handle, 1, &copy);
    functions_.vkEndCommandBuffer(list);
    const VkSubmitInfo submission{
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &list};
    ASSERT_EQ(functions_.vkQueueSubmit(own_.queue, 1, &submission, VK_NULL_HANDLE), VK_SUCCESS);
    ASSERT_EQ(functions_.vkQueueWaitIdle(own_.queue), VK_SUCCESS);
}

} // namespace
} // namespace reprise::device::vulkan
