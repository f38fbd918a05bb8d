// The CUDA device on the emulated driver (tests/cuda_emulation): loading it, graphs, memory, and what each of the
// driver's failures leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <reprise/error.hpp>

#include "cuda_fixture.hpp"
#include "device/cuda/driver.hpp"
#include "shape/error_of.hpp"

namespace reprise::device {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const char* library) { return std::get<std::string>(cuda::load_driver(library)); }

TEST(CudaDriver, ThatIsMissingIsNamed)
{
    EXPECT_THAT(refusal("libcuda-of-nobody.so.1"), HasSubstr("libcuda-of-nobody.so.1"));
    EXPECT_THAT(refusal("libcuda-of-nobody.so.1"), HasSubstr("was not found"));
}

TEST(CudaDriver, ThatLacksAFunctionIsRefused)
{
    EXPECT_THAT(refusal("libcuda_incomplete.so.1"), HasSubstr("has no cuGetErrorName"));
}

TEST(CudaDriver, ThatIsTooOldIsRefused)
{
    const Setting old("version=11080");
    EXPECT_THAT(refusal("libcuda.so.1"), HasSubstr("serves CUDA 11.8"));
    EXPECT_THAT(refusal("libcuda.so.1"), HasSubstr("update the driver"));
}

TEST(CudaDriver, WithoutADeviceIsRefused)
{
    const Setting none("devices=0");
    EXPECT_THAT(refusal("libcuda.so.1"), HasSubstr("finds no device"));
}

TEST(CudaDriver, ThatDoesNotStartIsRefused)
{
    fail("cuInit", CUDA_ERROR_UNKNOWN);
    EXPECT_THAT(refusal("libcuda.so.1"), HasSubstr("does not start (CUDA_ERROR_UNKNOWN)"));
}

class CudaDevice : public CudaFixture {
protected:
    static LaunchDeclaration flip(std::uint32_t epoch)
    {
        return {
            .kernel = {.name = "flip"}, .operands = {Access::read, Access::write}, .ints = 3, .epoch = epoch};
    }
    static void set_flip(Recording& r, std::uint32_t launch, const Memory& from, const Memory& to, int count)
    {
        const std::array<Operand, 2> operands{{{from.address, from.bytes}, {to.address, to.bytes}}};
        const std::array<std::int32_t, 3> ints{1, count, 1};
        r.set(launch, {operands, {}, ints, static_cast<std::uint64_t>(count + 63) / 64});
    }
};

// The emulation runs a graph's nodes in any order that its edges allow.
TEST_F(CudaDevice, RunsEpochsOneAfterTheOther)
{
    const auto x = device().allocate(4 * 100), y = device().allocate(4 * 100), z = device().allocate(4 * 100);
    const std::vector<LaunchDeclaration> launches{full(0), full(0), flip(1), flip(1), full(2), flip(3)};
    const auto recording = device().record(launches, {});
    for (int round = 0; round < 40; ++round) {
        recording->begin();
        set_full(*recording, 0, *x, 100, round, 1);
        set_full(*recording, 1, *y, 100, -round, 1);
        set_flip(*recording, 2, *x, *z, 100);
        set_flip(*recording, 3, *y, *y, 1);
        set_full(*recording, 4, *x, 100, 7, 1); // what was read before
        set_flip(*recording, 5, *z, *y, 100);
        recording->submit();
        EXPECT_THAT(read(*y, 100), Each(round));
        EXPECT_THAT(read(*x, 100), Each(7));
    }
    EXPECT_EQ(device().counters().recordings, 1u);
}

TEST_F(CudaDevice, PassesOverLaunchesWithoutGroups)
{
    const auto x = device().allocate(4 * 3000);
    const std::vector<LaunchDeclaration> launches{full(0), full(1)};
    const auto recording = device().record(launches, {});
    const auto call = [&](std::uint64_t first, std::uint64_t second) {
        recording->begin();
        set_full(*recording, 0, *x, 3000, 1, first);
        set_full(*recording, 1, *x, 1024, 2, second);
        device().wait(recording->submit());
        return read(*x, 3000);
    };
    EXPECT_EQ(call(12, 4)[1023], 2);
    EXPECT_THAT(call(12, 0), Each(1));    // disabled
    std::vector<float> part = call(0, 2); // of its 4 groups
    EXPECT_THAT(std::vector(part.begin(), part.begin() + 512), Each(2));
    EXPECT_THAT(std::vector(part.begin() + 512, part.end()), Each(1));
    EXPECT_THAT(call(12, 0), Each(1));
}

TEST_F(CudaDevice, KeepsSeveralCallsApartThatAreInFlight)
{
    const auto x = device().allocate(4 * 4);
    std::vector<std::unique_ptr<Memory>> results;
    const std::vector<LaunchDeclaration> launches{full(0), flip(1)};
    const auto recording = device().record(launches, {.slots = 2});
    std::vector<Ticket> tickets;
    for (int i = 0; i < 7; ++i) {
        results.push_back(device().allocate_readable(16));
        recording->begin();
        set_full(*recording, 0, *x, 4, i, 1);
        set_flip(*recording, 1, *x, *results.back(), 4);
        tickets.push_back(recording->submit());
    }
    EXPECT_TRUE(std::is_sorted(tickets.begin(), tickets.end()));
    device().wait(tickets[2]);
    EXPECT_TRUE(device().done(tickets[0]));
    device().wait(tickets.back());
    for (int i = 0; i < 7; ++i) {
        float value = 0;
        std::memcpy(&value, results[static_cast<std::size_t>(i)]->host, 4);
        EXPECT_EQ(value, i);
    }
}

TEST_F(CudaDevice, RefusesToWaitForATicketThatWasNotGivenOut)
{
    const auto x = device().allocate(64);
    const std::vector<LaunchDeclaration> launches{full(0)};
    const auto recording = device().record(launches, {});
    recording->begin();
    set_full(*recording, 0, *x, 16, 1, 1);
    const Ticket ticket = recording->submit();
    EXPECT_EQ(error_of([&] { device().wait(ticket + 1); }).kind, ErrorKind::argument);
    EXPECT_FALSE(device().done(ticket + 1));
    device().wait(ticket);
}

TEST_F(CudaDevice, TimesLaunches)
{
    const auto x = device().allocate(64);
    const std::vector<LaunchDeclaration> launches{full(0), full(1), full(2)};
    const auto recording = device().record(launches, {.timestamps = true});
    recording->begin();
    for (std::uint32_t i = 0; i < 3; ++i) set_full(*recording, i, *x, 16, 1, 1);
    const Ticket ticket = recording->submit();
    device().wait(ticket);
    const Recording::Times times = recording->times();
    EXPECT_EQ(times.call, ticket);
    ASSERT_EQ(times.begun.size(), 4u);
    EXPECT_TRUE(std::is_sorted(times.begun.begin(), times.begun.end()));
}

TEST_F(CudaDevice, WithoutMemorySaysSoAndGoesOn)
{
    const auto before = device().allocate(64);
    {
        const Setting small("memory=1"); // from now on
        const auto caught = error_of([&] { return device().allocate(std::uint64_t{1} << 30), 0; });
        EXPECT_EQ(caught.kind, ErrorKind::out_of_memory);
        EXPECT_THAT(caught.text, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
    }
    device().allocate(std::uint64_t{1} << 30);
    fail("cuMemHostAlloc", CUDA_ERROR_OUT_OF_MEMORY, 1);
    EXPECT_EQ(error_of([&] { return device().allocate_readable(std::uint64_t{1} << 23), 0; }).kind,
              ErrorKind::out_of_memory);
    const auto x = device().allocate(64);
    const std::vector<float> v{1, 2, 3};
    device().upload(x->address, std::as_bytes(std::span(v)));
    EXPECT_THAT(read(*x, 3), ElementsAre(1, 2, 3));
}

TEST_F(CudaDevice, ThatCanNotRecordGoesOn)
{
    const auto x = device().allocate(64);
    const std::vector<LaunchDeclaration> launches{full(0)};
    for (const char* function : {"cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags"}) {
        fail(function, CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(error_of([&] { return device().record(launches, {}), 0; }).kind, ErrorKind::out_of_memory)
            << function;
    }
    const auto recording = device().record(launches, {});
    recording->begin();
    set_full(*recording, 0, *x, 16, 4, 1);
    fail("cuGraphLaunch", CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(error_of([&] { return recording->submit(); }).kind, ErrorKind::out_of_memory);
    recording->submit(); // may be called again
    EXPECT_THAT(read(*x, 16), Each(4));
}

TEST_F(CudaDevice, WithoutCodeForItNamesTheBuild)
{
    fail("cuModuleLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU);
    const std::vector<LaunchDeclaration> launches{full(0)};
    const auto caught = error_of([&] { return device().record(launches, {}), 0; });
    EXPECT_EQ(caught.kind, ErrorKind::unsupported);
    EXPECT_THAT(caught.text, HasSubstr("REPRISE_CUDA_ARCHITECTURES"));
    LaunchDeclaration unknown = full(0);
    unknown.kernel.name = "nothing";
    EXPECT_EQ(error_of([&] { return device().record({&unknown, 1}, {}), 0; }).kind, ErrorKind::unsupported);
}

TEST_F(CudaDevice, ThatFaultsIsLostAndOpensAnew)
{
    for (const char* function :
         {"cuGraphLaunch", "cuEventQuery", "cuEventSynchronize", "cuMemcpyHtoDAsync_v2"}) {
        SCOPED_TRACE(function);
        {
            const auto x = device().allocate(64);
            const std::vector<LaunchDeclaration> launches{full(0)};
            const auto recording = device().record(launches, {});
            const auto step = [&] {
                recording->begin();
                set_full(*recording, 0, *x, 16, 4, 1);
                const Ticket t = recording->submit();
                device().done(t);
                device().wait(t);
                return 0;
            };
            step();
            fail(function, CUDA_ERROR_ILLEGAL_ADDRESS);
            EXPECT_EQ(error_of(step).kind, ErrorKind::device_lost);
            EXPECT_TRUE(device().lost());
            EXPECT_EQ(error_of(step).kind, ErrorKind::device_lost);
            EXPECT_EQ(error_of([&] { return device().allocate(16), 0; }).kind, ErrorKind::device_lost);
        }
        device_.reset();
        revive();
        reset("cuda:0");
        device_ = open("cuda:0");
        const auto x = device().allocate(64);
        const std::vector<float> v{5};
        device().upload(x->address, std::as_bytes(std::span(v)));
        EXPECT_THAT(read(*x, 1), ElementsAre(5));
    }
}

TEST_F(CudaDevice, IsTheBestThereIs)
{
    EXPECT_EQ(default_id(), "cuda:0");
    EXPECT_EQ(open("cuda"), device_);
    EXPECT_THAT(error_of([] { return open("cuda:7"), 0; }).text, HasSubstr("cuda:0"));
    EXPECT_EQ(device().capabilities().compute_capability, 90u);
}

} // namespace
} // namespace reprise::device
