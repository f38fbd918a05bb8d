#include "device/reference/reference_device.hpp"
#include "device_test_tools.hpp"
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

namespace reprise::device {
namespace {

float* floats(const Operand& o) { return reinterpret_cast<float*>(static_cast<std::uintptr_t>(o.address)); }

Kernel host_kernel(const char* name, HostFunction function)
{
    return {name, {}, std::make_shared<const HostFunction>(std::move(function))};
}

Kernel affine() // y = y * m + a
{
    return host_kernel("affine", [](const LaunchArguments& a) {
        float* y = floats(a.operands[0]);
        for (std::int32_t i = 0; i < a.ints[0]; ++i) {
            y[i] = static_cast<float>(y[i] * a.floats[0] + a.floats[1]);
        }
    });
}

void run(Recording& recording, std::uint32_t launch, std::span<const Operand> operands,
         std::span<const double> f = {}, std::span<const std::int32_t> n = {}, std::uint64_t groups = 1)
{
    recording.begin();
    recording.set(launch, {operands, f, n, groups});
    recording.submit();
}

TEST(ReferenceDevice, MemoryHoldsNaNsUntilItIsWritten)
{
    const auto device = make_reference_device();
    const auto memory = device->allocate(64);
    EXPECT_EQ(memory->address % 256, 0u);
    for (const float v : download<float>(*device, memory->address, 16)) {
        EXPECT_TRUE(std::isnan(v));
    }
    upload(*device, memory->address, std::vector<float>{1, 2, 3});
    EXPECT_EQ(download<float>(*device, memory->address, 3), (std::vector<float>{1, 2, 3}));
}

// A host call runs beside launches of epochs before the one that waits for it.
TEST(ReferenceDevice, RunsHostCallsBesideLaunches)
{
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const auto device = make_reference_device(seed);
        const auto memory = device->allocate(64);
        upload(*device, memory->address, std::vector<float>(16, 1.0f));
        std::atomic<int> launches = 0;
        std::vector<int> calls; // ascending
        const auto call = [&](int number, std::uint32_t epoch, std::uint32_t joins) {
            return LaunchDeclaration{.kernel = host_kernel("call",
                                                           [&, number](const LaunchArguments& a) {
                                                               while (launches == 0)
                                                                   std::this_thread::yield();
                                                               floats(a.operands[0])[number] += 1;
                                                               calls.push_back(number);
                                                           }),
                                     .operands = {Access::read_write},
                                     .epoch = epoch,
                                     .on_host = true,
                                     .joins = joins};
        };
        const LaunchDeclaration beside{
            .kernel = host_kernel("beside", [&](const LaunchArguments&) { ++launches; }), .epoch = 1};
        const LaunchDeclaration last{.kernel = host_kernel("last",
                                                           [&](const LaunchArguments&) {
                                                               EXPECT_EQ(calls, (std::vector<int>{0, 1, 2}));
                                                           }),
                                     .epoch = 2};
        const auto recording =
            device->record(std::vector{call(0, 0, 2), call(1, 0, 2), call(2, 1, 2), beside, last}, {});
        const Operand o = operand(*memory);
        recording->begin();
        for (std::uint32_t i = 0; i < 3; ++i) recording->set(i, {{&o, 1}, {}, {}, 1});
        for (const std::uint32_t i : {3u, 4u}) recording->set(i, {{}, {}, {}, 1});
        recording->submit();
        EXPECT_EQ(download<float>(*device, memory->address, 4), (std::vector<float>{2, 2, 2, 1}));
    }
}

TEST(ReferenceDevice, EndsWhereAHostCallThrows)
{
    const auto device = make_reference_device();
    const auto recording = device->record(
        std::vector{LaunchDeclaration{.kernel = host_kernel("call",
                                                            [](const LaunchArguments&) {
                                                                throw Error(ErrorKind::distributed,
                                                                            "rank 3 is gone");
                                                            }),
                                      .on_host = true,
                                      .joins = 1}},
        {});
    expect_error(ErrorKind::distributed, [&] { run(*recording, 0, {}); });
    expect_error(ErrorKind::distributed, [&] { device->wait_idle(); });
    EXPECT_TRUE(device->lost());
}

TEST(ReferenceDevice, RunsEpochsInOrderAndShufflesWithin)
{
    constexpr std::int32_t n = 4;
    std::vector<std::string> orders;
    std::vector<std::vector<float>> results;
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
        const auto device = make_reference_device(seed);
        const auto memory = device->allocate(8 * 256);
        std::string order;
        std::vector<LaunchDeclaration> launches;
        for (std::uint32_t i = 0; i < 16;
             ++i) { // two epochs of eight; the second doubles what the first made
            launches.push_back({host_kernel("step",
                                            [&order](const LaunchArguments& a) {
                                                order += static_cast<char>('a' + a.ints[1]);
                                                float* y = floats(a.operands[0]);
                                                for (int k = 0; k < n; ++k) {
                                                    y[k] =
                                                        static_cast<float>(y[k] * a.floats[0] + a.floats[1]);
                                                }
                                            }),
                                {Access::read_write},
                                2,
                                2,
                                i / 8});
        }
        upload(*device, memory->address, std::vector<float>(8 * 64, 1.0f));
        const auto recording = device->record(launches, {});
        recording->begin();
        for (std::uint32_t i = 0; i < 16; ++i) {
            const Operand part{memory->address + 256 * (i % 8), n * 4};
            const double f[2] = {i < 8 ? 1.0 : 2.0, i < 8 ? double(i) : 0.0};
            const std::int32_t ints[2] = {n, static_cast<std::int32_t>(i)};
            recording->set(i, {{&part, 1}, f, ints, 1});
        }
        recording->submit();
        EXPECT_EQ(order.find_last_of("abcdefgh"), 7u) << "an epoch began before the one before it ended";
        orders.push_back(order);
        results.push_back(download<float>(*device, memory->address, 8 * 64));
    }
    EXPECT_NE(orders[0], orders[1]);
    for (const auto& result : results) {
        EXPECT_EQ(result, results[0]);
    }
}

TEST(ReferenceDevice, SeesAChangedReadOperand)
{
    const auto device = make_reference_device();
    const auto a = device->allocate(64), b = device->allocate(64);
    upload(*device, a->address, std::vector<float>(16, 1.0f));
    const Kernel liar = host_kernel("liar", [](const LaunchArguments& l) { floats(l.operands[0])[3] = 7; });
    const std::vector<LaunchDeclaration> launches{{liar, {Access::read, Access::write}, 0, 0, 0}};
    const auto recording = device->record(launches, {});
    const std::vector<Operand> apart{operand(*a), operand(*b)}, in_place{operand(*a), operand(*a)};
    expect_error(ErrorKind::internal, [&] { run(*recording, 0, apart); });
    run(*recording, 0, in_place); // what is written under another name may change
}

TEST(ReferenceDevice, RefusesOperandsOutsideLiveMemory)
{
    const auto device = make_reference_device();
    auto memory = device->allocate(100);
    const std::vector<LaunchDeclaration> launches{{affine(), {Access::read_write}, 2, 1, 0}};
    const auto recording = device->record(launches, {});
    const double f[2] = {1, 0};
    const std::int32_t n = 1;
    const Operand good{memory->address, 112}, long_one{memory->address, 113}, absent{0, 0};
    run(*recording, 0, {&good, 1}, f, {&n, 1}); // tensors are padded to 16 bytes
    expect_error(ErrorKind::internal, [&] { run(*recording, 0, {&long_one, 1}, f, {&n, 1}); });
    const std::int32_t none = 0;
    run(*recording, 0, {&absent, 1}, f, {&none, 1});
    memory.reset();
    expect_error(ErrorKind::internal, [&] { run(*recording, 0, {&good, 1}, f, {&n, 1}); });
    run(*recording, 0, {&good, 1}, f, {&n, 1}, 0); // no groups: not looked at
    expect_error(ErrorKind::internal, [&] { upload(*device, good.address, std::vector<float>{1}); });
}

TEST(ReferenceDevice, SeesWritesBesideAnAllocation)
{
    const auto device = make_reference_device();
    const auto memory = device->allocate(64);
    const Kernel wild = host_kernel("wild", [](const LaunchArguments& l) { floats(l.operands[0])[16] = 7; });
    const std::vector<LaunchDeclaration> launches{{wild, {Access::write}, 0, 0, 0}};
    const auto recording = device->record(launches, {});
    const Operand o = operand(*memory);
    run(*recording, 0, {&o, 1});
    expect_error(ErrorKind::internal, [&] { device->wait_idle(); });
}

TEST(ReferenceDevice, WantsHostKernelsAndWholeReplays)
{
    const auto device = make_reference_device();
    const std::vector<LaunchDeclaration> foreign{{{"gpu_only", {}, nullptr}, {}, 0, 0, 0}};
    expect_error(ErrorKind::unsupported, [&] { device->record(foreign, {}); });
    const std::vector<LaunchDeclaration> launches{{affine(), {Access::read_write}, 2, 1, 0}};
    const auto recording = device->record(launches, {});
    recording->begin();
    expect_error(ErrorKind::internal, [&] { recording->submit(); });
    expect_error(ErrorKind::internal, [&] { recording->set(0, {{}, {}, {}, 1}); });
}

TEST(ReferenceDevice, LimitAndFaults)
{
    const auto device = make_reference_device();
    device->set_memory_limit(4096);
    auto memory = device->allocate(4096);
    expect_error(ErrorKind::out_of_memory, [&] { device->allocate(1); });
    memory.reset();
    memory = device->allocate(4096);
    device->fail_next("submit", 1, Device::Fault::lost);
    const auto recording = device->record({}, {});
    recording->begin();
    expect_error(ErrorKind::device_lost, [&] { recording->submit(); });
    expect_error(ErrorKind::device_lost, [&] { device->upload(memory->address, {}); });
}

} // namespace
} // namespace reprise::device
