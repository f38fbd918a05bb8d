// The fixture itself, on a shader of a user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/testing.hpp>

#include "shape/error_of.hpp"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::uint32_t> scale = {
#include "shaders_shaders/scale.inc"
};

ShaderRun run_of(std::size_t count)
{
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i);
    return {.spirv = scale,
            .name = "scale",
            .constants = {5, 0},
            .buffers = {bytes_of(x), bytes_of(std::vector<float>(count, -1))},
            .groups = (count + 63) / 64,
            .ints = {static_cast<std::int32_t>(count)},
            .floats = {2}};
}

TEST(RunShader, GivesWhatTheBuffersHoldAfterwards)
{
    const auto out = run_shader(default_device(), run_of(3));
    ASSERT_EQ(out.size(), 2u);
    EXPECT_THAT(values_of<float>(out[0]), ElementsAre(0, 1, 2));
    EXPECT_THAT(values_of<float>(out[1]), ElementsAre(5, 7, 9));
}

TEST(RunShader, ManyGroups)
{
    constexpr std::size_t count = 64 * 70000 + 5; // more groups than one axis has
    const std::vector<float> y = values_of<float>(run_shader(default_device(), run_of(count))[1]);
    for (const std::size_t i : {std::size_t{0}, std::size_t{64} * 65535, count - 1})
        EXPECT_EQ(y[i], 2 * static_cast<float>(i) + 5) << i;
}

TEST(RunShader, KeepsItsPipelines)
{
    run_shader(default_device(), run_of(4));
    const Stats before = stats();
    run_shader(default_device(), run_of(9));
    EXPECT_EQ(stats().pipelines, before.pipelines);
    EXPECT_EQ(stats().shader_modules, before.shader_modules);
}

TEST(RunShader, SeesWhatIsWrittenBesideABuffer)
{
    ShaderRun run = run_of(4); // 16 bytes: no padding behind
    run.constants = {5, 1};
    const Caught error = error_of([&] { return run_shader(default_device(), run); });
    EXPECT_EQ(error.kind, ErrorKind::internal);
    EXPECT_THAT(error.text, HasSubstr("(scale) has written outside of buffer (1) of (16) bytes"));
}

TEST(RunShader, NoGroupsDoNothing)
{
    ShaderRun run = run_of(4);
    run.groups = 0;
    EXPECT_THAT(values_of<float>(run_shader(default_device(), run)[1]), ElementsAre(-1, -1, -1, -1));
}

TEST(RunShader, SaysWhatItCannotRun)
{
    EXPECT_EQ(error_of([] { return run_shader(Device("reference"), run_of(4)); }).kind,
              ErrorKind::unsupported);
    ShaderRun unknown = run_of(4);
    unknown.spirv.clear();
    unknown.name = "no_such_kernel";
    const Caught error = error_of([&] { return run_shader(default_device(), unknown); });
    EXPECT_EQ(error.kind, ErrorKind::argument);
    EXPECT_THAT(error.text,
                HasSubstr("spirv is empty, and no kernel of the library is named (no_such_kernel)"));
    ShaderRun text = run_of(4);
    text.spirv = {0x72657623, 0x6E6F6973, 0, 0, 0}; // "#version"
    const Caught no_module = error_of([&] { return run_shader(default_device(), text); });
    EXPECT_EQ(no_module.kind, ErrorKind::argument);
    EXPECT_THAT(no_module.text, HasSubstr("no SPIR-V"));
    for (const Dim& groups : {Dim(-1), symbol("n")}) {
        ShaderRun run = run_of(4);
        run.groups = groups;
        EXPECT_EQ(error_of([&] { return run_shader(default_device(), run); }).kind, ErrorKind::argument);
    }
}

} // namespace
} // namespace reprise::testing
