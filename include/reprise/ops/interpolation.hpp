// Other sizes of images.
#pragma once
#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// nearest_exact takes the element whose part of the image holds the output's centre; area is adaptive_avg_pool.
enum class Interpolation { nearest, nearest_exact, linear, bilinear, bicubic, trilinear, area };

// One of them, or PyTorch's name for it, such as "bilinear" or "nearest-exact"; Error(argument) for another text.
class InterpolationMode {
public:
    InterpolationMode(Interpolation mode) : mode_(mode) {}
    template <class Text>
    requires std::convertible_to<Text, std::string_view> InterpolationMode(const Text& text)
        : mode_(named(text))
    {}
    operator Interpolation() const { return mode_; }

private:
    static Interpolation named(std::string_view);
    Interpolation mode_;
};

// One of size and scale_factor; one entry serves all dimensions.
struct InterpolateOptions {
    DimVector size{};                   // of the output
    std::vector<double> scale_factor{}; // the output's size is that of the input times this, rounded down
    InterpolationMode mode = Interpolation::nearest;
    bool align_corners = false; // the corners' centres stay where they are; of linear and cubic modes
};
// x [N, C, L], [N, C, H, W] or [N, C, D, H, W]: linear is for the first, bilinear and bicubic for the second,
// trilinear for the third.  Positions are computed in f32.  A factor for a symbolic size is a multiple of 2^-20.
Tensor interpolate(const Tensor& x, const InterpolateOptions&);

// [..., C r r, H, W] -> [..., C, H r, W r] and back.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);

Tensor channel_shuffle(const Tensor& x,
                       std::int64_t groups); // [N, C, ...]: channel g C / groups + i goes to i groups + g

// How grid_sample reads between elements, and what lies around the image: zeros, its border, or the image turned around.
enum class GridSampleMode { bilinear, nearest, bicubic };
enum class GridSamplePadding { zeros, border, reflection };
struct GridSampleOptions {
    GridSampleMode mode = GridSampleMode::bilinear;
    GridSamplePadding padding_mode = GridSamplePadding::zeros;
    bool align_corners = false; // -1 and 1 are the centres of the corners, not their edges
};
// Elements of x [N, C, H, W] at positions (x, y) of grid [N, OH, OW, 2] -> [N, C, OH, OW]; or of [N, C, D, H, W] at
// (x, y, z) of [N, OD, OH, OW, 3].  Positions run from -1 to 1 over the image and are computed in f32 at least.  bilinear
// stands for trilinear; bicubic is for four dimensions.  Gradients go to x and, but for nearest, to the grid.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& = {});
// The grid that affine maps theta [N, 2, 3] (or [N, 3, 4]) make of an image of `size` [N, C, H, W] (or [N, C, D, H, W]).
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners = false);

} // namespace reprise
