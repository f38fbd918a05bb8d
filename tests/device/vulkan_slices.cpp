// Slices of a queue: when the driver is given what, what is dropped, and semaphores of the application.
#include "vulkan_fixture.hpp"

#include <chrono>
#include <thread>

namespace reprise::device::vulkan {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t writes_no_state = ~0u;

// A recording of `epochs` launches that each add 1 to the elements of y.
class Adder {
public:
    // The launch `state` and those after it write state.
    Adder(Device& device, const Memory& y, std::uint32_t epochs, bool droppable = true,
          std::uint32_t state = writes_no_state)
        : y_(y), epochs_(epochs)
    {
        std::vector<LaunchDeclaration> launches;
        for (std::uint32_t i = 0; i < epochs; ++i) {
            launches.push_back(affine_launch(i));
            launches.back().writes_state = i >= state;
        }
        recording_ = device.record(launches, {.slots = 4, .droppable = droppable});
    }
    Ticket submit(Ticket reads = 0)
    {
        recording_->begin();
        for (std::uint32_t i = 0; i < epochs_; ++i) set_affine(*recording_, i, operand(y_), 1, 1, 64);
        if (reads) recording_->depends_on(reads);
        return recording_->submit();
    }

private:
    const Memory& y_;
    std::uint32_t epochs_;
    std::unique_ptr<Recording> recording_;
};

class VulkanSlices : public VulkanTest {
protected:
    void SetUp() override
    {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        y_ = device_->allocate(256);
        upload(*device_, y_->address, std::vector<float>(64, 0.0f));
        device_->wait_idle();
    }
    void TearDown() override
    {
        y_.reset();
        VulkanTest::TearDown();
    }
    float sum() { return download<float>(*device_, y_->address, 64)[7]; }
    // Advances until nothing is queued; returns how many parts the driver was given.
    int advance_to_the_end()
    {
        const auto submits = [&] { return device_->counters().submits; };
        const std::uint64_t before = submits();
        while (!device_->advance()) std::this_thread::yield();
        return static_cast<int>(submits() - before);
    }

    std::unique_ptr<Memory> y_;
};
INSTANTIATE_TEST_SUITE_P(Memory, VulkanSlices, testing::Bool(), memory_name);

TEST_P(VulkanSlices, HandOverInParts)
{
    device_->set_slice(1h); // a launch that was never timed counts as a quarter of it
    Adder adder(*device_, *y_, 10);
    const Ticket first = adder.submit();
    EXPECT_FALSE(device_->done(first)) << "no slice has begun";
    EXPECT_EQ(device_->slice_left(), 0ns);
    EXPECT_EQ(advance_to_the_end(), 3) << "parts of 4, 4 and 2 launches";
    EXPECT_GT(device_->slice_left(), 0ns);
    device_->wait(first);
    EXPECT_EQ(sum(), 10.0f);
    const Ticket second = adder.submit(); // the times of the first call are known
    EXPECT_GT(device_->slice_left(), 0ns) << "it has begun in the slice that was open";
    device_->wait(second);
    EXPECT_EQ(sum(), 20.0f);
}

TEST_P(VulkanSlices, EndWithTheirTime)
{
    device_->set_slice(1ns);
    Adder adder(*device_, *y_, 5);
    adder.submit();
    device_->wait_idle();
    const std::uint64_t before = device_->counters().submits;
    const Ticket last = adder.submit();
    EXPECT_FALSE(device_->advance());
    EXPECT_FALSE(device_->done(last));
    device_->wait(last); // in parts, one after the other
    EXPECT_EQ(sum(), 10.0f);
    EXPECT_GE(device_->counters().submits - before, 5u) << "each launch is longer than a slice";
}

TEST_P(VulkanSlices, AreLeftWithoutAWait)
{
    device_->set_slice(1h);
    Adder adder(*device_, *y_, 6);
    const Ticket ticket = adder.submit();
    device_->set_slice(std::nullopt); // hands over all
    device_->wait(ticket);
    EXPECT_EQ(sum(), 6.0f);
    EXPECT_EQ(device_->slice_left(), 0ns);
    device_->wait(adder.submit());
    EXPECT_EQ(sum(), 12.0f);
    EXPECT_TRUE(device_->advance()) << "the device is idle";
}

TEST_P(VulkanSlices, KeepTheOrderOfUploads)
{
    device_->set_slice(1h);
    Adder adder(*device_, *y_, 3);
    adder.submit();
    upload(*device_, y_->address, std::vector<float>(64, 100.0f));
    adder.submit();
    EXPECT_EQ(sum(), 103.0f);
}

TEST_P(VulkanSlices, DropWhatHasNotBegun)
{
    device_->set_slice(1h);
    Adder first(*device_, *y_, 10), second(*device_, *y_, 3), evaluation(*device_, *y_, 2, false);
    const Ticket begun = first.submit();
    EXPECT_FALSE(device_->advance()); // 4 of the 10 launches
    const Ticket dropped = second.submit();
    upload(*device_, y_->address, std::vector<float>(64, 50.0f));
    const Ticket other = evaluation.submit();
    EXPECT_EQ(device_->cancel(), 2u);
    EXPECT_TRUE(device_->dropped(begun) && device_->dropped(dropped));
    EXPECT_FALSE(device_->dropped(other));
    EXPECT_EQ(sum(), 52.0f) << "the upload and the evaluation stay";
    EXPECT_TRUE(device_->done(dropped));
    device_->wait(first.submit());
    EXPECT_EQ(sum(), 62.0f);
    EXPECT_EQ(device_->cancel(), 0u);
}

TEST_P(VulkanSlices, KeepWhatIsReadAndWhatCameBefore)
{
    device_->set_slice(1h);
    Adder adder(*device_, *y_, 3), evaluation(*device_, *y_, 2, false);
    const Ticket before = adder.submit(), read = adder.submit();
    evaluation.submit(read);
    const Ticket after = adder.submit();
    EXPECT_EQ(device_->cancel(), 1u);
    EXPECT_FALSE(device_->dropped(before) || device_->dropped(read));
    EXPECT_TRUE(device_->dropped(after));
    EXPECT_EQ(sum(), 8.0f);
}

TEST_P(VulkanSlices, ChangeWithCallsInTheQueue)
{
    Adder adder(*device_, *y_, 3);
    adder.submit();
    device_->set_slice(1h);
    adder.submit(); // records its command buffers again
    device_->set_slice(std::nullopt);
    adder.submit();
    device_->set_slice(1h);
    adder.submit();
    EXPECT_EQ(device_->cancel(), 1u);
    EXPECT_EQ(sum(), 9.0f);
}

TEST_P(VulkanSlices, FinishACallThatWritesState)
{
    device_->set_slice(1h);
    Adder early(*device_, *y_, 10, true, 2), late(*device_, *y_, 10, true, 9);
    const Ticket begun = early.submit(), behind = late.submit();
    EXPECT_FALSE(device_->advance()); // 4 of the 10 launches, two of which write state
    EXPECT_EQ(device_->cancel(), 1u);
    EXPECT_FALSE(device_->dropped(begun));
    EXPECT_TRUE(device_->dropped(behind));
    EXPECT_EQ(sum(), 10.0f);
    late.submit();
    EXPECT_FALSE(device_->advance()); // the launch that writes state is not among these
    EXPECT_EQ(device_->cancel(), 1u);
}

TEST_P(VulkanSlices, DropWhatIsLast)
{
    device_->set_slice(1h);
    Adder adder(*device_, *y_, 3);
    const Ticket ticket = adder.submit();
    EXPECT_EQ(device_->cancel(), 1u);
    device_->wait(ticket); // does not hang
    device_->wait_idle();
    EXPECT_EQ(sum(), 0.0f);
}

TEST_P(VulkanSlices, LoseNothingToAFailure)
{
    device_->set_slice(1h);
    Adder adder(*device_, *y_, 3);
    const Ticket ticket = adder.submit();
    device_->fail_next("submit", 1, Device::Fault::out_of_memory);
    expect_error(ErrorKind::out_of_memory, [&] { device_->advance(); });
    EXPECT_EQ(advance_to_the_end(), 1);
    device_->wait(ticket);
    EXPECT_EQ(sum(), 3.0f);
}

TEST_P(VulkanSlices, MayBeClosedWithWork)
{
    device_->set_slice(1h);
    auto adder = std::make_unique<Adder>(*device_, *y_, 8);
    adder->submit();
    EXPECT_FALSE(device_->advance());
    adder->submit();
    adder.reset(); // with its resources in use; the device is destroyed with work in the queue
}

TEST_P(VulkanSlices, EndForThoseWhoWaitInThreads)
{
    device_->set_slice(1ns);
    Adder adder(*device_, *y_, 40);
    const Ticket ticket = adder.submit();
    std::thread waits([&] { device_->wait(ticket); });
    device_->wait(ticket);
    waits.join();
    EXPECT_EQ(sum(), 40.0f);
}

// Timeline semaphores of the application.
class Timeline {
public:
    explicit Timeline(const LogicalDevice& device) : device_(device)
    {
        const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                             .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
        const VkSemaphoreCreateInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
        EXPECT_EQ(device.vk.vkCreateSemaphore(device.handle(), &info, nullptr, &handle), VK_SUCCESS);
    }
    ~Timeline() { device_.vk.vkDestroySemaphore(device_.handle(), handle, nullptr); }
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    bool reaches(std::uint64_t v) const // within ten seconds
    {
        const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                       .semaphoreCount = 1,
                                       .pSemaphores = &handle,
                                       .pValues = &v};
        return device_.vk.vkWaitSemaphores(device_.handle(), &info, 10'000'000'000) == VK_SUCCESS;
    }
    std::uint64_t value() const
    {
        std::uint64_t v = 0;
        device_.vk.vkGetSemaphoreCounterValue(device_.handle(), handle, &v);
        return v;
    }
    void set(std::uint64_t v) const
    {
        const VkSemaphoreSignalInfo info{
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = handle, .value = v};
        EXPECT_EQ(device_.vk.vkSignalSemaphore(device_.handle(), &info), VK_SUCCESS);
    }

    VkSemaphore handle = VK_NULL_HANDLE;

private:
    const LogicalDevice& device_;
};

TEST_P(VulkanSlices, WaitForSemaphoresOfTheApplication)
{
    for (const bool in_slices : {false, true}) {
        const Timeline timeline(context().device);
        if (in_slices) device_->set_slice(1h);
        Adder adder(*device_, *y_, 3);
        const float before = sum();
        context().submit({.wait = {timeline.handle, 5}});
        const Ticket ticket = adder.submit();
        context().submit({.signal = {timeline.handle, 6}});
        device_->advance();
        std::this_thread::sleep_for(20ms);
        EXPECT_FALSE(device_->done(ticket));
        EXPECT_EQ(timeline.value(), 0u);
        timeline.set(5);
        device_->wait_idle();
        EXPECT_TRUE(timeline.reaches(6));
        EXPECT_EQ(sum(), before + 3);
    }
}

} // namespace
} // namespace reprise::device::vulkan
