#include <utility>

#include <reprise/nn/upsampling.hpp>

#include "nn/checks.hpp"
#include "nn/repr.hpp"

namespace reprise::nn {

Upsample::Upsample(InterpolateOptions options) : options_(std::move(options)) {}
Tensor Upsample::forward(Tensor x) { return interpolate(x, options_); }

PixelShuffle::PixelShuffle(std::int64_t upscale_factor) : factor_(upscale_factor)
{
    check_at_least("PixelShuffle", "upscale_factor", upscale_factor, 1);
}
Tensor PixelShuffle::forward(Tensor x) { return pixel_shuffle(x, factor_); }
std::string PixelShuffle::extra_repr() const { return Repr().option("upscale_factor", factor_).text(); }

PixelUnshuffle::PixelUnshuffle(std::int64_t downscale_factor) : factor_(downscale_factor)
{
    check_at_least("PixelUnshuffle", "downscale_factor", downscale_factor, 1);
}
Tensor PixelUnshuffle::forward(Tensor x) { return pixel_unshuffle(x, factor_); }
std::string PixelUnshuffle::extra_repr() const { return Repr().option("downscale_factor", factor_).text(); }

} // namespace reprise::nn
