// Other sizes of images.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// nearest_exact takes the element whose part of the image holds the output's centre; area is adaptive_avg_pool.
enum class Interpolation { nearest, nearest_exact, linear, bilinear, bicubic, trilinear, area };

// One of size and scale_factor; one entry serves all dimensions.
struct InterpolateOptions {
    DimVector size{};                   // of the output
    std::vector<double> scale_factor{}; // the output's size is that of the input times this, rounded down
    Interpolation mode = Interpolation::nearest;
    bool align_corners = false; // the corners' centres stay where they are; of linear and cubic modes
};
// x [N, C, L], [N, C, H, W] or [N, C, D, H, W]: linear is for the first, bilinear and bicubic for the second,
// trilinear for the third.  Positions are computed in f32.  A factor for a symbolic size is a multiple of 2^-20.
Tensor interpolate(const Tensor& x, const InterpolateOptions&);

// [..., C r r, H, W] -> [..., C, H r, W r] and back.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);

} // namespace reprise
