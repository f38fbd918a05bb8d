// Pooling: modules of the functions in ops/pooling.hpp.
//
// They pool over the last N dimensions of x, which may lack the batch; the result has x's dtype.  Calls throw
// Error(shape) for another number of dimensions, an empty image or a window that does not fit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/pooling.hpp>

namespace reprise::nn {

// Options of MaxPool; a single number holds for all N dimensions.
template <std::size_t N> struct MaxPoolSettings {
    Sizes<N> kernel_size = 0; // at least 1, so it must be given, here or to the constructor
    Sizes<N> stride = 0;      // distance of neighbouring windows; 0: the kernel's size
    Sizes<N> padding = 0;     // on both sides, at most half of the kernel's size; it is never the maximum
    Sizes<N> dilation = 1;    // distance of neighbouring elements of a window
    bool ceil_mode = false;   // rounds the output up: the last window may end beyond the padding
};
// The maximum of each window of x, floating, bool or an integer of 8 or 16 bits.  NaN counts as the largest
// value; of equal maxima the first gets the gradient.
template <std::size_t N> class MaxPool : public Module {
public:
    REPRISE_LAYER(MaxPool)
    using Options = MaxPoolSettings<N>; // for make()
    using Module::Module;
    // Throws Error(argument) for options out of range; a padding that is too large is found when the module
    // is called.
    template <class = void> MaxPool(Sizes<N> kernel_size, MaxPoolSettings<N> options)
    {
        options.kernel_size = kernel_size;
        make(options);
    }
    // The same with the kernel's size among the options: MaxPool2d({.kernel_size = 3, .stride = 2}).
    template <class = void> explicit MaxPool(const MaxPoolSettings<N>& options) { make(options); }
    // The same with a list of the kernel's sizes alone, MaxPool2d({3, 2}), where {3, 2} is not a list of arguments of
    // the constructor.
    template <class... None>
    requires(sizeof...(None) == 0) explicit MaxPool(std::initializer_list<detail::WindowNumber> kernel_size,
                                                    const None&...)
        : MaxPool(detail::sizes_of<N>(kernel_size))
    {}
    // The same with PyTorch's arguments in their order: MaxPool2d(3), MaxPool2d(3, 2, 1).
    explicit MaxPool(Sizes<N> kernel_size, Sizes<N> stride = 0, Sizes<N> padding = 0, Sizes<N> dilation = 1,
                     bool ceil_mode = false)
    {
        make({kernel_size, stride, padding, dilation, ceil_mode});
    }
    Tensor forward(Tensor x) override;
    // Returns the maxima and their indices, i32, in the flattened image, as MaxUnpool takes them.
    std::pair<Tensor, Tensor> forward_with_indices(Tensor x);
    std::string name() const override { return "MaxPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override; // the options for printing

private:
    void make(const MaxPoolSettings<N>&);
    reprise::MaxPoolOptions<N> options_;
};
using MaxPool1d = MaxPool<1>; // of x [N, C, L] or [C, L]
using MaxPool2d = MaxPool<2>; // of x [N, C, H, W] or [C, H, W]
using MaxPool3d = MaxPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

// Options of MaxUnpool; a single number holds for all N dimensions.
template <std::size_t N> struct MaxUnpoolSettings {
    Sizes<N> kernel_size = 0; // at least 1, so it must be given, here or to the constructor
    Sizes<N> stride = 0;      // distance of neighbouring windows; 0: the kernel's size
    Sizes<N> padding = 0;     // on both sides
};
// The reverse of MaxPool with the same options: puts each element of x at its index, i32 or i64, in an image
// of zeros.  Calls are unpool(x, indices) and unpool(x, indices, output_size), with the last N sizes of the
// result, by default (size - 1) stride - 2 padding + kernel_size.
template <std::size_t N> class MaxUnpool : public ModuleOf<Tensor(Tensor, Tensor, Shape)> {
public:
    REPRISE_LAYER(MaxUnpool)
    using Options = MaxUnpoolSettings<N>; // for make()
    using ModuleOf::ModuleOf;
    // Throws Error(argument) for options out of range.
    template <class = void> MaxUnpool(Sizes<N> kernel_size, MaxUnpoolSettings<N> options)
    {
        options.kernel_size = kernel_size;
        make(options);
    }
    // The same with the kernel's size among the options: MaxUnpool2d({.kernel_size = 3, .stride = 2}).
    template <class = void> explicit MaxUnpool(const MaxUnpoolSettings<N>& options) { make(options); }
    // The same with a list of the kernel's sizes alone, MaxUnpool2d({3, 2}), where {3, 2} is not a list of arguments of
    // the constructor.
    template <class... None>
    requires(sizeof...(None) == 0) explicit MaxUnpool(std::initializer_list<detail::WindowNumber> kernel_size,
                                                      const None&...)
        : MaxUnpool(detail::sizes_of<N>(kernel_size))
    {}
    // The same with PyTorch's arguments in their order: MaxUnpool2d(3), MaxUnpool2d(3, 2, 1).
    explicit MaxUnpool(Sizes<N> kernel_size, Sizes<N> stride = 0, Sizes<N> padding = 0)
    {
        make({kernel_size, stride, padding});
    }
    using ModuleOf::operator();
    // Calls forward(x, indices, {}) with the module's hooks.
    Tensor operator()(Tensor x, Tensor indices, Place where = Place(std::source_location::current()))
    {
        return (*this)(std::move(x), std::move(indices), Shape(), where);
    }
    using ModuleOf::forward;
    Tensor forward(Tensor x, Tensor indices) { return forward(x, indices, Shape()); } // of the default size
    // Returns a result with this size; an empty one is the default.
    Tensor forward(Tensor x, Tensor indices, Shape output_size) override;
    std::string name() const override { return "MaxUnpool" + std::to_string(N) + "d"; } // its class
    std::string extra_repr() const override; // the options for printing

private:
    void make(const MaxUnpoolSettings<N>&);
    reprise::MaxUnpoolOptions<N> options_;
};
using MaxUnpool1d = MaxUnpool<1>; // of x [N, C, L] or [C, L]
using MaxUnpool2d = MaxUnpool<2>; // of x [N, C, H, W] or [C, H, W]
using MaxUnpool3d = MaxUnpool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

// Options of AvgPool; a single number holds for all N dimensions.
template <std::size_t N> struct AvgPoolSettings {
    Sizes<N> kernel_size = 0;      // at least 1, so it must be given, here or to the constructor
    Sizes<N> stride = 0;           // distance of neighbouring windows; 0: the kernel's size
    Sizes<N> padding = 0;          // zeros on both sides, at most half of the kernel's size
    bool ceil_mode = false;        // as in MaxPoolSettings
    bool count_include_pad = true; // whether the zeros of the padding count in the mean
    // Divides the sum by this, which is not 0, instead of the number of elements.
    std::optional<std::int64_t> divisor_override{};
};
// The mean of each window of x, which is floating, else Error(dtype).
template <std::size_t N> class AvgPool : public Module {
public:
    REPRISE_LAYER(AvgPool)
    using Options = AvgPoolSettings<N>; // for make()
    using Module::Module;
    // Throws Error(argument) for options out of range; a padding that is too large is found when the module
    // is called.
    template <class = void> AvgPool(Sizes<N> kernel_size, AvgPoolSettings<N> options)
    {
        options.kernel_size = kernel_size;
        make(options);
    }
    // The same with the kernel's size among the options: AvgPool2d({.kernel_size = 3, .stride = 2}).
    template <class = void> explicit AvgPool(const AvgPoolSettings<N>& options) { make(options); }
    // The same with a list of the kernel's sizes alone, AvgPool2d({3, 2}), where {3, 2} is not a list of arguments of
    // the constructor.
    template <class... None>
    requires(sizeof...(None) == 0) explicit AvgPool(std::initializer_list<detail::WindowNumber> kernel_size,
                                                    const None&...)
        : AvgPool(detail::sizes_of<N>(kernel_size))
    {}
    // The same with PyTorch's arguments in their order: AvgPool2d(3), AvgPool2d(3, 2, 1).
    explicit AvgPool(Sizes<N> kernel_size, Sizes<N> stride = 0, Sizes<N> padding = 0, bool ceil_mode = false,
                     bool count_include_pad = true,
                     std::optional<std::int64_t> divisor_override = std::nullopt)
    {
        make({.kernel_size = kernel_size,
              .stride = stride,
              .padding = padding,
              .ceil_mode = ceil_mode,
              .count_include_pad = count_include_pad,
              .divisor_override = divisor_override});
    }
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AvgPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override; // the options for printing

private:
    void make(const AvgPoolSettings<N>&);
    reprise::AvgPoolOptions<N> options_;
};
using AvgPool1d = AvgPool<1>; // of x [N, C, L] or [C, L]
using AvgPool2d = AvgPool<2>; // of x [N, C, H, W] or [C, H, W]
using AvgPool3d = AvgPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

// The means of output_size windows, which cover x evenly: window o of m begins at floor(o n / m) and ends
// before ceil((o + 1) n / m) for n elements.  x is floating, else Error(dtype).
template <std::size_t N> class AdaptiveAvgPool : public Module {
public:
    REPRISE_LAYER(AdaptiveAvgPool)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        Sizes<N> output_size = 1; // -1: the input's size
    };
    template <class = void> explicit AdaptiveAvgPool(const Options& o)
        : AdaptiveAvgPool(o.output_size) {} // with these options
    // -1: the input's size.  Throws Error(argument) below -1.
    explicit AdaptiveAvgPool(Sizes<N> output_size);
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AdaptiveAvgPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override; // the options for printing

private:
    Sizes<N> output_size_ = 1;
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<1>; // of x [N, C, L] or [C, L]
using AdaptiveAvgPool2d = AdaptiveAvgPool<2>; // of x [N, C, H, W] or [C, H, W]
using AdaptiveAvgPool3d = AdaptiveAvgPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

// The maxima of output_size windows, which are those of AdaptiveAvgPool; dtypes, NaN and gradients are as for
// MaxPool.
template <std::size_t N> class AdaptiveMaxPool : public Module {
public:
    REPRISE_LAYER(AdaptiveMaxPool)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        Sizes<N> output_size = 1; // -1: the input's size
    };
    template <class = void> explicit AdaptiveMaxPool(const Options& o)
        : AdaptiveMaxPool(o.output_size) {} // with these options
    // -1: the input's size.  Throws Error(argument) below -1.
    explicit AdaptiveMaxPool(Sizes<N> output_size);
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AdaptiveMaxPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override; // the options for printing

private:
    Sizes<N> output_size_ = 1;
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<1>; // of x [N, C, L] or [C, L]
using AdaptiveMaxPool2d = AdaptiveMaxPool<2>; // of x [N, C, H, W] or [C, H, W]
using AdaptiveMaxPool3d = AdaptiveMaxPool<3>; // of x [N, C, D, H, W] or [C, D, H, W]

} // namespace reprise::nn
