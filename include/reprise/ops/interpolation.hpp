// Resizing images, moving elements between channels and pixels, and sampling images at given positions.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/choice.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// How interpolate() computes an element, as in PyTorch: nearest takes the element at floor(position * scale),
// nearest_exact the one that the output's centre lies in; area is adaptive average pooling.
enum class Interpolation { nearest, nearest_exact, linear, bilinear, bicubic, trilinear, area };

// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, Interpolation>, 7> names_of_choices(Interpolation)
{
    return {{{"nearest", Interpolation::nearest},
             {"nearest-exact", Interpolation::nearest_exact},
             {"linear", Interpolation::linear},
             {"bilinear", Interpolation::bilinear},
             {"bicubic", Interpolation::bicubic},
             {"trilinear", Interpolation::trilinear},
             {"area", Interpolation::area}}};
}
using InterpolationMode = Choice<Interpolation>; // an Interpolation, or PyTorch's name of one

// The factors of the dimensions' sizes: one for all of them, or one for each.
class ScaleFactors : public std::vector<double> {
public:
    ScaleFactors() = default;                                                 // none
    ScaleFactors(double all) : vector{all} {}                                 // one for all dimensions
    ScaleFactors(std::initializer_list<double> factors) : vector(factors) {}  // those in the braces
    ScaleFactors(std::vector<double> factors) : vector(std::move(factors)) {} // those of the vector
};

// Options of interpolate(): either size or scale_factor, else Error(argument); one entry serves all
// dimensions.
struct InterpolateOptions {
    DimVector size{};            // the sizes of the output
    ScaleFactors scale_factor{}; // the output's sizes are those of the input times this, rounded down
    InterpolationMode mode = Interpolation::nearest; // how elements are computed
    // Aligns the centres of the corner elements of input and output, instead of their outer edges.  For
    // linear and cubic modes only, else Error(argument).
    bool align_corners = false;
};
// Resizes images x [N, C, L], [N, C, H, W] or [N, C, D, H, W] of a floating dtype.  linear requires the first
// shape, bilinear and bicubic the second, trilinear the third, else Error(shape).  Positions are computed in
// f32.  For a symbolic size the scale_factor must be a multiple of 2^-20.
Tensor interpolate(const Tensor& x, const InterpolateOptions&);

// Moves channels into pixels (Shi et al., 2016): [..., C r r, H, W] -> [..., C, H r, W r] with the factor r.
// Error(shape) where the channels are no multiple of r r.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
// The reverse of pixel_shuffle(): [..., C, H r, W r] -> [..., C r r, H, W] with the factor r.  Error(shape)
// where height or width is no multiple of r.
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);

// Interleaves groups of channels of x [N, C, ...]: channel g C / groups + i becomes channel i groups + g.
// Error(shape) where C is no multiple of groups.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

// How grid_sample() computes an element between those of the image.
enum class GridSampleMode { bilinear, nearest, bicubic };
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, GridSampleMode>, 3> names_of_choices(GridSampleMode)
{
    return {{{"bilinear", GridSampleMode::bilinear},
             {"nearest", GridSampleMode::nearest},
             {"bicubic", GridSampleMode::bicubic}}};
}
// How grid_sample() extends the image beyond its borders: by zeros, by the nearest element of the border, or
// by the mirrored image.
enum class GridSamplePadding { zeros, border, reflection };
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, GridSamplePadding>, 3> names_of_choices(
    GridSamplePadding)
{
    return {{{"zeros", GridSamplePadding::zeros},
             {"border", GridSamplePadding::border},
             {"reflection", GridSamplePadding::reflection}}};
}
// Options of grid_sample().
struct GridSampleOptions {
    Choice<GridSampleMode> mode = GridSampleMode::bilinear;            // how elements are computed
    Choice<GridSamplePadding> padding_mode = GridSamplePadding::zeros; // how the image is extended
    bool align_corners = false; // -1 and 1 are the centres of the corner elements; false: their outer edges
};
// Samples x [N, C, H, W] at the positions (x, y) of grid [N, OH, OW, 2] -> [N, C, OH, OW], or x [N, C, D, H,
// W] at (x, y, z) of [N, OD, OH, OW, 3].  Positions run from -1 to 1 over the image and are computed in f32
// at least.  x and grid have one floating dtype.  bilinear is trilinear for images of three dimensions;
// bicubic is for two, else Error(argument).  Gradients go to x and, except for nearest, to the grid.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& = {});
// The grid for grid_sample() that affine maps theta [N, 2, 3] (or [N, 3, 4]) give for an output of `size` [N,
// C, H, W] (or [N, C, D, H, W]): [N, H, W, 2] (or [N, D, H, W, 3]).  theta is floating.  Error(shape) where
// the sizes do not fit.
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners = false);

} // namespace reprise
