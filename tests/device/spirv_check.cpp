// The check of kernels' SPIR-V, on the library's own kernels and on ones that were spoilt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device/embedded_kernels.hpp"
#include "device/float_controls.hpp"
#include "device/spirv_check.hpp"

namespace reprise::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::uint32_t>;

Words words_of(const char* kernel) { return unpack(*embedded_kernel(kernel)->code); }

// Returns the number of instructions with this opcode whose word at the index has this value.
std::size_t count(const Words& words, std::uint32_t opcode, std::size_t index, std::uint32_t value)
{
    std::size_t found = 0;
    for_each_instruction(words, [&](SpirvWords w) {
        found += opcode_of(w) == opcode && index < w.size() && w[index] == value;
    });
    return found;
}
std::size_t capabilities(const Words& words) { return count(words, OpCapability, 1, preserve_capability); }
std::size_t modes(const Words& words) { return count(words, OpExecutionMode, 2, preserve_mode); }

TEST(SpirvCheck, KernelsPreserveSignedZerosInfinitiesAndNaN)
{
    for (const char* kernel : {"gemm_tile", "elementwise_tanh_fwd", "elementwise_tanh_fwd_f64", "flip"}) {
        const Words words = words_of(kernel);
        EXPECT_THAT(spirv_faults(kernel, words), IsEmpty());
        EXPECT_EQ(capabilities(words), 1u) << kernel;
    }
    EXPECT_EQ(modes(words_of("gemm_tile")), 1u);
    EXPECT_EQ(modes(words_of("elementwise_tanh_fwd_f64")), 2u);
}

TEST(SpirvCheck, AModuleWithoutTheModeIsAFault)
{
    const std::uint32_t all[] = {32, 64}, longer[] = {64};
    const Words without = without_preserve_mode(words_of("gemm_tile"), all);
    EXPECT_EQ(modes(without), 0u);
    EXPECT_EQ(capabilities(without), 0u);
    EXPECT_THAT(spirv_faults("gemm_tile", without),
                ElementsAre(HasSubstr("SignedZeroInfNanPreserve for 32 bits")));

    EXPECT_THAT(spirv_faults("gemm_tile", with_float_controls(without)), IsEmpty());

    const Words both = words_of("elementwise_tanh_fwd_f64"), half = without_preserve_mode(both, longer);
    EXPECT_EQ(modes(half), 1u);
    EXPECT_EQ(capabilities(half), 1u) << "the mode for 32 bits needs it";
    EXPECT_EQ(half.size() + 4, both.size());
    EXPECT_THAT(spirv_faults("tanh", half), ElementsAre(HasSubstr("SignedZeroInfNanPreserve for 64 bits")));
    EXPECT_THAT(spirv_faults("tanh", with_float_controls(half)), IsEmpty());
}

// The bits of kernels with barriers, which GPUs run, thus do not depend on the size of a subgroup, except for those
// that multiply cooperative matrices, a device's own.
TEST(SpirvCheck, KernelsWithBarriersUseNoSubgroups)
{
    constexpr std::uint32_t OpControlBarrier = 224;
    constexpr std::uint32_t Groups = 18, GroupNonUniform = 61,
                            GroupNonUniformQuad = 68; // capabilities, all between
    constexpr std::uint32_t SubgroupBallotKHR = 4423, SubgroupVoteKHR = 4431;
    std::size_t with_barriers = 0;
    for (const EmbeddedKernel& kernel : embedded_kernels()) {
        bool barriers = false, subgroups = false, matrices = false;
        for_each_instruction(unpack(*kernel.code), [&](SpirvWords w) {
            barriers |= opcode_of(w) == OpControlBarrier;
            matrices |= opcode_of(w) == OpCapability && w[1] == cooperative_matrix_capability;
            subgroups |= opcode_of(w) == OpCapability &&
                         (w[1] == Groups || w[1] == SubgroupBallotKHR || w[1] == SubgroupVoteKHR ||
                          (w[1] >= GroupNonUniform && w[1] <= GroupNonUniformQuad));
        });
        with_barriers += barriers;
        EXPECT_FALSE(barriers && subgroups && !matrices) << kernel.name;
    }
    EXPECT_GE(with_barriers, 30u);
}

TEST(SpirvCheck, FmaIsNotSplit)
{
    const Words words = words_of("gemm_tile");
    const std::size_t fmas = count(words, OpExtInst, 4, glsl_fma);
    EXPECT_GE(fmas, 1u);
    Words undecorated(words.begin(), words.begin() + spirv_header_words);
    for_each_instruction(words, [&](SpirvWords w) {
        if (opcode_of(w) != OpDecorate || w[2] != no_contraction_decoration)
            undecorated.insert(undecorated.end(), w.begin(), w.end());
    });

    const auto split = [](const Words& module) {
        const auto faults = spirv_faults("gemm_tile", module);
        return static_cast<std::size_t>(
            std::count_if(faults.begin(), faults.end(), [](const std::string& fault) {
                return fault.find("Fma lacks NoContraction") != std::string::npos;
            }));
    };
    EXPECT_EQ(split(words), 0u);
    EXPECT_EQ(split(undecorated), fmas);
    EXPECT_EQ(split(with_float_controls(undecorated)), 0u);
}

TEST(SpirvCheck, OtherModulesStayAsTheyAre)
{
    const std::uint32_t longer[] = {64};
    const Words words = words_of("gemm_tile");
    EXPECT_EQ(without_preserve_mode(words, longer), words);
    EXPECT_EQ(without_preserve_mode(words, {}), words);
    EXPECT_THAT(without_preserve_mode(Words{}, longer), IsEmpty());
    EXPECT_EQ(with_float_controls(words), words);
    EXPECT_THAT(with_float_controls(Words{}), IsEmpty());
}

} // namespace
} // namespace reprise::device
