// Resizing of images: modules of the functions in ops/interpolation.hpp.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/ops/interpolation.hpp>

namespace reprise::nn {

// Resizes x [N, C, L], [N, C, H, W] or [N, C, D, H, W] by interpolation to a size or by a scale factor.
class Upsample : public Module {
public:
    REPRISE_LAYER(Upsample)
    using Options = InterpolateOptions; // for make()
    using Module::Module;
    // One of size and scale_factor has to be given.  They are checked against x when the module is called:
    // Error(argument), and Error(shape) where the mode does not support x's number of dimensions.
    explicit Upsample(InterpolateOptions options);
    Tensor forward(Tensor x) override;

private:
    InterpolateOptions options_;
};

// Moves channels into pixels: x [..., C r^2, H, W] -> [..., C, H r, W r] for r = upscale_factor (Shi et al.,
// 2016).  Throws Error(shape) where r^2 does not divide the channels or x has fewer than three dimensions.
class PixelShuffle : public Module {
public:
    REPRISE_LAYER(PixelShuffle)
    using Module::Module;
    explicit PixelShuffle(std::int64_t upscale_factor); // Error(argument) below 1
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t factor_ = 1;
};

// The inverse of PixelShuffle: x [..., C, H r, W r] -> [..., C r^2, H, W] for r = downscale_factor.  Throws
// Error(shape) where r does not divide height and width or x has fewer than three dimensions.
class PixelUnshuffle : public Module {
public:
    REPRISE_LAYER(PixelUnshuffle)
    using Module::Module;
    explicit PixelUnshuffle(std::int64_t downscale_factor); // Error(argument) below 1
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t factor_ = 1;
};

} // namespace reprise::nn
