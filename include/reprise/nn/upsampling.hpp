// Other sizes of images: modules of the functions in ops/interpolation.hpp.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/ops/interpolation.hpp>

namespace reprise::nn {

class Upsample : public Module {
public:
    explicit Upsample(InterpolateOptions options);
    Tensor forward(Tensor x) override;

private:
    InterpolateOptions options_;
};

class PixelShuffle : public Module {
public:
    explicit PixelShuffle(std::int64_t upscale_factor);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t factor_;
};

class PixelUnshuffle : public Module {
public:
    explicit PixelUnshuffle(std::int64_t downscale_factor);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t factor_;
};

} // namespace reprise::nn
