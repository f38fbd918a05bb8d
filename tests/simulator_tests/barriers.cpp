// Kernels of the library without one of their barriers: the simulated GPU finds the race that each barrier prevents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "device/embedded_kernels.hpp"
#include "device/spirv.hpp"
#include "simulator/device.hpp"
#include "support/devices.hpp"

namespace reprise::test {
namespace {

constexpr std::uint32_t control_barrier = 224; // OpControlBarrier

using Code = std::vector<std::uint32_t>;

Code code_of(const std::string& kernel)
{
    const device::EmbeddedKernel* found = device::embedded_kernel(kernel);
    return found ? device::unpack(*found->code) : Code{};
}

std::size_t barriers_in(const Code& code)
{
    std::size_t count = 0;
    device::for_each_instruction(
        code, [&](device::SpirvWords w) { count += device::opcode_of(w) == control_barrier ? 1 : 0; });
    return count;
}

Code without_barrier(const Code& code, std::size_t barrier)
{
    Code changed(code.begin(), code.begin() + device::spirv_header_words);
    std::size_t count = 0;
    device::for_each_instruction(code, [&](device::SpirvWords w) {
        if (device::opcode_of(w) == control_barrier && count++ == barrier) return;
        changed.insert(changed.end(), w.begin(), w.end());
    });
    return changed;
}

// Returns the barriers of the kernel without which f, which launches it, has the same result as with all of them.
template <class F> std::vector<std::size_t> unneeded_barriers(const std::string& kernel, const F& f)
{
    const Code code = code_of(kernel);
    const std::size_t count = barriers_in(code);
    EXPECT_GT(count, 0U) << kernel;
    std::vector<std::size_t> unneeded;
    for (std::size_t i = 0; i <= count; ++i) { // the last time with all of them
        const auto device = simulator::make_simulator();
        if (i < count) device->register_kernel(kernel, without_barrier(code, i));
        const UseDevice use(open(device));
        const auto run = [&] { f().eval(), default_device().synchronize(); };
        if (i == count) {
            EXPECT_NO_THROW(run());
            continue;
        }
        try {
            run();
            unneeded.push_back(i);
        } catch (const Error& e) {
            EXPECT_THAT(e.what(), testing::HasSubstr("] " + kernel));
            EXPECT_THAT(e.what(), testing::HasSubstr(" without a barrier between"));
        }
    }
    return unneeded;
}

using Barriers = std::vector<std::size_t>;
const Barriers none;
// The kernels of rows end with a reduction, whose last barrier only matters if another one follows.
const Barriers last_of_six{5};

TEST(SimulatorBarriers, OfProducts)
{
    EXPECT_EQ(unneeded_barriers("gemm_tile",
                                [] {
                                    return matmul(randn({70, 130}), randn({130, 66}));
                                }),
              none);
}
TEST(SimulatorBarriers, OfConvolutions)
{
    const auto f = [] { return conv2d(randn({2, 40, 9, 9}), randn({70, 40, 3, 3})); };
    EXPECT_EQ(unneeded_barriers("conv_tile_y", f), none);
}
TEST(SimulatorBarriers, OfAttention)
{
    const auto f = [] {
        return scaled_dot_product_attention(randn({1, 2, 130, 64}), randn({1, 2, 130, 64}),
                                            randn({1, 2, 130, 64}));
    };
    EXPECT_EQ(unneeded_barriers("attention_tile_64", f), none);
}
TEST(SimulatorBarriers, OfNorms)
{
    const auto f = [] { return layer_norm(randn({6, 200}), {200}, randn({200}), randn({200})); };
    EXPECT_EQ(unneeded_barriers("layer_norm_group_vec4", f), last_of_six);
}
TEST(SimulatorBarriers, OfSoftmax)
{
    EXPECT_EQ(unneeded_barriers("softmax_group_vec4",
                                [] {
                                    return softmax(randn({9, 300}), -1);
                                }),
              last_of_six);
}
TEST(SimulatorBarriers, OfSums)
{
    EXPECT_EQ(unneeded_barriers("sum_rows_group", [] { return sum(randn({30, 500}), {1}); }), none);
}

} // namespace
} // namespace reprise::test
