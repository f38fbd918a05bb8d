// For the tests of reductions and what is made of them: tensors of known numbers, plain loops over them, and
// the numeric class of sums as plain C++.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <reprise/reprise.hpp>

#include "support/devices.hpp"

namespace reduce_tools {

using Floats = std::vector<float>;
using Sizes = std::vector<std::int64_t>;

inline reprise::Shape shape_of(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }

inline Sizes sizes_of(const reprise::Tensor& t)
{
    Sizes sizes;
    for (const reprise::Dim& d : t.shape()) sizes.push_back(d.value());
    return sizes;
}

inline std::int64_t count_of(const Sizes& sizes)
{
    std::int64_t n = 1;
    for (const std::int64_t s : sizes) n *= s;
    return n;
}

// In [-1, 1), the same in every run.
inline Floats numbers(std::int64_t count, std::uint32_t seed = 1)
{
    Floats v(static_cast<std::size_t>(count));
    for (float& f : v) {
        seed = seed * 1664525u + 1013904223u;
        f = static_cast<float>(static_cast<std::int32_t>(seed) >> 8) / 8388608.0f;
    }
    return v;
}

inline reprise::Tensor drawn(const Sizes& sizes, std::uint32_t seed = 1)
{
    return reprise::from_vector(numbers(count_of(sizes), seed), shape_of(sizes));
}

// gradcheck of f at tensors of these sizes.
template <class F> reprise::GradCheck gradient_check(F f, const std::vector<Sizes>& sizes)
{
    std::vector<reprise::Tensor> in;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        in.push_back(reprise::from_vector(numbers(count_of(sizes[i]), static_cast<std::uint32_t>(i + 1)),
                                          shape_of(sizes[i]), {.device = reprise::Device("reference")}));
    return reprise::gradcheck(f, in);
}

// The gradient of sum(w f(x)) by x with weights w, as a function to be differentiated again.
template <class F> auto gradient_of(F f)
{
    return [f](const std::vector<reprise::Tensor>& in) {
        reprise::Tensor x = in[0].requires_grad() ? in[0] : in[0].detach().requires_grad_();
        const reprise::Tensor y = f(x);
        const reprise::Tensor weights = reprise::cast(
            reprise::from_vector(numbers(y.numel().value(), 77), y.shape(), {.device = y.device()}),
            y.dtype());
        return reprise::grad(reprise::sum(y * weights), x, {.create_graph = true, .cotangents = {}});
    };
}

// Whether the default device runs kernels: then results have the kernels' bits.
inline bool runs_kernels()
{
    return !reprise::test::inner(reprise::default_device()).capabilities().host_kernels;
}

// Whether it is a GPU, or runs the kernels of one.
inline bool runs_kernels_of_gpus()
{
    return runs_kernels() && reprise::test::inner(reprise::default_device()).capabilities().gpu_kernels();
}

// The elements of each output of a reduction over `dims`, row-major.
inline std::vector<Floats> groups_of(const Floats& x, const Sizes& sizes, std::vector<std::int64_t> dims)
{
    if (dims.empty())
        for (std::size_t d = 0; d < sizes.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    const auto reduced = [&](std::size_t d) {
        return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    };
    std::int64_t outputs = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (!reduced(d)) outputs *= sizes[d];
    std::vector<Floats> groups(static_cast<std::size_t>(outputs));
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t output = 0;
        std::int64_t rest = static_cast<std::int64_t>(i), block = static_cast<std::int64_t>(x.size());
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            block /= sizes[d];
            if (!reduced(d))
                output = output * static_cast<std::size_t>(sizes[d]) + static_cast<std::size_t>(rest / block);
            rest %= block;
        }
        groups[output].push_back(x[i]);
    }
    return groups;
}

// The sum of x that kernels of GPUs compute as one of `outputs` (shaders/common/reduce_group.glsl).
inline float sum_by_class_of_gpus(const Floats& x, std::size_t outputs)
{
    const std::size_t n = x.size();
    const auto ceil_div = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
    const std::size_t wanted =
        n <= 4096 ? 1 : std::max<std::size_t>(1, std::min(ceil_div(n, 2048), 1024 / outputs));
    const std::size_t length = 512 * ceil_div(ceil_div(n, wanted), 512);
    const bool few = n > 1024 && outputs * ceil_div(n, length) <= 512;
    const std::size_t lanes = n <= 16 ? 1 : n <= 256 ? 8 : few ? 128 : 64;
    Floats parts;
    for (std::size_t begin = 0; begin < n; begin += length) {
        std::vector<std::array<float, 4>> accumulators(lanes, {-0.0f, -0.0f, -0.0f, -0.0f});
        for (std::size_t e = begin; e < std::min(n, begin + length); ++e)
            accumulators[e / 4 % lanes][e % 4] += x[e];
        Floats sums;
        for (const auto& a : accumulators) sums.push_back((a[0] + a[1]) + (a[2] + a[3]));
        for (std::size_t apart = lanes / 2; apart > 0; apart /= 2)
            for (std::size_t i = 0; i < apart; ++i) sums[i] += sums[i + apart];
        parts.push_back(sums[0]);
    }
    if (parts.empty()) return 0;
    return parts.size() == 1 ? parts[0] : sum_by_class_of_gpus(parts, 1024);
}

// The sum of n floats that other kernels compute (shaders/common/reduce.glsl).
inline float sum_by_class(const Floats& x)
{
    constexpr std::size_t block = 256, most_partials = 4096, fan = 16;
    const std::size_t blocks = (x.size() + block - 1) / block, count = std::min(blocks, most_partials);
    Floats partials(count);
    for (std::size_t c = 0; c < count; ++c)
        for (std::size_t b = c; b < blocks; b += count) {
            float a[8] = {};
            for (std::size_t e = b * block; e < std::min(x.size(), (b + 1) * block); ++e) a[e % 8] += x[e];
            partials[c] += ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
        }
    float total = 0;
    for (std::size_t i = 0; i < count; i += fan * fan) {
        float middle = 0;
        for (std::size_t j = i; j < std::min(count, i + fan * fan); j += fan) {
            float inner = 0;
            for (std::size_t k = j; k < std::min(count, j + fan); ++k) inner += partials[k];
            middle += inner;
        }
        total += middle;
    }
    return total;
}

} // namespace reduce_tools
