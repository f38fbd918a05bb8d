// Launches that the host computes (LaunchDeclaration::on_host).
#include "vulkan_fixture.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

namespace reprise::device::vulkan {
namespace {

using namespace std::chrono_literals;

class VulkanHostCalls : public VulkanTest {
protected:
    // A host call that has one operand, of floats.
    static LaunchDeclaration on_host(std::uint32_t epoch, std::uint32_t joins,
                                     std::function<void(std::span<float>)> function)
    {
        LaunchDeclaration d{.kernel = {.name = "host"}, .operands = {Access::read_write}, .epoch = epoch};
        d.kernel.host =
            std::make_shared<const HostFunction>([function = std::move(function)](const LaunchArguments& a) {
                function({reinterpret_cast<float*>(static_cast<std::uintptr_t>(a.operands[0].address)),
                          a.operands[0].bytes / 4});
            });
        d.on_host = true;
        d.joins = joins;
        return d;
    }
    static void set_host(Recording& recording, std::uint32_t launch, const Memory& memory,
                         std::uint64_t groups = 1)
    {
        const Operand o = operand(memory);
        recording.set(launch, {{&o, 1}, {}, {}, groups});
    }
    static void increment(std::span<float> values)
    {
        for (float& v : values) v += 1;
    }
    std::unique_ptr<Memory> shared(std::size_t floats, float value)
    {
        auto memory = device_->allocate_readable(floats * 4);
        upload(*device_, memory->address, std::vector<float>(floats, value));
        return memory;
    }
};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanHostCalls, testing::Bool(), memory_name);

TEST_P(VulkanHostCalls, RunBetweenLaunches)
{
    constexpr std::size_t n = 1000;
    const auto memory = shared(n, 1);
    const std::vector<LaunchDeclaration> launches{affine_launch(0), on_host(1, 2, increment),
                                                  affine_launch(2)};
    for (const bool one_shot : {false, true}) {
        upload(*device_, memory->address, std::vector<float>(n, 1));
        auto recording = device_->record(launches, {.slots = 3, .one_shot = one_shot});
        float expected = 1;
        for (int call = 0; call < (one_shot ? 1 : 100); ++call) {
            const double m = call % 3 == 0 ? 0.5 : 1;
            recording->begin();
            set_affine(*recording, 0, operand(*memory), m, 0, n);
            set_host(*recording, 1, *memory);
            set_affine(*recording, 2, operand(*memory), 1, call, n);
            recording->submit();
            expected = expected * static_cast<float>(m) + 1 + static_cast<float>(call);
        }
        EXPECT_EQ(download<float>(*device_, memory->address, n), std::vector<float>(n, expected));
    }
}

TEST_P(VulkanHostCalls, NeverHoldUpTheThreadThatSubmits)
{
    const auto memory = shared(64, 0);
    std::atomic<bool> goes_on = false;
    std::atomic<int> calls = 0;
    auto recording = device_->record(std::vector{affine_launch(0),
                                                 on_host(1, 2,
                                                         [&](std::span<float> values) {
                                                             while (!goes_on)
                                                                 std::this_thread::sleep_for(1ms);
                                                             increment(values);
                                                             ++calls;
                                                         }),
                                                 affine_launch(2)},
                                     {.slots = 10});
    for (int call = 0; call < 10; ++call) {
        recording->begin();
        set_affine(*recording, 0, operand(*memory), 2, 0, 64);
        set_host(*recording, 1, *memory);
        set_affine(*recording, 2, operand(*memory), 1, 0, 64);
        recording->submit();
    }
    EXPECT_EQ(calls, 0);
    EXPECT_FALSE(device_->done(device_->submitted()));
    goes_on = true;
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 1023));
    EXPECT_EQ(calls, 10);
}

TEST_P(VulkanHostCalls, RunWhileLaterEpochsDo)
{
    const auto exchanged = shared(64, 0), meanwhile = shared(64, 0);
    const volatile float* const seen = reinterpret_cast<const float*>(meanwhile->host);
    std::atomic<bool> overlapped = false;
    auto recording =
        device_->record(std::vector{affine_launch(0),
                                    on_host(1, 3,
                                            [&](std::span<float> values) { // until epoch 2 has run
                                                const auto end = std::chrono::steady_clock::now() + 10s;
                                                while (*seen != 7 && std::chrono::steady_clock::now() < end)
                                                    std::this_thread::yield();
                                                overlapped = *seen == 7;
                                                increment(values);
                                            }),
                                    affine_launch(1), affine_launch(2), affine_launch(3)},
                        {});
    recording->begin();
    set_affine(*recording, 0, operand(*exchanged), 1, 2, 64);
    set_host(*recording, 1, *exchanged);
    set_affine(*recording, 2, operand(*meanwhile), 1, 3, 64);
    set_affine(*recording, 3, operand(*meanwhile), 2, 1, 64);
    set_affine(*recording, 4, operand(*exchanged), 10, 0, 64);
    recording->submit();
    EXPECT_EQ(download<float>(*device_, exchanged->address, 64), std::vector<float>(64, 30));
    EXPECT_TRUE(overlapped);
}

// The time in which the device waits for the host is that of the launch that waits.
TEST_P(VulkanHostCalls, AreWaitedForInTheTimeOfTheLaunchThatJoins)
{
    if (!device_->capabilities().timestamps) return;
    const auto exchanged = shared(64, 0), meanwhile = shared(64, 0);
    auto recording = device_->record(
        std::vector{affine_launch(0),
                    on_host(1, 2, [](std::span<float>) { std::this_thread::sleep_for(300ms); }),
                    affine_launch(1), affine_launch(2), affine_launch(3)},
        {.timestamps = true});
    recording->begin();
    set_affine(*recording, 0, operand(*exchanged), 1, 2, 64);
    set_host(*recording, 1, *exchanged);
    set_affine(*recording, 2, operand(*meanwhile), 1, 3, 64);
    set_affine(*recording, 3, operand(*exchanged), 2, 1, 64);
    set_affine(*recording, 4, operand(*exchanged), 2, 1, 64);
    device_->wait(recording->submit());
    const std::vector<double> begun = recording->times().begun; // ns, and the end
    ASSERT_EQ(begun.size(), 6u);
    std::vector<double> took;
    for (std::size_t i = 0; i + 1 < begun.size(); ++i) took.push_back(begun[i + 1] - begun[i]);
    EXPECT_EQ(std::max_element(took.begin(), took.end()) - took.begin(), 3);
    EXPECT_GT(took[3], 200e6);
}

TEST_P(VulkanHostCalls, EndBeforeTheCallDoes)
{
    const auto memory = shared(64, 0);
    auto recording =
        device_->record(std::vector{affine_launch(0), on_host(1, 2,
                                                              [](std::span<float> values) {
                                                                  std::this_thread::sleep_for(20ms);
                                                                  increment(values);
                                                              })},
                        {});
    recording->begin();
    set_affine(*recording, 0, operand(*memory), 1, 4, 64);
    set_host(*recording, 1, *memory);
    device_->wait(recording->submit());
    EXPECT_EQ(reinterpret_cast<const float*>(memory->host)[63], 5);
}

TEST_P(VulkanHostCalls, WithoutGroupsDoNotRun)
{
    const auto memory = shared(64, 0);
    int calls = 0;
    auto recording =
        device_->record(std::vector{on_host(0, 1, [&](std::span<float>) { ++calls; }), affine_launch(1)}, {});
    for (const std::uint64_t groups : {0, 1, 0}) {
        recording->begin();
        set_host(*recording, 0, *memory, groups);
        set_affine(*recording, 1, operand(*memory), 1, 1, 64);
        recording->submit();
    }
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 3));
    EXPECT_EQ(calls, 1);
}

// Recordings of different lengths, with several host calls that overlap each other.
TEST_P(VulkanHostCalls, RunInTheOrderOfSubmissions)
{
    constexpr std::uint32_t epochs = 90; // more than a segment
    std::vector<int> order;
    std::vector<std::unique_ptr<Memory>> memories;
    std::vector<std::unique_ptr<Recording>> recordings;
    for (int r = 0; r < 2; ++r) {
        memories.push_back(shared(64, 0));
        std::vector<LaunchDeclaration> launches;
        for (std::uint32_t e = 0; e < epochs; ++e)
            launches.push_back(e % 20 == 10 ? on_host(e, e + 15,
                                                      [&order, r, e](std::span<float>) {
                                                          order.push_back(r * 100 + static_cast<int>(e));
                                                      })
                                            : affine_launch(e));
        recordings.push_back(device_->record(launches, {.slots = 2}));
    }
    const auto other = shared(64, 0);
    std::vector<int> expected;
    for (int call = 0; call < 6; ++call) {
        const int r = call % 2;
        recordings[r]->begin();
        for (std::uint32_t e = 0; e < epochs; ++e)
            if (e % 20 == 10) {
                set_host(*recordings[r], e, *other);
                expected.push_back(r * 100 + static_cast<int>(e));
            } else set_affine(*recordings[r], e, operand(*memories[r]), 1, 1, 64);
        recordings[r]->submit();
    }
    device_->wait_idle();
    EXPECT_EQ(order, expected);
    for (const auto& memory : memories)
        EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 3 * 86));
}

TEST_P(VulkanHostCalls, RunWithSlices)
{
    device_->set_slice(5ms);
    const auto memory = shared(64, 1);
    auto recording = device_->record(
        std::vector{affine_launch(0), on_host(1, 2, increment), affine_launch(2)}, {.droppable = true});
    for (int call = 0; call < 20; ++call) {
        recording->begin();
        set_affine(*recording, 0, operand(*memory), 1, 1, 64);
        set_host(*recording, 1, *memory);
        set_affine(*recording, 2, operand(*memory), 1, 1, 64);
        recording->submit();
        if (call % 3 == 0) device_->advance();
    }
    EXPECT_EQ(device_->cancel(), 0u) << "other machines may wait for what a host call sends";
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 61));
    device_->set_slice(std::nullopt);
}

// Work that was never handed over is dropped with the device, and so are its host calls.
TEST_P(VulkanHostCalls, AreDroppedWithWhatWaitsForASlice)
{
    device_->set_slice(1ms);
    auto memory = shared(64, 1);
    auto recording = device_->record(
        std::vector{affine_launch(0), on_host(1, 2, increment), affine_launch(2)}, {.slots = 10});
    for (int call = 0; call < 10; ++call) {
        recording->begin();
        set_affine(*recording, 0, operand(*memory), 1, 1, 64);
        set_host(*recording, 1, *memory);
        set_affine(*recording, 2, operand(*memory), 1, 1, 64);
        recording->submit();
    }
    recording.reset();
    memory.reset();
    device_.reset();
}

// -- native code --

class VulkanNativeCode : public VulkanHostCalls {
protected:
    void SetUp() override
    {
        VulkanHostCalls::SetUp();
        if (!device_->capabilities().native_from)
            GTEST_SKIP() << "The host does not see the memory of this device at its addresses.";
    }
    static LaunchDeclaration native(std::uint32_t epoch, std::function<void(std::span<float>)> function)
    {
        LaunchDeclaration d = on_host(epoch, epoch + 1, std::move(function));
        d.native = true;
        return d;
    }
    std::unique_ptr<Memory> any(std::size_t floats, float value)
    {
        auto memory = device_->allocate(floats * 4);
        upload(*device_, memory->address, std::vector<float>(floats, value));
        return memory;
    }
};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanNativeCode, testing::Values(false), memory_name); // in host memory

TEST_P(VulkanNativeCode, RunsInAnyMemory)
{
    const auto memory = any(1000, 1);
    auto recording =
        device_->record(std::vector{affine_launch(0), native(1, increment), affine_launch(2)}, {.slots = 3});
    float expected = 1;
    for (int call = 0; call < 30; ++call) {
        recording->begin();
        set_affine(*recording, 0, operand(*memory), 0.5, 0, 1000);
        set_host(*recording, 1, *memory);
        set_affine(*recording, 2, operand(*memory), 1, call, 1000);
        recording->submit();
        expected = expected * 0.5f + 1 + static_cast<float>(call);
    }
    EXPECT_EQ(download<float>(*device_, memory->address, 1000), std::vector<float>(1000, expected));
}

// The exchange waits until native code of the same call has run.
TEST_P(VulkanNativeCode, DoesNotWaitForExchanges)
{
    const auto exchanged = shared(64, 0), memory = any(64, 0);
    std::atomic<bool> has_run = false, overlapped = false;
    auto recording =
        device_->record(std::vector{on_host(0, 3,
                                            [&](std::span<float> values) {
                                                const auto end = std::chrono::steady_clock::now() + 10s;
                                                while (!has_run && std::chrono::steady_clock::now() < end)
                                                    std::this_thread::yield();
                                                overlapped = has_run.load();
                                                increment(values);
                                            }),
                                    native(1,
                                           [&](std::span<float> values) {
                                               increment(values);
                                               has_run = true;
                                           }),
                                    affine_launch(2), affine_launch(3)},
                        {});
    recording->begin();
    set_host(*recording, 0, *exchanged);
    set_host(*recording, 1, *memory);
    set_affine(*recording, 2, operand(*memory), 2, 0, 64);
    set_affine(*recording, 3, operand(*exchanged), 4, 0, 64);
    recording->submit();
    EXPECT_EQ(download<float>(*device_, exchanged->address, 64), std::vector<float>(64, 4));
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 2));
    EXPECT_TRUE(overlapped);
}

TEST_P(VulkanNativeCode, HasItsOwnTime)
{
    if (!device_->capabilities().timestamps) return;
    const auto memory = any(64, 0), other = any(64, 0);
    const auto sleeps = [](std::chrono::milliseconds time) {
        return native(1, [time](std::span<float>) { std::this_thread::sleep_for(time); });
    };
    auto recording = device_->record(
        std::vector{affine_launch(0), sleeps(100ms), sleeps(200ms), affine_launch(2), affine_launch(3)},
        {.timestamps = true});
    recording->begin();
    for (const std::uint32_t i : {0, 3, 4}) set_affine(*recording, i, operand(*memory), 1, 2, 64);
    set_host(*recording, 1, *memory);
    set_host(*recording, 2, *other);
    device_->wait(recording->submit());
    const std::vector<double> begun = recording->times().begun; // ns, and the end
    ASSERT_EQ(begun.size(), 6u);
    EXPECT_GT(begun[2] - begun[1], 99e6);
    EXPECT_GT(begun[3] - begun[2], 199e6);
    EXPECT_GE(begun[4], begun[3]);
}

// cancel() drops calls that have begun, too, unless they write state; what follows waits for their native code.
TEST_P(VulkanNativeCode, IsDroppedWithItsCall)
{
    device_->set_slice(1ms);
    const auto memory = any(64, 1), state = any(64, 1);
    std::atomic<int> begun = 0, ended = 0;
    std::vector<LaunchDeclaration> launches{native(0, [&](std::span<float> values) {
        ++begun;
        std::this_thread::sleep_for(20ms);
        values[0] = 99;
        ++ended;
    })};
    for (std::uint32_t epoch = 1; epoch < 40; ++epoch) launches.push_back(affine_launch(epoch));
    launches.push_back(native(40, increment));
    launches.back().writes_state = true;
    auto recording = device_->record(launches, {.slots = 8, .droppable = true});
    const auto call = [&] {
        recording->begin();
        set_host(*recording, 0, *memory);
        for (std::uint32_t i = 1; i < 40; ++i) set_affine(*recording, i, operand(*memory), 1, 1, 64);
        set_host(*recording, 40, *state);
        return recording->submit();
    };
    std::vector<Ticket> tickets;
    for (int i = 0; i < 5; ++i) tickets.push_back(call());
    for (; begun == 0; std::this_thread::sleep_for(1ms)) device_->advance();
    const std::size_t dropped = device_->cancel();
    EXPECT_GE(dropped, 4u) << "the device is busy with the first call";
    upload(*device_, memory->address, std::vector<float>(64, 5));
    std::size_t stayed = 0;
    for (const Ticket t : tickets) stayed += device_->dropped(t) ? 0 : 1;
    EXPECT_EQ(stayed + dropped, 5u);
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 5));
    EXPECT_EQ(begun, ended);
    float expected = 1 + static_cast<float>(stayed);
    EXPECT_EQ(download<float>(*device_, state->address, 64), std::vector<float>(64, expected));
    for (int i = 0; i < 2; ++i) call(); // values of the timeline that were dropped are passed over
    expected += 2;
    EXPECT_EQ(download<float>(*device_, state->address, 64), std::vector<float>(64, expected));
    device_->set_slice(std::nullopt);
}

TEST_P(VulkanNativeCode, KeepsTheDeviceBusyForSlices)
{
    device_->set_slice(1ms);
    const auto memory = any(64, 1);
    std::atomic<bool> has_begun = false, goes_on = false;
    auto recording = device_->record(std::vector{native(0,
                                                        [&](std::span<float> values) {
                                                            has_begun = true;
                                                            while (!goes_on) std::this_thread::sleep_for(1ms);
                                                            increment(values);
                                                        }),
                                                 affine_launch(1)},
                                     {.droppable = true});
    const auto call = [&] {
        recording->begin();
        set_host(*recording, 0, *memory);
        set_affine(*recording, 1, operand(*memory), 2, 0, 64);
        recording->submit();
    };
    call();
    for (; !has_begun; std::this_thread::sleep_for(1ms)) device_->advance();
    std::this_thread::sleep_for(2ms); // the slice has ended
    call();
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(device_->advance());
    goes_on = true;
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 10));
    device_->set_slice(std::nullopt);
}

// An epoch of more launches than a segment has: native code begins with the first of them.
TEST_P(VulkanNativeCode, ThatWritesStateKeepsItsCall)
{
    device_->set_slice(1ms);
    const auto memory = any(64, 0), state = any(64, 1);
    std::vector<LaunchDeclaration> launches;
    for (int i = 0; i < 70; ++i) launches.push_back(affine_launch(0));
    launches.push_back(native(0, increment));
    launches.back().writes_state = true;
    for (std::uint32_t epoch = 1; epoch < 40; ++epoch) launches.push_back(affine_launch(epoch));
    auto recording = device_->record(launches, {.droppable = true});
    recording->begin();
    for (std::uint32_t i = 0; i < launches.size(); ++i)
        if (i == 70) set_host(*recording, i, *state);
        else set_affine(*recording, i, operand(*memory), 1, 0, 64);
    const Ticket ticket = recording->submit();
    device_->cancel();
    EXPECT_EQ(download<float>(*device_, state->address, 64),
              std::vector<float>(64, device_->dropped(ticket) ? 1 : 2));
    device_->set_slice(std::nullopt);
}

TEST_P(VulkanHostCalls, ThatThrowEndTheDevice)
{
    const auto memory = shared(64, 1);
    int calls = 0;
    auto recording = device_->record(std::vector{on_host(0, 1,
                                                         [&](std::span<float>) {
                                                             ++calls;
                                                             throw Error(ErrorKind::state, "rank 3 is gone");
                                                         }),
                                                 affine_launch(1)},
                                     {});
    for (int call = 0; call < 2; ++call) {
        try {
            recording->begin();
            set_host(*recording, 0, *memory);
            set_affine(*recording, 1, operand(*memory), 1, 1, 64);
            device_->wait(recording->submit());
        } catch (const Error&) {}
    }
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(device_->lost());
    try {
        device_->download(memory->address, {});
        device_->wait_idle();
        ADD_FAILURE() << "no error was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::state);
        EXPECT_STREQ(error.what(), "rank 3 is gone");
    }
}

} // namespace
} // namespace reprise::device::vulkan
