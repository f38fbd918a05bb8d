// Convolutions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/convolution.hpp>

namespace reprise::nn {

template <std::size_t N> struct ConvOptions {
    Sizes<N> kernel_size = 0; // to be given
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
    using Options = ConvOptions<N>;
    using Module::Module;
    Conv(std::int64_t in_channels, std::int64_t out_channels, const ConvOptions<N>&);
    // Conv2d(1, 8, 3), Conv2d(1, 8, 3, {.padding = 1})
    Conv(std::int64_t in_channels, std::int64_t out_channels, Sizes<N> kernel_size,
         ConvOptions<N> options = {})
        : Conv(in_channels, out_channels, (options.kernel_size = kernel_size, options))
    {}
    Tensor forward(Tensor x) override;
    std::string name() const override { return "Conv" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;
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
    Sizes<N> kernel_size = 0; // to be given
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
    using Options = ConvTransposeOptions<N>;
    using Module::Module;
    ConvTranspose(std::int64_t in_channels, std::int64_t out_channels, const ConvTransposeOptions<N>&);
    ConvTranspose(std::int64_t in_channels, std::int64_t out_channels, Sizes<N> kernel_size,
                  ConvTransposeOptions<N> options = {})
        : ConvTranspose(in_channels, out_channels, (options.kernel_size = kernel_size, options))
    {}
    Tensor forward(Tensor x) override;
    std::string name() const override { return "ConvTranspose" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;
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
    using Options = UnfoldOptions;
    explicit Unfold(Sizes<2> kernel_size, const UnfoldOptions& = {});
    Tensor forward(Tensor x) override;

private:
    Sizes<2> kernel_size_;
    UnfoldOptions options_;
};
// x [N, C kh kw, windows] -> [N, C, H, W]
class Fold : public Module {
public:
    using Options = UnfoldOptions;
    Fold(Sizes<2> output_size, Sizes<2> kernel_size, const UnfoldOptions& = {});
    Tensor forward(Tensor x) override;

private:
    Sizes<2> output_size_, kernel_size_;
    UnfoldOptions options_;
};

} // namespace reprise::nn
