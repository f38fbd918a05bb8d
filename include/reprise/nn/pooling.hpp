// Pooling: modules of the functions in ops/pooling.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/pooling.hpp>

namespace reprise::nn {

template <std::size_t N> struct MaxPoolOptions {
    Sizes<N> stride = 0; // 0: the kernel's size
    Sizes<N> padding = 0;
    Sizes<N> dilation = 1;
    bool ceil_mode = false;
};
template <std::size_t N> class MaxPool : public Module {
public:
    using Options = MaxPoolOptions<N>;
    explicit MaxPool(Sizes<N> kernel_size, const MaxPoolOptions<N>& = {});
    Tensor forward(Tensor x) override;
    std::string name() const override { return "MaxPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    reprise::MaxPoolOptions<N> options_;
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;

template <std::size_t N> struct AvgPoolOptions {
    Sizes<N> stride = 0; // 0: the kernel's size
    Sizes<N> padding = 0;
    bool ceil_mode = false;
    bool count_include_pad = true;
    std::optional<std::int64_t> divisor_override{};
};
template <std::size_t N> class AvgPool : public Module {
public:
    using Options = AvgPoolOptions<N>;
    explicit AvgPool(Sizes<N> kernel_size, const AvgPoolOptions<N>& = {});
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AvgPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    reprise::AvgPoolOptions<N> options_;
};
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;

// -1: the input's size
template <std::size_t N> class AdaptiveAvgPool : public Module {
public:
    explicit AdaptiveAvgPool(Sizes<N> output_size);
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AdaptiveAvgPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    Sizes<N> output_size_;
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<1>;
using AdaptiveAvgPool2d = AdaptiveAvgPool<2>;
using AdaptiveAvgPool3d = AdaptiveAvgPool<3>;

template <std::size_t N> class AdaptiveMaxPool : public Module {
public:
    explicit AdaptiveMaxPool(Sizes<N> output_size);
    Tensor forward(Tensor x) override;
    std::string name() const override { return "AdaptiveMaxPool" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    Sizes<N> output_size_;
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<1>;
using AdaptiveMaxPool2d = AdaptiveMaxPool<2>;
using AdaptiveMaxPool3d = AdaptiveMaxPool<3>;

} // namespace reprise::nn
