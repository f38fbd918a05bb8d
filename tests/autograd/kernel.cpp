// Custom functions whose forward and backward are kernels in GLSL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "kernels/shader_compiler.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::floats;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;
using Tensors = std::vector<Tensor>;

using test::values;
bool on_reference() { return default_device().name() == "reference"; }

constexpr const char* cube_glsl = R"(
void main()
{
    Floats x = Floats(record.operand[0].address), y = Floats(record.operand[1].address);
    const uint i = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    const float scale = record.f[0];
    if (i >= uint(record.n[0])) return;
    y.v[i] = x.v[i] * x.v[i] * x.v[i] * scale;
}
)";
constexpr const char* cube_vjp_glsl = R"(
void main()
{
    Floats x = Floats(record.operand[0].address), dy = Floats(record.operand[1].address);
    Floats dx = Floats(record.operand[2].address);
    const uint i = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    const float scale = record.f[0];
    if (i >= uint(record.n[0])) return;
    dx.v[i] = dy.v[i] * x.v[i] * x.v[i] * 3.0 * scale;
}
)";

Kernel cube_kernel()
{
    return Kernel({.name = "cube", .glsl = cube_glsl, .host = [](const HostLaunch& l) {
                       for (std::int64_t i = 0; i < l.ints[0]; ++i) {
                           const double x = l.inputs[0][static_cast<std::size_t>(i)];
                           l.outputs[0][static_cast<std::size_t>(i)] = x * x * x * l.floats[0];
                       }
                   }});
}
Kernel cube_vjp_kernel()
{
    return Kernel({.name = "cube_vjp", .glsl = cube_vjp_glsl, .host = [](const HostLaunch& l) {
                       for (std::int64_t i = 0; i < l.ints[0]; ++i) {
                           const auto e = static_cast<std::size_t>(i);
                           const double x = l.inputs[0][e];
                           l.outputs[0][e] = l.inputs[1][e] * x * x * 3 * l.floats[0];
                       }
                   }});
}

KernelLaunch each_element(const Tensor& like, double scale)
{
    return {.outputs = {{like.dtype(), like.shape()}},
            .groups = ceil_div(like.numel(), 64),
            .ints = {like.numel()},
            .floats = {scale}};
}

CustomFunction cube(double scale = 1)
{
    return {"cube",
            [=](FunctionContext& c, const Tensors& in) {
                c.save_for_backward(in);
                return Tensors{cube_kernel()(in, each_element(in[0], scale))};
            },
            [=](const FunctionContext& c, const Tensors& dy) {
                return Tensors{cube_vjp_kernel()({c.saved(0), dy[0]}, each_element(dy[0], scale))};
            }};
}

class UserKernel : public testing::Test {
protected:
    void SetUp() override
    {
        if (!on_reference() && !kernels::has_shader_compiler(test::inner(default_device()).capabilities()))
            GTEST_SKIP() << "there is no compiler for the device's kernels";
    }
};

TEST_F(UserKernel, ComputesForwardAndBackward)
{
    Variable x(values({1, -2, 3}));
    const Tensor y = cube(2)(x);
    EXPECT_THAT(floats(y), ElementsAre(2, -16, 54));
    sum(y).backward();
    EXPECT_THAT(floats(x.grad()), ElementsAre(6, 24, 54));
}

TEST_F(UserKernel, TakesViewsAndNumbers)
{
    const Tensor m = from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_THAT(floats(cube()(transpose(m, 0, 1))), ElementsAre(1, 64, 8, 125, 27, 216));
    EXPECT_THAT(floats(cube()(narrow(m, 1, 1, 2))), ElementsAre(8, 27, 125, 216));
    EXPECT_THAT(floats(cube()(full({3}, 2))), ElementsAre(8, 8, 8));
    EXPECT_THAT(floats(cube()(zeros({0}))), ElementsAre());
}

TEST_F(UserKernel, ReplaysInEagerCodeAtAnySize)
{
    const Kernel kernel = cube_kernel();
    const auto run = [&](std::int64_t n) {
        const Tensor x = full({n}, 2);
        x.eval();
        return floats(kernel({x}, each_element(x, 0.5)) + 1);
    };
    for (const std::int64_t n : {100, 100, 200, 300}) run(n);
    const Stats before = stats();
    for (const std::int64_t n : {100, 300, 7000}) {
        EXPECT_EQ(run(n), std::vector<float>(static_cast<std::size_t>(n), 5)) << n;
    }
    EXPECT_GE(stats().eager_replays, before.eager_replays + 3);
    const Tensor x = full({100}, 2);
    EXPECT_EQ(floats(kernel({x}, each_element(x, 1)) + 1)[99], 9);
}

TEST_F(UserKernel, PassesTheGradientCheckOnItsHostBody)
{
    const GradCheck r = gradcheck([](const Tensors& in) { return cube(0.5)(in[0]) * in[0]; }, {rand({4, 3})});
    EXPECT_TRUE(r.passed) << r.message;
}

TEST_F(UserKernel, ServesEverySizeOfAProgram)
{
    Variable w(values({2}));
    const auto step = record(
        [&](Tensor x) {
            w.zero_grad();
            const Tensor y = cube()(x * w);
            sum(y * 2).backward();
            return stack({sum(y), sum(w.grad())});
        },
        {spec({symbol("n")})});
    EXPECT_THAT(floats(step(values({1}))), ElementsAre(8, 24));
    EXPECT_THAT(floats(step(values({1, 2, 3}))), ElementsAre(8 * 36, 24 * 36));
    const auto many = floats(step(ones({1000})));
    EXPECT_THAT(many, ElementsAre(8000, 24000));
    const auto outer = record([&](Tensor x) { return cube()(x) + sum(step(x)); }, {spec({symbol("m")})});
    EXPECT_THAT(floats(outer(values({1, 2}))), ElementsAre(1 + 9 * 32, 8 + 9 * 32));
}

// Its launches are ordered with those around it: each reads what the one before has written.
TEST_F(UserKernel, IsPlannedWithItsNeighbours)
{
    const auto f = record(
        [](Tensor x) {
            Tensor y = x;
            for (int i = 0; i < 4; ++i) y = relu(cube(0.5)(y + 1) - 1);
            return y;
        },
        {spec({symbol("n")})});
    const Tensor x = rand({300});
    std::vector<float> want = floats(x);
    for (float& v : want)
        for (int i = 0; i < 4; ++i) v = std::max((v + 1) * (v + 1) * (v + 1) * 0.5f - 1, 0.0f);
    const auto got = floats(f(x));
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got[i], want[i], 1e-3f * std::fabs(want[i]) + 1e-5f);
}

TEST_F(UserKernel, HasSeveralOutputsOfOtherTypes)
{
    const Kernel k({.name = "split_sign",
                    .glsl = R"(
void main()
{
    Floats x = Floats(record.operand[0].address), magnitude = Floats(record.operand[1].address);
    Ints sign_of = Ints(record.operand[2].address);
    const uint i = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i >= uint(record.n[0])) return;
    magnitude.v[i] = abs(x.v[i]);
    sign_of.v[i] = x.v[i] < 0.0 ? -1 : 1;
}
)",
                    .local_size_x = 32,
                    .host = [](const HostLaunch& l) {
                        for (std::size_t i = 0; i < l.inputs[0].size(); ++i) {
                            l.outputs[0][i] = std::fabs(l.inputs[0][i]);
                            l.outputs[1][i] = l.inputs[0][i] < 0 ? -1 : 1;
                        }
                    }});
    const Tensor x = values({-1.5f, 2, -3});
    const auto out = k.call({x}, {.outputs = {{f32, x.shape()}, {i32, x.shape()}},
                                  .groups = ceil_div(x.numel(), 32),
                                  .ints = {x.numel()}});
    EXPECT_THAT(floats(out[0]), ElementsAre(1.5f, 2, 3));
    EXPECT_THAT(out[1].to_vector<std::int32_t>(), ElementsAre(-1, 1, -1));
}

TEST_F(UserKernel, CountsOnlyIntsThatTheTextReads)
{
    const auto run = [](const std::string& added) {
        const std::string text = cube_glsl;
        const std::size_t body = text.find('{') + 1;
        const Kernel k({.name = "cube",
                        .glsl = text.substr(0, body) + added + text.substr(body),
                        .host = [](const HostLaunch& l) { l.outputs[0] = l.inputs[0]; }});
        const Tensor x = values({1});
        return error_of([&] { return floats(k({x}, each_element(x, 1))); }).text;
    };
    const std::string nothing = Caught().text;
    EXPECT_EQ(run("// record.n[7]\n/* record.n[8] */"), nothing);
    if (!test::inner(default_device()).capabilities().is_cuda()) {
        EXPECT_EQ(run("\n#if OPERANDS == 9\nint other = record.n[5];\n#endif\n"), nothing);
    }
    EXPECT_THAT(run("int other = record.n[12];"), HasSubstr("reads record.n[12]"));
}

TEST_F(UserKernel, HasNoGradient)
{
    Variable x(values({1}));
    const auto f = [&] { return cube_kernel()({x}, each_element(x, 1)); };
    EXPECT_FALSE(f().requires_grad());
    sum(f() + x * x).backward();
    EXPECT_THAT(floats(x.grad()), ElementsAre(2)); // not 5: the kernel's part is missing
    EXPECT_THAT(error_of([&] { return sum(f()).backward(), 0; }).text,
                HasSubstr("a Kernel without a CustomFunction"));
}

TEST_F(UserKernel, TellsWhatIsWrong)
{
    const Tensor x = values({1});
    const KernelLaunch launch = each_element(x, 1);
    EXPECT_EQ(error_of([] { return Kernel({.name = "none"}), 0; }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { return cube_kernel()({}, launch); }).kind, ErrorKind::argument);
    KernelLaunch too_few = launch;
    too_few.ints = {};
    const Caught ints = error_of([&] { return cube_kernel()({x}, too_few); });
    EXPECT_EQ(ints.kind, ErrorKind::argument);
    EXPECT_THAT(ints.text, HasSubstr("reads record.n[0] but is given (0) ints"));
    const Caught words = error_of([] { return Kernel({.name = "none", .spirv = {1, 2, 3, 4, 5}}), 0; });
    EXPECT_EQ(words.kind, ErrorKind::argument);
    EXPECT_THAT(words.text, HasSubstr("(5) words"));
    if (on_reference()) {
        const Caught body =
            error_of([&] { return Kernel({.name = "mine", .glsl = cube_glsl})({x}, launch); });
        EXPECT_EQ(body.kind, ErrorKind::unsupported);
        EXPECT_THAT(body.text, HasSubstr("[mine]"));
        const Kernel grows({.glsl = cube_glsl, .host = [](const HostLaunch& l) { l.outputs[0].resize(7); }});
        EXPECT_EQ(error_of([&] { return floats(grows({x}, launch)); }).kind, ErrorKind::argument);
    } else {
        const Caught text = error_of([&] {
            return Kernel({.name = "mine", .glsl = "void main()\n{\n    nonsense;\n}\n"})({x}, launch);
        });
        EXPECT_EQ(text.kind, ErrorKind::argument);
        EXPECT_THAT(text.text, HasSubstr("mine:3:"));
        EXPECT_THAT(text.text, HasSubstr("nonsense"));
        const Caught later = error_of([&] {
            const std::string glsl = "#include \"common/i64.glsl\"\nshared float a[8], b; /* two\nlines */\n"
                                     "void main()\n{\n    nonsense;\n}\n";
            return Kernel({.name = "mine", .glsl = glsl})({x}, launch);
        });
        EXPECT_THAT(later.text, HasSubstr("mine:6:"));
    }
}

// A workgroup turns tiles of 8 x 8 elements around their diagonal.
TEST_F(UserKernel, HasSharedArraysOfTwoDimensionsAndSharedVariables)
{
    const Kernel turn({.name = "turn",
                       .glsl = R"(
                           shared float tile[8][9], scale;
                           void main()
                           {
                               const uint lane = gl_LocalInvocationID.x, row = lane / 8u, column = lane % 8u;
                               const uint first = flat_group() * 64u;
                               if (first >= uint(record.n[0])) return;
                               tile[row][column] = Floats(record.operand[0].address).v[first + lane];
                               if (lane == 0u) scale = 2.0;
                               barrier();
                               Floats(record.operand[1].address).v[first + lane] = tile[column][row] * scale;
                           })",
                       .host = [](const HostLaunch& l) {
                           for (std::size_t i = 0; i < l.inputs[0].size(); ++i)
                               l.outputs[0][i / 64 * 64 + i % 8 * 8 + i / 8 % 8] = 2 * l.inputs[0][i];
                       }});
    const Tensor x = reshape(arange(192, {.dtype = f32}), {3, 8, 8});
    const Tensor y = turn({x}, {.outputs = {{f32, x.shape()}}, .groups = 3, .ints = {192}});
    EXPECT_EQ(floats(y), floats((transpose(x, 1, 2) * 2.0).contiguous()));
}

// Compiled when the tests were built.
const std::vector<std::uint32_t> negate_words = {
#include "autograd_shaders/negate.inc"
};

TEST(UserKernelOfSpirV, NeedsNoCompiler)
{
    const Kernel negate({.name = "negate", .spirv = negate_words, .host = [](const HostLaunch& l) {
                             for (std::size_t i = 0; i < l.inputs[0].size(); ++i)
                                 l.outputs[0][i] = -l.inputs[0][i];
                         }});
    const Tensor x = values({1, -2, 3});
    const auto call = [&] { return negate({x}, {.outputs = {{f32, x.shape()}}, .ints = {x.numel()}}); };
    if (test::inner(default_device()).capabilities().compute_capability != 0) { // CUDA
        EXPECT_EQ(error_of(call).kind, ErrorKind::unsupported);
        return;
    }
    EXPECT_THAT(floats(call()), ElementsAre(-1, 2, -3));
}

} // namespace
} // namespace reprise
