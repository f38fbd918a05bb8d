#include "device/vulkan/parameters.hpp"
#include "vulkan_fixture.hpp"
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

namespace reprise::device::vulkan {
namespace {

class VulkanRecording : public VulkanTest {};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanRecording, testing::Bool(), memory_name);

TEST_P(VulkanRecording, ReplaysWithOtherArgumentsThreeInFlight)
{
    constexpr std::int32_t most = 5000;
    std::vector<float> x(most), expected(most, 0.0f);
    for (std::int32_t i = 0; i < most; ++i) {
        x[static_cast<std::size_t>(i)] = static_cast<float>(i % 17);
    }
    const auto device_x = device_->allocate(most * 4), device_y = device_->allocate(most * 4);
    upload(*device_, device_x->address, x);
    upload(*device_, device_y->address, expected);
    const auto recording = device_->record(std::vector{saxpy_launch()}, {.slots = 3});
    const std::uint64_t made = device_->counters().recordings;
    for (int call = 0; call < 100; ++call) {
        const std::int32_t n = (call * 977) % most;
        const double a = call % 5;
        recording->begin();
        set_saxpy(*recording, 0, *device_x, *device_y, a, n);
        recording->submit();
        for (std::int32_t i = 0; i < n; ++i) {
            expected[static_cast<std::size_t>(i)] += static_cast<float>(a) * x[static_cast<std::size_t>(i)];
        }
    }
    EXPECT_EQ(download<float>(*device_, device_y->address, most), expected);
    EXPECT_EQ(device_->counters().recordings, made) << "a replay recorded something";
    EXPECT_EQ(device_->counters().replays, opened_.replays + 100);
}

TEST_P(VulkanRecording, EpochsRunInOrder)
{
    for (const std::uint32_t launches : {1u, 2u, 63u, 64u, 65u, 200u}) {
        for (const bool one_shot : {false, true}) {
            std::vector<LaunchDeclaration> list;
            for (std::uint32_t i = 0; i < launches; ++i) {
                list.push_back(affine_launch(i, {i % 3, i % 2}));
            }
            const auto memory = device_->allocate(100 * 4);
            upload(*device_, memory->address, std::vector<float>(100, 1.0f));
            float expected = 1;
            const auto recording = device_->record(list, {.one_shot = one_shot});
            recording->begin();
            for (std::uint32_t i = 0; i < launches; ++i) { // y = (y * m + a) mod a small range, by hand
                const double m = i % 4 == 3 ? 0.25 : 1.5 - (i % 3) * 0.5, a = i % 5;
                set_affine(*recording, i, operand(*memory), m, a, 100);
                expected = expected * static_cast<float>(m) + static_cast<float>(a) +
                           static_cast<float>(i % 3) + 10.0f * static_cast<float>(i % 2);
            }
            recording->submit();
            for (const float v : download<float>(*device_, memory->address, 100)) {
                ASSERT_NEAR(v, expected, 1e-5 * expected) << launches << " launches";
            }
        }
    }
}

TEST_P(VulkanRecording, ManyIndependentLaunchesShareAnEpoch)
{
    constexpr std::uint32_t count = 150; // more than a segment
    const std::vector<LaunchDeclaration> list(count, affine_launch());
    const auto memory = device_->allocate(count * 256);
    upload(*device_, memory->address, std::vector<float>(count * 64, 1.0f));
    const auto recording = device_->record(list, {});
    recording->begin();
    for (std::uint32_t i = 0; i < count; ++i) {
        set_affine(*recording, i, {memory->address + 256 * i, 256}, 2, i, 64);
    }
    recording->submit();
    const auto all = download<float>(*device_, memory->address, count * 64);
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i], 2.0f + static_cast<float>(i / 64));
    }
}

TEST_P(VulkanRecording, NoGroupsDoNothing)
{
    for (const bool one_shot : {false, true}) {
        const auto memory = device_->allocate(256);
        upload(*device_, memory->address, std::vector<float>(64, 1.0f));
        const auto recording = device_->record(
            std::vector{affine_launch(0), affine_launch(1), affine_launch(2)}, {.one_shot = one_shot});
        recording->begin();
        set_affine(*recording, 0, operand(*memory), 3, 0, 64);
        set_affine(*recording, 1, operand(*memory), 100, 100, 0); // an empty batch
        set_affine(*recording, 2, operand(*memory), 1, 4, 64);
        recording->submit();
        EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 7.0f));
    }
}

TEST_P(VulkanRecording, SeldomLaunchesRunInTheCallsThatGiveThemGroups)
{
    std::vector<LaunchDeclaration> list{affine_launch(0), affine_launch(1), affine_launch(2),
                                        affine_launch(3)};
    list[1].rarely_dispatched = list[3].rarely_dispatched = true;
    const auto memory = device_->allocate(256);
    const auto recording = device_->record(list, {.slots = 2, .timestamps = true});
    const std::vector<std::pair<bool, bool>> calls = {{false, false}, {true, false},  {false, false},
                                                      {false, true},  {true, true},   {false, false},
                                                      {false, true},  {false, false}, {true, false}};
    for (const auto& [first, second] : calls) {
        upload(*device_, memory->address, std::vector<float>(64, 1.0f));
        recording->begin();
        set_affine(*recording, 0, operand(*memory), 1, 1, 64);
        set_affine(*recording, 1, operand(*memory), 10, 0, first ? 64 : 0);
        set_affine(*recording, 2, operand(*memory), 1, 1, 64);
        set_affine(*recording, 3, operand(*memory), 100, 0, second ? 64 : 0);
        recording->submit();
        const float want = ((first ? 20.0f : 2.0f) + 1) * (second ? 100.0f : 1.0f);
        EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, want))
            << first << second;
        if (const auto times = recording->times(); !times.begun.empty()) {
            EXPECT_EQ(times.begun.size(), list.size() + 1);
        }
    }
}

// Without a warm-up their pipelines are created in the calls that first give them groups.
TEST_P(VulkanRecording, SeldomLaunchesAreRecordedWhenTheyFirstRun)
{
    const std::vector<std::uint32_t> seldom{10, 20, 30, 100}; // three in the first segment, one in the last
    std::vector<LaunchDeclaration> list;
    for (std::uint32_t i = 0; i < 130; ++i) list.push_back(affine_launch(i));
    for (const std::uint32_t i : seldom) {
        list[i].kernel.constants = {700 + i}; // which no other test has
        list[i].rarely_dispatched = true;
    }
    const auto memory = device_->allocate(256);
    const auto recording = device_->record(list, {.slots = 2, .warm_up = false});
    float want = 0;
    const auto call = [&](const std::set<std::uint32_t>& running) {
        recording->begin();
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const bool is_seldom = list[i].rarely_dispatched, runs = !is_seldom || running.contains(i);
            set_affine(*recording, i, operand(*memory), is_seldom ? 0.5 : 1, 0, runs ? 64 : 0);
            if (is_seldom && runs) want = want * 0.5f + static_cast<float>(700 + i);
        }
        recording->submit();
    };
    const auto expect_values = [&] {
        EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, want));
    };
    struct Call {
        std::set<std::uint32_t> running;
        std::uint64_t pipelines, recordings;
    };
    upload(*device_, memory->address, std::vector<float>(64, want));
    auto before = device_->counters();
    // At its second time a segment gets all of its launches.
    for (const Call& c : std::vector<Call>{{{}, 0, 0},
                                           {{20}, 1, 1},
                                           {{20}, 0, 0},
                                           {{10}, 2, 1},
                                           {{30}, 0, 0},
                                           {{100}, 1, 1},
                                           {{10, 20, 30, 100}, 0, 0}}) {
        call(c.running);
        const auto after = device_->counters();
        EXPECT_EQ(after.pipelines - before.pipelines, c.pipelines) << testing::PrintToString(c.running);
        EXPECT_EQ(after.recordings - before.recordings, c.recordings) << testing::PrintToString(c.running);
        expect_values();
        before = device_->counters();
    }
    for (const auto slice :
         {std::optional(std::chrono::nanoseconds(1000)), std::optional<std::chrono::nanoseconds>()}) {
        device_->set_slice(slice); // records anew
        for (const auto& running : std::vector<std::set<std::uint32_t>>{{100}, {20, 30}, {}, {10, 100}})
            call(running); // two are in flight
        expect_values();
    }
}

TEST_P(VulkanRecording, SeldomLaunchesOfAWarmedUpRecordingAreRecordedAtOnce)
{
    std::vector<LaunchDeclaration> list{affine_launch(0), affine_launch(1, {801})};
    list[1].rarely_dispatched = true;
    const auto memory = device_->allocate(256);
    upload(*device_, memory->address, std::vector<float>(64, 1.0f));
    const auto recording = device_->record(list, {});
    const auto before = device_->counters();
    recording->begin();
    for (const std::uint32_t i : {0, 1}) set_affine(*recording, i, operand(*memory), 2, 0, 64);
    recording->submit();
    const auto after = device_->counters();
    EXPECT_EQ(after.pipelines, before.pipelines);
    EXPECT_EQ(after.recordings, before.recordings);
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 805.0f));
}

TEST_P(VulkanRecording, WarmUpHasNoEffect)
{
    const auto memory = device_->allocate(256);
    upload(*device_, memory->address, std::vector<float>(64, 1.0f));
    const auto recording = device_->record(std::vector{affine_launch()}, {.slots = 1, .warm_up = true});
    device_->wait_idle();
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 1.0f));
    EXPECT_EQ(device_->counters().replays, opened_.replays);
    EXPECT_GE(device_->counters().submits, 1u);
}

TEST_P(VulkanRecording, GroupCountsAreFolded)
{
    for (const std::uint32_t groups : {1u, 65535u, 65536u, 100003u}) {
        for (const bool one_shot : {false, true}) {
            const auto memory = device_->allocate((groups + 64) * 4);
            upload(*device_, memory->address, std::vector<std::uint32_t>(groups + 64, 1));
            const LaunchDeclaration mark{{"mark", {}, nullptr}, {Access::read_write}, 0, 1, 0};
            const auto recording = device_->record(std::vector{mark}, {.one_shot = one_shot});
            recording->begin();
            const Operand out = operand(*memory);
            const auto n = static_cast<std::int32_t>(groups);
            recording->set(0, {{&out, 1}, {}, {&n, 1}, groups});
            recording->submit();
            const auto marks = download<std::uint32_t>(*device_, memory->address, groups + 64);
            for (std::uint32_t g = 0; g < groups; ++g) {
                ASSERT_EQ(marks[g], g + 1) << groups << " groups";
            }
            for (std::uint32_t g = groups; g < groups + 64; ++g) {
                ASSERT_EQ(marks[g], 1u);
            }
        }
    }
}

TEST(Fold, CoversEveryCount)
{
    for (const std::uint64_t g : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{65535},
                                  std::uint64_t{65536}, std::uint64_t{131071}, std::uint64_t{4294836225}}) {
        const Grid grid = fold(g);
        EXPECT_GE(std::uint64_t{grid.x} * grid.y * grid.z, g);
        EXPECT_LE(grid.x, 65535u);
        EXPECT_LE(grid.y, 65535u);
        EXPECT_LT(std::uint64_t{grid.x} * grid.y, g + std::max<std::uint64_t>(grid.y, 1));
    }
    expect_error(ErrorKind::argument, [] { fold(4294836226); });
}

TEST_P(VulkanRecording, ReadsTheTexelViewAndWritesWindows)
{
    options_.slab_bytes = 256 * mebi;
    device_.reset();
    reopen();
    const Capabilities& c = capabilities();
    if (c.window_bytes == 0) {
        GTEST_SKIP() << "no windows here";
    }
    const auto filler = device_->allocate(100 * mebi); // the next ones lie in window 0 and window 1
    const auto a = device_->allocate(20 * mebi), b = device_->allocate(20 * mebi),
               out = device_->allocate(20 * mebi);
    EXPECT_NE((a->address - c.slab_address) / c.window_bytes,
              (out->address - c.slab_address) / c.window_bytes);
    constexpr std::int32_t n4 = 1000;
    std::vector<float> x(n4 * 4), y(n4 * 4), sum(n4 * 4);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i);
        y[i] = static_cast<float>(i * i % 1001);
        sum[i] = x[i] + y[i];
    }
    upload(*device_, a->address, x);
    upload(*device_, b->address, y);
    for (const char* name : {"window_add", "texel_add"}) {
        if (std::string(name) == "texel_add" && !c.texel_view) {
            continue;
        }
        upload(*device_, out->address, std::vector<float>(n4 * 4, 0.0f));
        const LaunchDeclaration add{
            {name, {}, nullptr}, {Access::read, Access::read, Access::write}, 0, 1, 0};
        const auto recording = device_->record(std::vector{add}, {});
        const Operand operands[3] = {operand(*a), operand(*b), operand(*out)};
        recording->begin();
        recording->set(0, {operands, {}, {&n4, 1}, (n4 + 63) / 64});
        recording->submit();
        EXPECT_EQ(download<float>(*device_, out->address, n4 * 4), sum) << name;
    }
}

TEST_P(VulkanRecording, PipelinesAreMadeOnce)
{
    const std::vector<LaunchDeclaration> list{affine_launch(0, {1}), affine_launch(1, {2}),
                                              affine_launch(2, {1}), saxpy_launch(3)};
    for (int i = 0; i < 3; ++i) {
        device_->record(list, {});
    }
    EXPECT_EQ(device_->counters().pipelines, opened_.pipelines + 3);
    expect_error(ErrorKind::unsupported, [&] {
        device_->record(std::vector<LaunchDeclaration>{{{"no_such_kernel", {}, nullptr}, {}, 0, 0, 0}}, {});
    });
    expect_error(ErrorKind::argument, [&] { device_->register_kernel("bad", {1, 2, 3, 4, 5, 6}); });
}

TEST_P(VulkanRecording, RegisteredCodeIsReplacedForNewRecordings)
{
    const auto memory = device_->allocate(256);
    upload(*device_, memory->address, std::vector<float>(64, 1.0f));
    const auto old = device_->record(std::vector{affine_launch()}, {});
    device_->register_kernel("affine", code::saxpy);
    old->begin();
    set_affine(*old, 0, operand(*memory), 2, 3, 64);
    old->submit();
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 5.0f));
    const auto fresh = device_->record(
        std::vector<LaunchDeclaration>{
            {{"affine", {}, nullptr}, {Access::read, Access::read_write}, 1, 1, 0}},
        {});
    fresh->begin();
    set_saxpy(*fresh, 0, *memory, *memory, 1, 64);
    fresh->submit();
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 10.0f));
}

TEST_P(VulkanRecording, DestroyedInFlight)
{
    const auto memory = device_->allocate(mebi);
    upload(*device_, memory->address, std::vector<float>(1000, 1.0f));
    for (int i = 0; i < 20; ++i) {
        const auto recording = device_->record(std::vector(70, affine_launch()), {.warm_up = i % 2 == 0});
        recording->begin();
        for (std::uint32_t k = 0; k < 70; ++k) {
            set_affine(*recording, k, operand(*memory), 1, k == 0 ? 1 : 0, k == 0 ? 1000 : 0);
        }
        recording->submit();
    }
    EXPECT_EQ(download<float>(*device_, memory->address, 1000), std::vector<float>(1000, 21.0f));
}

TEST_P(VulkanRecording, MisuseIsTold)
{
    const auto memory = device_->allocate(256);
    const auto recording = device_->record(std::vector{affine_launch(), affine_launch(1)}, {});
    expect_error(ErrorKind::internal, [&] { set_affine(*recording, 0, operand(*memory), 1, 0, 64); });
    recording->begin();
    set_affine(*recording, 0, operand(*memory), 1, 0, 64);
    expect_error(ErrorKind::internal, [&] { recording->submit(); });
    for (const std::uint32_t missing : {2u, 1u << 20}) // the second one is far behind the list of launches
        expect_error(ErrorKind::internal,
                     [&] { set_affine(*recording, missing, operand(*memory), 1, 0, 64); });
    expect_error(ErrorKind::internal, [&] { recording->set(1, {{}, {}, {}, 1}); });
    const auto once = device_->record({}, {.one_shot = true});
    once->begin();
    once->submit();
    expect_error(ErrorKind::state, [&] { once->submit(); });
}

TEST_P(VulkanRecording, TimestampsSurviveReplay)
{
    if (!capabilities().timestamps) {
        GTEST_SKIP() << "no timestamps here";
    }
    for (const bool one_shot : {false, true}) {
        const auto memory = device_->allocate(mebi);
        std::vector<LaunchDeclaration> list;
        for (std::uint32_t i = 0; i < 5; ++i) {
            list.push_back(affine_launch(i));
        }
        const auto recording = device_->record(list, {.timestamps = true, .one_shot = one_shot});
        for (int call = 0; call < (one_shot ? 1 : 4); ++call) {
            const auto start = std::chrono::steady_clock::now();
            recording->begin();
            for (std::uint32_t i = 0; i < 5; ++i) {
                set_affine(*recording, i, operand(*memory), 1, 0, i == 2 ? 0 : 200000);
            }
            device_->wait(recording->submit());
            const double wall =
                std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
            const std::vector<double> times = recording->times().begun;
            ASSERT_EQ(times.size(), 6u);
            EXPECT_GE(times[0], 0.0);
            EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
            EXPECT_GT(times[4], times[0]);
            EXPECT_GT(times[5], times[4]);
            EXPECT_LT(times[5], wall);
        }
    }
    const auto plain = device_->record(std::vector{affine_launch()}, {});
    EXPECT_TRUE(plain->times().begun.empty());
}

TEST_P(VulkanRecording, AThousandOneShotsKeepMemoryFlat)
{
    const auto memory = device_->allocate(256);
    upload(*device_, memory->address, std::vector<float>(64, 0.0f));
    const std::vector<LaunchDeclaration> list(10, affine_launch());
    const auto evaluate = [&] {
        const auto recording = device_->record(list, {.slots = 1, .warm_up = false, .one_shot = true});
        recording->begin();
        for (std::uint32_t i = 0; i < 10; ++i) {
            set_affine(*recording, i, operand(*memory), 1, i == 0 ? 1 : 0, i == 0 ? 64 : 0);
        }
        recording->submit();
    };
    const auto reserved = [&] {
        return context().parameters.reserved() + context().staging.reserved() + context().blocks.reserved();
    };
    for (int i = 0; i < 200; ++i) {
        evaluate();
    }
    const std::uint64_t before = reserved();
    const std::size_t resident_before = resident_bytes();
    for (int i = 0; i < 1000; ++i) {
        evaluate();
    }
    EXPECT_EQ(download<float>(*device_, memory->address, 64), std::vector<float>(64, 1200.0f));
    EXPECT_EQ(reserved(), before);
    EXPECT_LE(context().queue.retired(), 65u);
    EXPECT_LT(resident_bytes(), resident_before + 8 * mebi);
    EXPECT_EQ(device_->counters().pipelines, opened_.pipelines + 1);
}

TEST_P(VulkanRecording, TwoRecordingsOfTwoThreadsDoNotMix)
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([this, t] {
            const auto memory = device_->allocate(4096);
            upload(*device_, memory->address, std::vector<float>(1024, 0.0f));
            const auto recording = device_->record(std::vector{affine_launch(0), affine_launch(1)}, {});
            for (int i = 0; i < 50; ++i) {
                recording->begin();
                set_affine(*recording, 0, operand(*memory), 1, t + 1, 1024);
                set_affine(*recording, 1, operand(*memory), i % 10 == 9 ? 0.5 : 1, 0, 1024);
                recording->submit();
                if (i % 7 == 0) {
                    device_->record(std::vector{affine_launch(0)}, {.one_shot = true});
                }
            }
            double expected = 0;
            for (int i = 0; i < 50; ++i) {
                expected = (expected + t + 1) * (i % 10 == 9 ? 0.5 : 1);
            }
            EXPECT_EQ(download<float>(*device_, memory->address, 1024),
                      std::vector<float>(1024, static_cast<float>(expected)));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace
} // namespace reprise::device::vulkan
