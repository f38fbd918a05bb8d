// Convolutions.
#pragma once
#include <cstddef>
#include <cstdint>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/convolution.hpp>

namespace reprise::nn {

template <std::size_t N> struct ConvOptions {
    Sizes<N> kernel_size;
    Sizes<N> stride = 1;
    WindowPadding<N> padding = 0;
    Sizes<N> dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
};
// x [N, in, H, W] or [in, H, W] -> [N, out, H', W'] or [out, H', W'].  Weight [out, in / groups, kh, kw] and bias [out]
// from U(-1, 1) / sqrt(in / groups kh kw).  Of one dimension there is W only, of three [D, H, W].
template <std::size_t N> class Conv : public Module {
public:
    Conv(std::int64_t in_channels, std::int64_t out_channels, const ConvOptions<N>&);
    Tensor forward(Tensor x) override;
    Variable weight, bias; // bias undefined without one

private:
    reprise::ConvOptions<N> options_;
};
extern template class Conv<1>;
extern template class Conv<2>;
extern template class Conv<3>;
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

template <std::size_t N> struct ConvTransposeOptions {
    Sizes<N> kernel_size;
    Sizes<N> stride = 1;
    Sizes<N> padding = 0;
    Sizes<N> output_padding = 0;
    std::int64_t groups = 1;
    bool bias = true;
    Sizes<N> dilation = 1;
};
// x [N, in, H, W] or [in, H, W] -> [N, out, H', W'] or [out, H', W'].  Weight [in, out / groups, kh, kw] and bias [out]
// from U(-1, 1) / sqrt(out / groups kh kw).
template <std::size_t N> class ConvTranspose : public Module {
public:
    ConvTranspose(std::int64_t in_channels, std::int64_t out_channels, const ConvTransposeOptions<N>&);
    Tensor forward(Tensor x) override;
    Variable weight, bias; // bias undefined without one

private:
    reprise::ConvTransposeOptions<N> options_;
};
extern template class ConvTranspose<1>;
extern template class ConvTranspose<2>;
extern template class ConvTranspose<3>;
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

// x [N, C, H, W] -> [N, C kh kw, windows]
class Unfold : public Module {
public:
    explicit Unfold(Sizes<2> kernel_size, const UnfoldOptions& = {});
    Tensor forward(Tensor x) override;

private:
    Sizes<2> kernel_size_;
    UnfoldOptions options_;
};
// x [N, C kh kw, windows] -> [N, C, H, W]
class Fold : public Module {
public:
    Fold(Sizes<2> output_size, Sizes<2> kernel_size, const UnfoldOptions& = {});
    Tensor forward(Tensor x) override;

private:
    Sizes<2> output_size_, kernel_size_;
    UnfoldOptions options_;
};

} // namespace reprise::nn
