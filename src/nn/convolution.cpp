#include <reprise/nn/convolution.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/checks.hpp"
#include "nn/repr.hpp"
#include "nn/weights.hpp"

namespace reprise::nn {

namespace {

// Checks the options that Conv and ConvTranspose have in common.
template <std::size_t N, class Options>
void check(const char* op, std::int64_t in_channels, std::int64_t out_channels, const Options& o)
{
    check_at_least(op, "number of input channels", in_channels, 1);
    check_at_least(op, "number of output channels", out_channels, 1);
    check_at_least(op, "number of groups", o.groups, 1);
    check_at_least(op, "kernel_size", o.kernel_size, 1);
    check_at_least(op, "stride", o.stride, 1);
    check_at_least<N>(op, "padding", o.padding, 0);
    check_at_least(op, "dilation", o.dilation, 1);
    for (const std::int64_t channels : {in_channels, out_channels})
        if (channels % o.groups != 0)
            detail::fail(ErrorKind::argument, op, "The channels (", channels, ") do not divide into (",
                         o.groups, ") groups: use a multiple of it.");
}

// Returns [outer, inner, and the kernel's sizes].
template <std::size_t N> Shape weight_shape(std::int64_t outer, std::int64_t inner, const Sizes<N>& kernel)
{
    Shape shape{outer, inner};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    return shape;
}

template <std::size_t N> Sizes<N> kernel_of(const Tensor& weight)
{
    Sizes<N> sizes = 1;
    for (std::size_t i = 0; i < N; ++i) sizes[i] = weight.size(static_cast<std::int64_t>(i) + 2).value();
    return sizes;
}

std::int64_t fan_in(const Shape& weight)
{
    std::int64_t elements = 1;
    for (std::size_t i = 1; i < weight.size(); ++i) elements *= weight[i].value();
    return elements;
}

// Returns the argument of pad(): the padding before and after each dimension, last dimension first.
template <std::size_t N> DimVector amounts(const reprise::ConvOptions<N>& o, const Sizes<N>& kernel)
{
    DimVector out;
    for (std::size_t i = N; i-- > 0;) {
        const std::int64_t both = o.padding.is_same() ? o.dilation[i] * (kernel[i] - 1) : 2 * o.padding[i];
        out.push_back(both / 2);
        out.push_back(both - both / 2);
    }
    return out;
}

PaddingMode pad_mode(ConvPaddingMode mode)
{
    return mode == ConvPaddingMode::reflect     ? PaddingMode::reflect
           : mode == ConvPaddingMode::replicate ? PaddingMode::replicate
                                                : PaddingMode::circular;
}

} // namespace

template <std::size_t N>
void Conv<N>::make(std::int64_t in_channels, std::int64_t out_channels, const ConvSettings<N>& o)
{
    options_ = {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
    padding_mode_ = o.padding_mode;
    check<N>(N == 1 ? "Conv1d" : N == 2 ? "Conv2d" : "Conv3d", in_channels, out_channels, o);
    const Shape shape = weight_shape(out_channels, in_channels / o.groups, o.kernel_size);
    weight = register_parameter("weight", uniform_by_fan_in(shape, fan_in(shape)));
    if (o.bias) bias = register_parameter("bias", uniform_by_fan_in({out_channels}, fan_in(shape)));
}

template <std::size_t N> std::string Conv<N>::extra_repr() const
{
    if (!weight.defined()) return {};
    Repr repr;
    repr.value(weight.size(1).value() * options_.groups).value(weight.size(0).value());
    repr.sizes("kernel_size", kernel_of<N>(weight)).sizes("stride", options_.stride);
    if (options_.padding.is_same()) repr.option("padding", "same");
    else if (options_.padding != Sizes<N>(0)) repr.sizes<N>("padding", options_.padding);
    if (options_.dilation != Sizes<N>(1)) repr.sizes("dilation", options_.dilation);
    repr.unless("groups", options_.groups, std::int64_t{1}).unless("bias", bias.defined(), true);
    for (const auto& [name, mode] : names_of_choices(padding_mode_))
        if (mode == padding_mode_ && mode != ConvPaddingMode::zeros) repr.option("padding_mode", name.data());
    return repr.text();
}

template <std::size_t N> ConvSettings<N> Conv<N>::options() const
{
    return {.kernel_size = kernel_of<N>(weight),
            .stride = options_.stride,
            .padding = options_.padding,
            .dilation = options_.dilation,
            .groups = options_.groups,
            .bias = bias.defined(),
            .padding_mode = padding_mode_};
}

template <std::size_t N> Tensor Conv<N>::forward(Tensor x)
{
    reprise::ConvOptions<N> options = options_;
    if (padding_mode_ != ConvPaddingMode::zeros) {
        x = pad(x, amounts(options, kernel_of<N>(weight)), pad_mode(padding_mode_));
        options.padding = 0;
    }
    if constexpr (N == 1) return conv1d(x, weight, bias, options);
    else if constexpr (N == 2) return conv2d(x, weight, bias, options);
    else return conv3d(x, weight, bias, options);
}

template <std::size_t N> void ConvTranspose<N>::make(std::int64_t in_channels, std::int64_t out_channels,
                                                     const ConvTransposeSettings<N>& o)
{
    options_ = {.stride = o.stride,
                .padding = o.padding,
                .output_padding = o.output_padding,
                .groups = o.groups,
                .dilation = o.dilation};
    const char* op = N == 1 ? "ConvTranspose1d" : N == 2 ? "ConvTranspose2d" : "ConvTranspose3d";
    check<N>(op, in_channels, out_channels, o);
    check_at_least(op, "output_padding", o.output_padding, 0);
    const Shape shape = weight_shape(in_channels, out_channels / o.groups, o.kernel_size);
    weight = register_parameter("weight", uniform_by_fan_in(shape, fan_in(shape)));
    if (o.bias) bias = register_parameter("bias", uniform_by_fan_in({out_channels}, fan_in(shape)));
}

template <std::size_t N> std::string ConvTranspose<N>::extra_repr() const
{
    if (!weight.defined()) return {};
    Repr repr;
    repr.value(weight.size(0).value()).value(weight.size(1).value() * options_.groups);
    repr.sizes("kernel_size", kernel_of<N>(weight)).sizes("stride", options_.stride);
    if (options_.padding != Sizes<N>(0)) repr.sizes("padding", options_.padding);
    if (options_.output_padding != Sizes<N>(0)) repr.sizes("output_padding", options_.output_padding);
    if (options_.dilation != Sizes<N>(1)) repr.sizes("dilation", options_.dilation);
    return repr.unless("groups", options_.groups, std::int64_t{1})
        .unless("bias", bias.defined(), true)
        .text();
}

template <std::size_t N> Tensor ConvTranspose<N>::forward(Tensor x)
{
    if constexpr (N == 1) return conv_transpose1d(x, weight, bias, options_);
    else if constexpr (N == 2) return conv_transpose2d(x, weight, bias, options_);
    else return conv_transpose3d(x, weight, bias, options_);
}

template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template class ConvTranspose<1>;
template class ConvTranspose<2>;
template class ConvTranspose<3>;

Unfold::Unfold(Sizes<2> kernel_size, const reprise::UnfoldOpOptions& options)
    : kernel_size_(kernel_size), options_(options)
{}

Tensor Unfold::forward(Tensor x) { return unfold(x, kernel_size_, options_); }

Fold::Fold(Sizes<2> output_size, Sizes<2> kernel_size, const reprise::UnfoldOpOptions& options)
    : output_size_(output_size), kernel_size_(kernel_size), options_(options)
{}

Tensor Fold::forward(Tensor x) { return fold(x, {output_size_[0], output_size_[1]}, kernel_size_, options_); }

} // namespace reprise::nn
