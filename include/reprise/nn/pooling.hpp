// Pooling: modules of the functions in ops/pooling.hpp.
//
// They pool over the last N dimensions of x, which may lack the batch; the result has x's dtype.  Calls throw
// Error(shape) for another number of dimensions, an empty image or a window that does not fit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/pooling.hpp>

namespace reprise::nn {

// Options of MaxPool; a single number holds for all N dimensions.
template <std::size_t N> struct MaxPoolOptions {
    Sizes<N> stride = 0;    // distance of neighbouring windows; 0: the kernel's size
    Sizes<N> padding = 0;   // on both sides, at most half of the kernel's size; never the maximum
    Sizes<N> dilation = 1;  // distance of neighbouring elements of a window
    bool ceil_mode = false; // rounds the output up: the last window may end beyond the padding
};
// The maximum of each window of x, floating, bool or an integer of 8 or 16 bits.  NaN counts as the largest
// value; of equal maxima the first takes the gradient.
template <std::size_t N> class MaxPool : public Module {
public:
    using Options = MaxPoolOptions<N>; // for make()
    // Throws Error(argument) for options out of range; a padding that is too large is found when the module
    // is called.
    explicit MaxPool(Sizes<N> kernel_size, const MaxPoolOptions<N>& = {});
    Tensor forward(Tensor x) override;
    std::string name() const override { return "MaxPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    reprise::MaxPoolOptions<N> options_;
};
using MaxPool1d = MaxPool<1>; // of x [N, C, L] or [C, L]
using MaxPool2d = MaxPool<2>; // of x [N, C, H, W] or [C, H, W]
using MaxPool3d = MaxPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

// Options of AvgPool; a single number holds for all N dimensions.
template <std::size_t N> struct AvgPoolOptions {
    Sizes<N> stride = 0;           // distance of neighbouring windows; 0: the kernel's size
    Sizes<N> padding = 0;          // zeros on both sides, at most half of the kernel's size
    bool ceil_mode = false;        // as in MaxPoolOptions
    bool count_include_pad = true; // whether the zeros of the padding count in the mean
    // Divides the sum by this, which is not 0, instead of the number of elements.
    std::optional<std::int64_t> divisor_override{};
};
// The mean of each window of x, which is floating, else Error(dtype).
template <std::size_t N> class AvgPool : public Module {
public:
    using Options = AvgPoolOptions<N>; // for make()
    // Throws Error(argument) for options out of range; a padding that is too large is found when the module
    // is called.
    explicit AvgPool(Sizes<N> kernel_size, const AvgPoolOptions<N>& = {});
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AvgPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    reprise::AvgPoolOptions<N> options_;
};
using AvgPool1d = AvgPool<1>; // of x [N, C, L] or [C, L]
using AvgPool2d = AvgPool<2>; // of x [N, C, H, W] or [C, H, W]
using AvgPool3d = AvgPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

// The means of output_size windows, which cover x evenly: window o of m begins at floor(o n / m) and ends
// before ceil((o + 1) n / m) for n elements.  x is floating, else Error(dtype).
template <std::size_t N> class AdaptiveAvgPool : public Module {
public:
    // -1 stands for the input's size.  Throws Error(argument) below -1.
    explicit AdaptiveAvgPool(Sizes<N> output_size);
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AdaptiveAvgPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    Sizes<N> output_size_;
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<1>; // of x [N, C, L] or [C, L]
using AdaptiveAvgPool2d = AdaptiveAvgPool<2>; // of x [N, C, H, W] or [C, H, W]
using AdaptiveAvgPool3d = AdaptiveAvgPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

// The maxima of output_size windows, which are those of AdaptiveAvgPool; dtypes, NaN and gradients are as for
// MaxPool.
template <std::size_t N> class AdaptiveMaxPool : public Module {
public:
    // -1 stands for the input's size.  Throws Error(argument) below -1.
    explicit AdaptiveMaxPool(Sizes<N> output_size);
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AdaptiveMaxPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    Sizes<N> output_size_;
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<1>; // of x [N, C, L] or [C, L]
using AdaptiveMaxPool2d = AdaptiveMaxPool<2>; // of x [N, C, H, W] or [C, H, W]
using AdaptiveMaxPool3d = AdaptiveMaxPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

} // namespace reprise::nn
