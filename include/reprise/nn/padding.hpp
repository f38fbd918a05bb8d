// Padding of the last one to three dimensions: modules of pad().
#pragma once
#include <cstddef>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/ops/shapes.hpp>

namespace reprise::nn {

// Adds elements on both sides of the last N dimensions of x.  With the modes reflect, replicate and circular
// x has one or two more dimensions, else Error(argument).  The modules are named ZeroPad2d, ReflectionPad1d
// and so on (below).
template <std::size_t N, PaddingMode mode> class Padding : public Module {
public:
    REPRISE_LAYER(Padding)
    using Module::Module;
    // Takes one amount for all sides, or 2 N amounts: before and after the last dimension, before and after the second
    // last, ...  Negative amounts remove elements.  Calls throw Error(shape) where more elements are removed than there
    // are, and for an amount that is not below the size (reflect) or above it (circular).
    explicit Padding(Sizes<2 * N> padding) : padding_(padding) {}
    Tensor forward(Tensor x) override;
    std::string name() const override;
    std::string extra_repr() const override;

private:
    Sizes<2 * N> padding_ = 0;
};
// Pads the last dimension with zeros.
using ZeroPad1d = Padding<1, PaddingMode::constant>;
// Pads the last two dimensions with zeros.
using ZeroPad2d = Padding<2, PaddingMode::constant>;
// Pads the last three dimensions with zeros.
using ZeroPad3d = Padding<3, PaddingMode::constant>;
// Pads the last dimension with mirrored elements, without repeating the border.
using ReflectionPad1d = Padding<1, PaddingMode::reflect>;
// Pads the last two dimensions with mirrored elements, without repeating the border.
using ReflectionPad2d = Padding<2, PaddingMode::reflect>;
// Pads the last three dimensions with mirrored elements, without repeating the border.
using ReflectionPad3d = Padding<3, PaddingMode::reflect>;
// Pads the last dimension with copies of the border elements.
using ReplicationPad1d = Padding<1, PaddingMode::replicate>;
// Pads the last two dimensions with copies of the border elements.
using ReplicationPad2d = Padding<2, PaddingMode::replicate>;
// Pads the last three dimensions with copies of the border elements.
using ReplicationPad3d = Padding<3, PaddingMode::replicate>;
// Pads the last dimension with elements of the opposite end.
using CircularPad1d = Padding<1, PaddingMode::circular>;
// Pads the last two dimensions with elements of the opposite end.
using CircularPad2d = Padding<2, PaddingMode::circular>;
// Pads the last three dimensions with elements of the opposite end.
using CircularPad3d = Padding<3, PaddingMode::circular>;

// Adds elements of one value on both sides of the last N dimensions of x.
template <std::size_t N> class ConstantPad : public Module {
public:
    REPRISE_LAYER(ConstantPad)
    using Module::Module;
    // The amounts are as for Padding.
    ConstantPad(Sizes<2 * N> padding, double value) : padding_(padding), value_(value) {}
    Tensor forward(Tensor x) override;
    std::string name() const override { return "ConstantPad" + std::to_string(N) + "d"; }
    std::string extra_repr() const override;

private:
    Sizes<2 * N> padding_ = 0;
    double value_ = 0;
};
using ConstantPad1d = ConstantPad<1>; // of the last dimension
using ConstantPad2d = ConstantPad<2>; // of the last two dimensions
using ConstantPad3d = ConstantPad<3>; // of the last three dimensions

} // namespace reprise::nn
