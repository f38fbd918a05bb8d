// Padding of the last one to three dimensions: modules of pad().
#pragma once
#include <cstddef>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/shapes.hpp>

namespace reprise::nn {

// One amount for all sides, or one for each: before and behind the last dimension, before and behind the last but
// one, ...  Negative amounts cut off.
template <std::size_t N, PaddingMode mode> class Padding : public Module {
public:
    explicit Padding(Sizes<2 * N> padding) : padding_(padding) {}
    Tensor forward(Tensor x) override;
    std::string name() const override;
    std::string extra_repr() const override;

private:
    Sizes<2 * N> padding_;
};
using ZeroPad1d = Padding<1, PaddingMode::constant>;
using ZeroPad2d = Padding<2, PaddingMode::constant>;
using ZeroPad3d = Padding<3, PaddingMode::constant>;
using ReflectionPad1d = Padding<1, PaddingMode::reflect>;
using ReflectionPad2d = Padding<2, PaddingMode::reflect>;
using ReflectionPad3d = Padding<3, PaddingMode::reflect>;
using ReplicationPad1d = Padding<1, PaddingMode::replicate>;
using ReplicationPad2d = Padding<2, PaddingMode::replicate>;
using ReplicationPad3d = Padding<3, PaddingMode::replicate>;
using CircularPad1d = Padding<1, PaddingMode::circular>;
using CircularPad2d = Padding<2, PaddingMode::circular>;
using CircularPad3d = Padding<3, PaddingMode::circular>;

template <std::size_t N> class ConstantPad : public Module {
public:
    ConstantPad(Sizes<2 * N> padding, double value) : padding_(padding), value_(value) {}
    Tensor forward(Tensor x) override;
    std::string name() const override { return "ConstantPad" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    Sizes<2 * N> padding_;
    double value_;
};
using ConstantPad1d = ConstantPad<1>;
using ConstantPad2d = ConstantPad<2>;
using ConstantPad3d = ConstantPad<3>;

} // namespace reprise::nn
