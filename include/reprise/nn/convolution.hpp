// Convolutions and their windows: modules of the functions in ops/convolution.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <reprise/choice.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/convolution.hpp>

namespace reprise::nn {

// The elements that pad the image of a convolution: zeros, the mirrored image, the border's elements, or
// those of the image's opposite end.
enum class ConvPaddingMode { zeros, reflect, replicate, circular };
// PyTorch's names of them, for Choice.
inline constexpr ChoiceNames<ConvPaddingMode, 4> names_of_choices(ConvPaddingMode)
{
    using enum ConvPaddingMode;
    return {{{"zeros", zeros}, {"reflect", reflect}, {"replicate", replicate}, {"circular", circular}}};
}

// Options of Conv; a single number holds for all N dimensions.
template <std::size_t N> struct ConvSettings {
    Sizes<N> kernel_size = 0;     // at least 1, so it must be given, here or to the constructor
    Sizes<N> stride = 1;          // distance of neighbouring windows
    WindowPadding<N> padding = 0; // zeros on both sides of each dimension, or "same" or "valid" (none)
    Sizes<N> dilation = 1;        // distance of neighbouring elements of a window
    std::int64_t groups = 1;      // groups of channels, each with its own part of the weight
    bool bias = true;             // whether there is a bias
    // The padding elements: zeros, or "reflect", "replicate", "circular".
    Choice<ConvPaddingMode> padding_mode = ConvPaddingMode::zeros;
};
// Convolution (cross-correlation) of x [N, in, H, W] or [in, H, W] -> [N, out, H', W'] or [out, H', W'], with
// H' = floor((H + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1.  Images of Conv1d have W only,
// those of Conv3d are [D, H, W].  Weight and bias are initialised uniformly from -b to b, b = 1 / sqrt(in /
// groups kh kw).  Throws Error(shape) and Error(dtype) where x does not fit the weight.
template <std::size_t N> class Conv : public Module {
public:
    REPRISE_LAYER(Conv)
    using Options = ConvSettings<N>; // for make()
    using Module::Module;
    // Throws Error(argument) for options out of range and where groups does not divide both numbers of
    // channels.
    template <class = void>
    Conv(std::int64_t in_channels, std::int64_t out_channels, const ConvSettings<N>& options)
    {
        make(in_channels, out_channels, options);
    }
    // The same with the kernel's size as an argument: Conv2d(1, 8, 3, {.padding = 1}).  A template, so that
    // {2, 2} in place of the options is the stride.
    template <class = void>
    Conv(std::int64_t in_channels, std::int64_t out_channels, Sizes<N> kernel_size, ConvSettings<N> options)
    {
        options.kernel_size = kernel_size;
        make(in_channels, out_channels, options);
    }
    // The same with PyTorch's arguments in their order: Conv2d(1, 8, 3), Conv2d(1, 8, 3, 1, 1).
    Conv(std::int64_t in_channels, std::int64_t out_channels, Sizes<N> kernel_size, Sizes<N> stride = 1,
         WindowPadding<N> padding = 0, Sizes<N> dilation = 1, std::int64_t groups = 1, bool with_bias = true,
         Choice<ConvPaddingMode> padding_mode = ConvPaddingMode::zeros)
    {
        make(in_channels, out_channels,
             {.kernel_size = kernel_size,
              .stride = stride,
              .padding = padding,
              .dilation = dilation,
              .groups = groups,
              .bias = with_bias,
              .padding_mode = padding_mode});
    }
    Tensor forward(Tensor x) override;
    std::string name() const override { return "Conv" + std::to_string(N) + "d"; }
    Options options() const; // as given to the constructor
    std::string extra_repr() const override;
    Variable weight, // [out, in / groups, kh, kw]
        bias;        // [out]; undefined without a bias

private:
    void make(std::int64_t in_channels, std::int64_t out_channels, const ConvSettings<N>&);
    reprise::ConvOptions<N> options_;
    ConvPaddingMode padding_mode_ = ConvPaddingMode::zeros;
};
extern template class Conv<1>;
extern template class Conv<2>;
extern template class Conv<3>;
using Conv1d = Conv<1>; // of x [N, in, W] or [in, W]
using Conv2d = Conv<2>; // of x [N, in, H, W] or [in, H, W]
using Conv3d = Conv<3>; // of x [N, in, D, H, W] or [in, D, H, W]

// Options of ConvTranspose; a single number holds for all N dimensions.
template <std::size_t N> struct ConvTransposeSettings {
    Sizes<N> kernel_size = 0;    // at least 1, so it must be given, here or to the constructor
    Sizes<N> stride = 1;         // stride of the corresponding convolution
    Sizes<N> padding = 0;        // its padding, which is removed from both sides of the output
    Sizes<N> output_padding = 0; // added to the output's end; less than the stride or the dilation
    std::int64_t groups = 1;     // groups of channels, each with its own part of the weight
    bool bias = true;            // whether there is a bias
    Sizes<N> dilation = 1;       // distance of neighbouring elements of a window
};
// Transposed convolution, which maps x as a convolution's gradient maps the gradient of its output:
// x [N, in, H, W] or [in, H, W] -> [N, out, H', W'] or [out, H', W'], with
// H' = (H - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1.  Images are as for Conv.
// Weight and bias are initialised uniformly from -b to b, b = 1 / sqrt(out / groups kh kw).  Throws
// Error(shape) and Error(dtype) where x does not fit the weight, and Error(argument) for an output_padding
// that is too large.
template <std::size_t N> class ConvTranspose : public Module {
public:
    REPRISE_LAYER(ConvTranspose)
    using Options = ConvTransposeSettings<N>; // for make()
    using Module::Module;
    // Throws Error(argument) for options out of range and where groups does not divide both numbers of
    // channels.
    template <class = void> ConvTranspose(std::int64_t in_channels, std::int64_t out_channels,
                                          const ConvTransposeSettings<N>& options)
    {
        make(in_channels, out_channels, options);
    }
    // The same with the kernel's size as an argument: ConvTranspose2d(8, 1, 3, {.stride = 2}).  A template as
    // for Conv.
    template <class = void> ConvTranspose(std::int64_t in_channels, std::int64_t out_channels,
                                          Sizes<N> kernel_size, ConvTransposeSettings<N> options)
    {
        options.kernel_size = kernel_size;
        make(in_channels, out_channels, options);
    }
    // The same with PyTorch's arguments in their order: ConvTranspose2d(8, 1, 4, 2, 1).
    ConvTranspose(std::int64_t in_channels, std::int64_t out_channels, Sizes<N> kernel_size,
                  Sizes<N> stride = 1, Sizes<N> padding = 0, Sizes<N> output_padding = 0,
                  std::int64_t groups = 1, bool with_bias = true, Sizes<N> dilation = 1)
    {
        make(in_channels, out_channels,
             {kernel_size, stride, padding, output_padding, groups, with_bias, dilation});
    }
    Tensor forward(Tensor x) override;
    std::string name() const override { return "ConvTranspose" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;
    Variable weight, // [in, out / groups, kh, kw]
        bias;        // [out]; undefined without a bias

private:
    void make(std::int64_t in_channels, std::int64_t out_channels, const ConvTransposeSettings<N>&);
    reprise::ConvTransposeOptions<N> options_;
};
extern template class ConvTranspose<1>;
extern template class ConvTranspose<2>;
extern template class ConvTranspose<3>;
using ConvTranspose1d = ConvTranspose<1>; // of x [N, in, W] or [in, W]
using ConvTranspose2d = ConvTranspose<2>; // of x [N, in, H, W] or [in, H, W]
using ConvTranspose3d = ConvTranspose<3>; // of x [N, in, D, H, W] or [in, D, H, W]

// The windows of images as columns: x [N, C, H, W] or [C, H, W] -> [N, C kh kw, L] or [C kh kw, L] for L
// windows.  x is floating.  Throws Error(shape) where x does not fit.
class Unfold : public Module {
public:
    REPRISE_LAYER(Unfold)
    using Options = reprise::UnfoldOpOptions; // for make()
    using Module::Module;
    // A single number is the kernel's height and width.
    explicit Unfold(Sizes<2> kernel_size, const Options& = {});
    Tensor forward(Tensor x) override;

private:
    Sizes<2> kernel_size_ = 1;
    Options options_;
};
// The transpose of Unfold, which adds overlapping windows: x [N, C kh kw, L] or [C kh kw, L] -> [N, C, H, W]
// or [C, H, W].  x is floating.  Throws Error(shape) where L is not the number of windows of such an image.
class Fold : public Module {
public:
    REPRISE_LAYER(Fold)
    using Options = reprise::UnfoldOpOptions; // for make()
    using Module::Module;
    // output_size is [H, W]; a single number is both sizes.
    Fold(Sizes<2> output_size, Sizes<2> kernel_size, const Options& = {});
    Tensor forward(Tensor x) override;

private:
    Sizes<2> output_size_ = 1, kernel_size_ = 1;
    Options options_;
};

} // namespace reprise::nn
