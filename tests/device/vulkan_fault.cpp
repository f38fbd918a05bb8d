#include "vulkan_fixture.hpp"

namespace reprise::device::vulkan {
namespace {

class VulkanFault : public VulkanTest {
protected:
    void SetUp() override
    {
        options_.slab_bytes = 16 * mebi; // so that further blocks are small
        VulkanTest::SetUp();
    }

    // Everything that a device does: y = (1 + 2) * 3 + 4, twice.
    void work()
    {
        const auto y = device_->allocate(4096), large = device_->allocate(20 * mebi);
        const auto replay =
            device_->record(std::vector{affine_launch(0), affine_launch(1)}, {.timestamps = true});
        for (int call = 0; call < 2; ++call) {
            upload(*device_, y->address, std::vector<float>(1024, 1.0f));
            upload(*device_, large->address + 19 * mebi, std::vector<int>{call});
            replay->begin();
            set_affine(*replay, 0, operand(*y), 1, 2, 1024);
            set_affine(*replay, 1, operand(*y), 3, 0, 1024);
            replay->submit();
            const auto once = device_->record(std::vector{affine_launch()}, {.one_shot = true});
            once->begin();
            set_affine(*once, 0, operand(*y), 1, 4, 1024);
            const Ticket by = once->submit();
            std::vector<float> out(1024);
            device_->download_result(y->address, std::as_writable_bytes(std::span(out)), by);
            ASSERT_EQ(out, std::vector<float>(1024, 13.0f));
            ASSERT_EQ(download<float>(*device_, y->address, 1024), out);
            ASSERT_EQ(download<int>(*device_, large->address + 19 * mebi, 1)[0], call);
        }
        const auto readable = device_->allocate_readable(100);
        upload(*device_, readable->address, std::vector<int>{5});
        device_->wait_idle();
        ASSERT_EQ(*reinterpret_cast<const int*>(readable->host), 5);
    }
};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanFault, testing::Bool(), memory_name);

TEST_P(VulkanFault, OutOfMemoryAtEachCallLeavesTheDeviceUsable)
{
    for (const char* kind : {"allocate", "submit", "wait", "record"}) {
        int thrown = 0;
        for (std::uint32_t n = 1; n <= 40; ++n) {
            SCOPED_TRACE(std::string(kind) + " " + std::to_string(n));
            device_->fail_next(kind, n, Device::Fault::out_of_memory);
            try {
                work();
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
                ++thrown;
            }
            device_->clear_faults();
            EXPECT_EQ(device_->counters().live_bytes, 0u);
            ASSERT_NO_THROW(work());
            context().memory.verify();
        }
        EXPECT_GE(thrown, 2) << kind;
        EXPECT_FALSE(device_->lost());
    }
}

// The pipelines of a recording are created by several threads.
TEST_P(VulkanFault, APipelineThatFailsLeavesTheOthers)
{
    constexpr std::uint32_t pipelines = 12;
    for (std::uint32_t n = 1; n <= pipelines; ++n) {
        SCOPED_TRACE(n);
        std::vector<LaunchDeclaration> launches;
        for (std::uint32_t i = 0; i < pipelines; ++i)
            launches.push_back(affine_launch(i, {n * pipelines + i}));
        const std::uint64_t before = device_->counters().pipelines;
        device_->fail_next("record", n, Device::Fault::out_of_memory);
        expect_error(ErrorKind::out_of_memory, [&] { (void)device_->record(launches, {}); });
        device_->clear_faults();
        EXPECT_LT(device_->counters().pipelines, before + pipelines);
        ASSERT_NO_THROW((void)device_->record(launches, {}));
        EXPECT_EQ(device_->counters().pipelines, before + pipelines);
    }
}

TEST_P(VulkanFault, ASubmissionThatFailedCanBeMadeAgain)
{
    const auto y = device_->allocate(256);
    upload(*device_, y->address, std::vector<float>(64, 1.0f));
    for (const bool one_shot : {false, true}) {
        const auto recording = device_->record(std::vector{affine_launch()}, {.one_shot = one_shot});
        recording->begin();
        set_affine(*recording, 0, operand(*y), 2, 1, 64);
        device_->fail_next("submit", 1, Device::Fault::out_of_memory);
        expect_error(ErrorKind::out_of_memory, [&] { recording->submit(); });
        recording->submit();
        device_->fail_next("submit", 1, Device::Fault::out_of_memory);
        const auto other = device_->record(std::vector{affine_launch()}, {.warm_up = false});
        other->begin();
        set_affine(*other, 0, operand(*y), 0, 0, 64);
        expect_error(ErrorKind::out_of_memory, [&] { other->submit(); });
        other->begin(); // begun anew with other arguments
        set_affine(*other, 0, operand(*y), 1, 0, 64);
        other->submit();
    }
    EXPECT_EQ(download<float>(*device_, y->address, 64), std::vector<float>(64, 7.0f));
}

// The call that first gives them groups creates pipelines and records a segment.
TEST_P(VulkanFault, ASubmissionOfSeldomLaunchesThatFailedCanBeMadeAgain)
{
    const auto y = device_->allocate(256);
    std::uint32_t unique = 1000;
    for (const bool one_shot : {false, true}) {
        int thrown = 0;
        for (std::uint32_t n = 1; n <= 8; ++n) {
            SCOPED_TRACE(n);
            std::vector<LaunchDeclaration> launches{affine_launch(0), affine_launch(1, {++unique}),
                                                    affine_launch(2, {++unique})};
            launches[1].rarely_dispatched = launches[2].rarely_dispatched = true;
            const auto recording = device_->record(launches, {.warm_up = false, .one_shot = one_shot});
            upload(*device_, y->address, std::vector<float>(64, 1.0f));
            recording->begin();
            for (std::uint32_t i = 0; i < 3; ++i) set_affine(*recording, i, operand(*y), 2, 0, 64);
            device_->fail_next("record", n, Device::Fault::out_of_memory);
            try {
                recording->submit();
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
                ++thrown;
                device_->clear_faults();
                recording->submit();
            }
            device_->clear_faults();
            const float want = 8.0f + 2.0f * static_cast<float>(unique - 1) + static_cast<float>(unique);
            EXPECT_EQ(download<float>(*device_, y->address, 64), std::vector<float>(64, want));
        }
        // At the pipelines, the segment's command buffer (allocated, begun, ended) or the one-shot's, and the upload's
        // copy.
        EXPECT_EQ(thrown, (one_shot ? 2 : 5) + (GetParam() ? 1 : 0));
    }
}

TEST_P(VulkanFault, LostIsForGoodAndANewDeviceWorks)
{
    for (const char* kind : {"allocate", "submit", "wait", "record"}) {
        SCOPED_TRACE(kind);
        const auto y = device_->allocate(256);
        const auto recording = device_->record(std::vector{affine_launch()}, {});
        recording->begin();
        set_affine(*recording, 0, operand(*y), 2, 1, 64);
        const Ticket ticket = recording->submit();
        device_->fail_next(kind, 1, Device::Fault::lost);
        expect_error(ErrorKind::device_lost, [&] { work(); });
        device_->clear_faults();
        EXPECT_TRUE(device_->lost());
        expect_error(ErrorKind::device_lost, [&] { device_->allocate(1); });
        expect_error(ErrorKind::device_lost, [&] { device_->record({}, {}); });
        expect_error(ErrorKind::device_lost, [&] { device_->upload(y->address, {}); });
        expect_error(ErrorKind::device_lost, [&] { download<float>(*device_, y->address, 1); });
        expect_error(ErrorKind::device_lost, [&] { device_->done(ticket); });
        expect_error(ErrorKind::device_lost, [&] { device_->wait(0); });
        expect_error(ErrorKind::device_lost, [&] { device_->wait_idle(); });
        expect_error(ErrorKind::device_lost, [&] { recording->begin(); });
        const std::shared_ptr<Device> old = device_; // its memory and recordings still die in peace
        reopen();
        EXPECT_NO_THROW(work());
    }
}

TEST(Checker, NamesTheCallAndTheKind)
{
    const std::pair<VkResult, ErrorKind> cases[] = {
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, ErrorKind::out_of_memory},
        {VK_ERROR_OUT_OF_HOST_MEMORY, ErrorKind::out_of_memory},
        {VK_ERROR_DEVICE_LOST, ErrorKind::device_lost},
        {VK_ERROR_FEATURE_NOT_PRESENT, ErrorKind::unsupported},
        {VK_ERROR_INITIALIZATION_FAILED, ErrorKind::device},
        {VK_ERROR_UNKNOWN, ErrorKind::internal},
    };
    for (const auto& [result, kind] : cases) {
        Health health;
        const Checker check(health);
        try {
            check("allocate", "vkSomething", [r = result] { return r; });
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), kind);
            EXPECT_NE(std::string(error.what()).find("vkSomething"), std::string::npos);
        }
        EXPECT_EQ(health.lost(), result == VK_ERROR_DEVICE_LOST);
    }
    Health health;
    EXPECT_EQ(Checker(health)("wait", "vkWaitSemaphores", [] { return VK_TIMEOUT; }), VK_TIMEOUT);
}

} // namespace
} // namespace reprise::device::vulkan
