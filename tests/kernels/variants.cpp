// Which variant serves a problem, and why the others do not.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/variants.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace {

using kernels::Refusal;
using testing::HasSubstr;

ops::View view(Shape sizes, DType dtype = f32)
{
    return {.value = 0, .dtype = dtype, .layout = {sizes, shape::contiguous_strides(sizes), 0}};
}

ops::ConvProblem problem(const Shape& x, const Shape& weight, std::int64_t stride, std::int64_t padding)
{
    const auto size = [&](std::size_t d) { return floor_div(x[d] + 2 * padding - weight[d], stride) + 1; };
    return {.wanted = ops::ConvProblem::Wanted::y,
            .x = view({x[0], x[1], 1, x[2], x[3]}),
            .weight = view({weight[0], weight[1], 1, weight[2], weight[3]}),
            .y = view({x[0], weight[0], 1, size(2), size(3)}),
            .stride = {1, stride, stride},
            .padding = {0, padding, padding},
            .dilation = {1, 1, 1}};
}

const device::Capabilities lavapipe{
    .subgroup_size = 8, .subgroup_shuffle = true, .texel_view = true, .prefer_texels = true};

// Why a variant does not serve the problem; fails if there is no such variant.
std::string reason_of(const std::vector<Refusal>& all, const std::string& variant)
{
    for (const Refusal& r : all)
        if (r.variant == variant) return r.reason;
    ADD_FAILURE() << "There is no variant " << variant;
    return {};
}

std::string refusal(const ops::ConvProblem& p, const device::Capabilities& caps = lavapipe)
{
    const std::vector<Refusal> all = kernels::explain_conv(caps, p);
    EXPECT_EQ(reason_of(all, "depthwise").empty(), p.groups > 1 && p.weight.sizes()[1] == Dim(1));
    EXPECT_EQ(all.back().reason, "") << "patches serve everything";
    return reason_of(all, "direct");
}

// The device of native code.
device::Capabilities with_native(std::uint64_t from)
{
    device::Capabilities caps = lavapipe;
    caps.native_from = from;
    return caps;
}

TEST(Variants, OfManyMultiplicationsAreNative)
{
    const Dim n = symbol("n");
    const auto of_product = [&](const device::Capabilities& caps, const Dim& m, DType t = f32) {
        return reason_of(
            kernels::explain_gemm(caps, {view({2, m, 64}, t), view({2, 64, 32}, t), view({2, m, 32}, t)}),
            "native");
    };
    const device::Capabilities caps = with_native(2 * 16 * 64 * 32);
    EXPECT_EQ(of_product(caps, 16), "");
    EXPECT_EQ(of_product(caps, n), "") << "it serves some sizes";
    EXPECT_THAT(of_product(caps, 15), HasSubstr("sizes"));
    EXPECT_THAT(of_product(lavapipe, 16), HasSubstr("no CPU"));
    EXPECT_THAT(of_product(caps, 16, f64), HasSubstr("not of f32"));
    for (const DType t : {f16, bf16}) EXPECT_EQ(of_product(caps, 16, t), "");
    const auto of_conv = [&](ops::ConvProblem p, ops::ConvProblem::Wanted wanted, std::uint64_t from = 1) {
        p.wanted = wanted;
        return reason_of(kernels::explain_conv(with_native(from), p), "native");
    };
    using Wanted = ops::ConvProblem::Wanted;
    for (const Wanted wanted : {Wanted::y, Wanted::x, Wanted::weight}) {
        ops::ConvProblem p = problem({2, 4, 8, 8}, {8, 4, 3, 3}, 1, 1);
        EXPECT_EQ(of_conv(p, wanted, 2 * 8 * 8 * 8 * 4 * 9), "");
        EXPECT_THAT(of_conv(p, wanted, 2 * 8 * 8 * 8 * 4 * 9 + 1), HasSubstr("sizes"));
        p.x.dtype = bf16;
        EXPECT_EQ(of_conv(p, wanted), "");
        p.x.dtype = DType::f64;
        EXPECT_THAT(of_conv(p, wanted), HasSubstr("not of f32"));
        p = problem({2, 8, 8, 8}, {8, 1, 3, 3}, 1, 1);
        p.groups = 8;
        EXPECT_THAT(of_conv(p, wanted), HasSubstr("sizes")) << "few channels";
    }
    EXPECT_EQ(of_conv(problem({2, 1, 8, 8}, {8, 1, 3, 3}, 1, 1), Wanted::y), "");
    EXPECT_THAT(of_conv(problem({2, 1, 8, 8}, {8, 1, 3, 3}, 1, 1), Wanted::x), HasSubstr("sizes"));
    EXPECT_THAT(of_conv(problem({2, 8, 8, 8}, {1, 8, 3, 3}, 1, 1), Wanted::y), HasSubstr("sizes"));
}

TEST(Variants, OfAConvolutionSayWhyTheyAreNotTaken)
{
    const Dim n = symbol("n");
    EXPECT_EQ(refusal(problem({n, 4, 8, 8}, {8, 4, 3, 3}, 1, 1)), "");
    EXPECT_EQ(refusal(problem({n, 4, 14, 14}, {8, 4, 3, 3}, 1, 1)), "");
    EXPECT_EQ(refusal(problem({n, 4, 8, n}, {8, 4, 3, 3}, 1, 1)), "");
    EXPECT_EQ(refusal(problem({n, 4, 6, 6}, {8, 4, 1, 1}, 1, 0)), "");
    EXPECT_EQ(refusal(problem({n, 4, 7, 16}, {8, 4, 3, 3}, 2, 1)), "");
    EXPECT_THAT(refusal(problem({n, 4, 7, 7}, {8, 4, 3, 3}, 1, 1)), HasSubstr("sizes"));
    EXPECT_THAT(refusal(problem({n, 4, 8, 12}, {8, 4, 3, 3}, 2, 1)), HasSubstr("sizes"));
    EXPECT_THAT(refusal(problem({n, 4, 8, 8}, {8, 4, 5, 5}, 1, 2)), HasSubstr("3 x 3"));
    EXPECT_THAT(refusal(problem({n, 4, 8, 8}, {8, 4, 3, 3}, 1, 0)), HasSubstr("padding"));
    EXPECT_THAT(refusal(problem({n, 4, 8, 8}, {8, 4, 3, 3}, 3, 1)), HasSubstr("stride"));
    EXPECT_THAT(refusal(problem({n, 4, 8, 8}, {8, 4, 3, 3}, 1, 1), {.subgroup_size = 8}), HasSubstr("texel"));
    EXPECT_THAT(refusal(problem({n, 4, 8, 8}, {8, 4, 3, 3}, 1, 1),
                        {.subgroup_size = 4, .subgroup_shuffle = true, .prefer_texels = true}),
                HasSubstr("8 lanes"));

    ops::ConvProblem p = problem({n, 4, 8, 8}, {8, 4, 3, 3}, 1, 1);
    p.dilation = {1, 1, 2};
    EXPECT_THAT(refusal(p), HasSubstr("dilated"));
    p = problem({n, 4, 8, 8}, {8, 2, 3, 3}, 1, 1);
    p.groups = 2;
    EXPECT_THAT(refusal(p), HasSubstr("groups"));
    p = problem({n, 4, 8, 8}, {8, 1, 3, 3}, 1, 1);
    p.groups = 4;
    EXPECT_THAT(refusal(p), HasSubstr("groups"));
    p = problem({n, 4, 8, 8}, {8, 4, 3, 3}, 1, 1);
    p.x = view({n, 4, 2, 8, 8});
    EXPECT_THAT(refusal(p), HasSubstr("depth"));
}

TEST(Variants, OfAConvolutionOfHalvesOnCudaReadWindowsWhereTheyLie)
{
    const device::Capabilities cuda{.compute_capability = 80};
    ops::ConvProblem p = problem({symbol("n"), 4, 8, 8}, {8, 4, 3, 3}, 1, 1);
    const auto implicit = [&](const device::Capabilities& caps) {
        return reason_of(kernels::explain_conv(caps, p), "implicit");
    };
    for (const DType half : {f16, bf16}) {
        p.x.dtype = p.weight.dtype = half;
        EXPECT_EQ(implicit(cuda), "");
        EXPECT_THAT(implicit(lavapipe), HasSubstr("CUDA"));
    }
    for (const DType other : {f32, f64}) {
        p.x.dtype = p.weight.dtype = other;
        EXPECT_THAT(implicit(cuda), HasSubstr("f16"));
    }
}

TEST(Variants, OfAConvolutionOnGpusReadWindowsWhereTheyLie)
{
    const device::Capabilities gpu{.kind = device::Kind::discrete, .shared_bytes = 32768};
    ops::ConvProblem p = problem({symbol("n"), 4, 8, 8}, {8, 4, 3, 3}, 1, 1);
    const auto tile = [&](const device::Capabilities& caps) {
        return reason_of(kernels::explain_conv(caps, p), "tile");
    };
    EXPECT_EQ(tile(gpu), "");
    EXPECT_THAT(tile(lavapipe), HasSubstr("CPUs"));
    const auto of_kernel = [&](const Dim& height, const Dim& width) {
        ops::ConvProblem q = p;
        q.weight = view({8, 4, 1, height, width});
        return reason_of(kernels::explain_conv(gpu, q), "tile");
    };
    EXPECT_EQ(of_kernel(18, 12), "");
    EXPECT_EQ(of_kernel(1, 29), "");
    EXPECT_THAT(of_kernel(19, 12), HasSubstr("sizes"));
    EXPECT_THAT(of_kernel(1, 30), HasSubstr("sizes"));
    EXPECT_EQ(of_kernel(3, symbol("width")), ""); // at some calls
    const device::Capabilities cuda{
        .kind = device::Kind::discrete, .shared_bytes = 49152, .half_access = true, .compute_capability = 80};
    EXPECT_EQ(tile(cuda), "");
    EXPECT_THAT(tile({.kind = device::Kind::discrete, .shared_bytes = 16384}), HasSubstr("28.5 KiB"));
    EXPECT_THAT(tile({.kind = device::Kind::discrete, .shared_bytes = 32768, .workgroup_invocations = 128}),
                HasSubstr("CPUs"));
    for (const DType narrow : {f16, bf16}) { // the result is f32
        p.x.dtype = p.weight.dtype = narrow;
        device::Capabilities with_halves = gpu;
        with_halves.half_access = true;
        EXPECT_THAT(tile(gpu), HasSubstr("f32"));
        EXPECT_EQ(tile(with_halves), "");
        EXPECT_THAT(tile(cuda), HasSubstr("f32")); // `implicit` serves them
    }
    p.x.dtype = p.weight.dtype = f64;
    EXPECT_THAT(tile(gpu), HasSubstr("f32"));
}

TEST(Variants, OfWindowsOfOneElementAreProducts)
{
    device::Capabilities cuda{.compute_capability = 80};
    const auto pointwise = [&](ops::ConvProblem p) {
        return reason_of(kernels::explain_conv(cuda, p), "pointwise");
    };
    const Dim n = symbol("n");
    ops::ConvProblem p = problem({n, 4, 8, n}, {8, 4, 1, 1}, 1, 0);
    EXPECT_THAT(pointwise(p), HasSubstr("library"));
    cuda.product_library = "a library";
    EXPECT_EQ(pointwise(p), "");
    p.bias = view({8});
    EXPECT_EQ(pointwise(p), "");
    p.y.dtype = f16;
    EXPECT_THAT(pointwise(p), HasSubstr("rounded"));
    EXPECT_THAT(pointwise(problem({n, 4, 8, 8}, {8, 4, 1, 1}, 2, 0)), HasSubstr("windows"));
    EXPECT_THAT(pointwise(problem({n, 4, 8, 8}, {8, 4, 1, 1}, 1, 1)), HasSubstr("windows"));
    EXPECT_THAT(pointwise(problem({n, 4, 8, 8}, {8, 4, 3, 3}, 1, 1)), HasSubstr("windows"));
}

TEST(Variants, OfHalvesAreTheLibrarysTheGeneralKernelsOrThoseOfLavapipe)
{
    device::Capabilities cuda{.subgroup_size = 32, .subgroup_shuffle = true, .compute_capability = 80};
    const auto taken = [&](DType t) { // in order
        std::vector<std::string> names;
        for (const Refusal& r : kernels::explain_gemm(
                 cuda, {view({1, 64, 32}, t), view({1, 32, 128}, t), view({1, 64, 128}, t)}))
            if (r.reason.empty()) names.push_back(r.variant);
        return names;
    };
    for (const DType t : {f16, bf16, f32, f64}) EXPECT_THAT(taken(t), testing::ElementsAre("address"));
    cuda.product_library = "a library";
    for (const DType t : {f16, bf16, f32, f64})
        EXPECT_THAT(taken(t), testing::ElementsAre("library", "address"));
    cuda = lavapipe;
    EXPECT_THAT(taken(f16), testing::ElementsAre("texel", "shuffle", "address")) << "they store fours";
}

// Why each variant of x W^T does not serve it: x [m, k], W [n, k].
std::map<std::string, std::string> refusals_of_linear(const Dim& m, const Dim& n, const Dim& k)
{
    ops::View w = view({1, k, n});
    w.layout.strides = {n * k, 1, k};
    std::map<std::string, std::string> out;
    for (const Refusal& r : kernels::explain_gemm(lavapipe, {view({1, m, k}), w, view({1, m, n})}))
        out[r.variant] = r.reason;
    return out;
}

TEST(Variants, OfAProductTurnItWhereThatPacksLess)
{
    const Dim n = symbol("n");
    EXPECT_EQ(refusals_of_linear(128, 1024, 784).at("turned"), "");
    EXPECT_EQ(refusals_of_linear(n, 1024, 784).at("turned"), "");
    EXPECT_THAT(refusals_of_linear(128, 128, 784).at("turned"), HasSubstr("sizes"));
    EXPECT_THAT(refusals_of_linear(32, 96, 784).at("turned"), HasSubstr("sizes"));
    EXPECT_THAT(refusals_of_linear(8, 1024, 784).at("turned"), HasSubstr("sizes"));
    EXPECT_THAT(refusals_of_linear(128, n, 784).at("turned"), HasSubstr("texels"));
    EXPECT_THAT(refusals_of_linear(128, 1022, 784).at("turned"), HasSubstr("texels"));
    EXPECT_THAT(refusals_of_linear(128, 1024, 783).at("turned"), HasSubstr("columns"));
}

} // namespace
} // namespace reprise
