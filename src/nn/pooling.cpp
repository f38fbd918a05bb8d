#include <reprise/nn/pooling.hpp>

#include <string>

#include "nn/checks.hpp"
#include "nn/repr.hpp"

namespace reprise::nn {

namespace {

template <std::size_t N>
void check(const char* op, const char* what, const Sizes<N>& sizes, std::int64_t min_value)
{
    for (const std::int64_t s : sizes.array())
        check_at_least((op + std::to_string(N) + "d").c_str(), what, s, min_value);
}

template <std::size_t N> std::array<Dim, N> dims(const Sizes<N>& sizes)
{
    std::array<Dim, N> d;
    for (std::size_t i = 0; i < N; ++i) d[i] = sizes.array()[i];
    return d;
}

} // namespace

template <std::size_t N> void MaxPool<N>::make(const MaxPoolSettings<N>& o)
{
    options_ = {.kernel_size = o.kernel_size.array(),
                .stride = o.stride.array(),
                .padding = o.padding.array(),
                .dilation = o.dilation.array(),
                .ceil_mode = o.ceil_mode};
    check("MaxPool", "kernel_size", o.kernel_size, 1);
    check("MaxPool", "stride", o.stride, 0);
    check("MaxPool", "padding", o.padding, 0);
    check("MaxPool", "dilation", o.dilation, 1);
}

template <std::size_t N> std::string MaxPool<N>::extra_repr() const
{
    const Sizes<N> kernel(options_.kernel_size);
    const bool same = options_.stride == std::array<std::int64_t, N>{};
    return Repr()
        .sizes("kernel_size", kernel, true)
        .sizes("stride", same ? kernel : Sizes<N>(options_.stride), true)
        .sizes("padding", Sizes<N>(options_.padding), true)
        .sizes("dilation", Sizes<N>(options_.dilation), true)
        .option("ceil_mode", options_.ceil_mode)
        .text();
}

template <std::size_t N> Tensor MaxPool<N>::forward(Tensor x)
{
    if constexpr (N == 1) return max_pool1d(x, options_);
    else if constexpr (N == 2) return max_pool2d(x, options_);
    else return max_pool3d(x, options_);
}

template <std::size_t N> std::pair<Tensor, Tensor> MaxPool<N>::forward_with_indices(Tensor x)
{
    if constexpr (N == 1) return max_pool1d_with_indices(x, options_);
    else if constexpr (N == 2) return max_pool2d_with_indices(x, options_);
    else return max_pool3d_with_indices(x, options_);
}

template <std::size_t N> void MaxUnpool<N>::make(const MaxUnpoolSettings<N>& o)
{
    options_ = {
        .kernel_size = o.kernel_size.array(), .stride = o.stride.array(), .padding = o.padding.array()};
    check("MaxUnpool", "kernel_size", o.kernel_size, 1);
    check("MaxUnpool", "stride", o.stride, 0);
    check("MaxUnpool", "padding", o.padding, 0);
}

template <std::size_t N> std::string MaxUnpool<N>::extra_repr() const
{
    const Sizes<N> kernel(options_.kernel_size);
    const bool same = options_.stride == std::array<std::int64_t, N>{};
    return Repr()
        .sizes("kernel_size", kernel)
        .sizes("stride", same ? kernel : Sizes<N>(options_.stride))
        .sizes("padding", Sizes<N>(options_.padding))
        .text();
}

template <std::size_t N> Tensor MaxUnpool<N>::forward(Tensor x, Tensor indices, Shape output_size)
{
    reprise::MaxUnpoolOptions<N> options = options_;
    if (output_size.size() > N) output_size.erase(output_size.begin(), output_size.end() - N);
    if (!output_size.empty()) options.output_size = output_size;
    if constexpr (N == 1) return max_unpool1d(x, indices, options);
    else if constexpr (N == 2) return max_unpool2d(x, indices, options);
    else return max_unpool3d(x, indices, options);
}

template <std::size_t N> void AvgPool<N>::make(const AvgPoolSettings<N>& o)
{
    options_ = {.kernel_size = o.kernel_size.array(),
                .stride = o.stride.array(),
                .padding = o.padding.array(),
                .ceil_mode = o.ceil_mode,
                .count_include_pad = o.count_include_pad,
                .divisor_override = o.divisor_override};
    check("AvgPool", "kernel_size", o.kernel_size, 1);
    check("AvgPool", "stride", o.stride, 0);
    check("AvgPool", "padding", o.padding, 0);
}

template <std::size_t N> std::string AvgPool<N>::extra_repr() const
{
    const Sizes<N> kernel(options_.kernel_size);
    const bool same = options_.stride == std::array<std::int64_t, N>{};
    return Repr()
        .sizes("kernel_size", kernel, true)
        .sizes("stride", same ? kernel : Sizes<N>(options_.stride), true)
        .sizes("padding", Sizes<N>(options_.padding), true)
        .text();
}

template <std::size_t N> Tensor AvgPool<N>::forward(Tensor x)
{
    if constexpr (N == 1) return avg_pool1d(x, options_);
    else if constexpr (N == 2) return avg_pool2d(x, options_);
    else return avg_pool3d(x, options_);
}

template <std::size_t N> AdaptiveAvgPool<N>::AdaptiveAvgPool(Sizes<N> output_size) : output_size_(output_size)
{
    check("AdaptiveAvgPool", "output_size", output_size, -1);
}

template <std::size_t N> std::string AdaptiveAvgPool<N>::extra_repr() const
{
    return Repr().sizes("output_size", output_size_, true).text();
}

template <std::size_t N> Tensor AdaptiveAvgPool<N>::forward(Tensor x)
{
    if constexpr (N == 1) return adaptive_avg_pool1d(x, output_size_.array()[0]);
    else if constexpr (N == 2) return adaptive_avg_pool2d(x, dims(output_size_));
    else return adaptive_avg_pool3d(x, dims(output_size_));
}

template <std::size_t N> AdaptiveMaxPool<N>::AdaptiveMaxPool(Sizes<N> output_size) : output_size_(output_size)
{
    check("AdaptiveMaxPool", "output_size", output_size, -1);
}

template <std::size_t N> std::string AdaptiveMaxPool<N>::extra_repr() const
{
    return Repr().sizes("output_size", output_size_, true).text();
}

template <std::size_t N> Tensor AdaptiveMaxPool<N>::forward(Tensor x)
{
    if constexpr (N == 1) return adaptive_max_pool1d(x, output_size_.array()[0]);
    else if constexpr (N == 2) return adaptive_max_pool2d(x, dims(output_size_));
    else return adaptive_max_pool3d(x, dims(output_size_));
}

template class MaxPool<1>;
template class MaxPool<2>;
template class MaxPool<3>;
template class MaxUnpool<1>;
template class MaxUnpool<2>;
template class MaxUnpool<3>;
template class AvgPool<1>;
template class AvgPool<2>;
template class AvgPool<3>;
template class AdaptiveAvgPool<1>;
template class AdaptiveAvgPool<2>;
template class AdaptiveAvgPool<3>;
template class AdaptiveMaxPool<1>;
template class AdaptiveMaxPool<2>;
template class AdaptiveMaxPool<3>;

} // namespace reprise::nn
