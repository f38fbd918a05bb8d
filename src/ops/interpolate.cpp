// interpolate: sizes and checks (resample.cpp computes it). pixel_shuffle and its relatives, composed of views.
#include <cmath>
#include <string>

#include <reprise/ops/interpolation.hpp>
#include <reprise/ops/pooling.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/registry.hpp"
#include "ops/resample.hpp"
#include "ops/windows.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace {

constexpr const char* op = "interpolate";

struct Mode {
    const char* name;
    std::size_t dims; // number of spatial dimensions that it takes; 0: any
    ops::Resampling centres, corners;
};

Mode mode_of(Interpolation mode)
{
    using R = ops::Resampling;
    switch (mode) {
    case Interpolation::nearest: return {"nearest", 0, R::nearest, R::nearest};
    case Interpolation::nearest_exact: return {"nearest_exact", 0, R::nearest_exact, R::nearest_exact};
    case Interpolation::linear: return {"linear", 1, R::linear, R::linear_corners};
    case Interpolation::bilinear: return {"bilinear", 2, R::linear, R::linear_corners};
    case Interpolation::bicubic: return {"bicubic", 2, R::cubic, R::cubic_corners};
    case Interpolation::trilinear: return {"trilinear", 3, R::linear, R::linear_corners};
    case Interpolation::area: break;
    }
    return {"area", 0, R::adaptive, R::adaptive};
}

// Returns floor(size * factor), with the product rounded to double. If the size is symbolic, the factor must be a
// multiple of 2^-20.
Dim scaled(const Dim& size, double factor)
{
    if (!(factor > 0) || !std::isfinite(factor))
        detail::fail(ErrorKind::argument, op, "The scale_factor (", factor, ") must be above 0.");
    if (size.is_constant())
        return static_cast<std::int64_t>(std::floor(static_cast<double>(size.value()) * factor));
    constexpr std::int64_t unit = 1 << 20;
    const double units = factor * unit;
    if (units != std::floor(units) || units > 1e12)
        detail::fail(ErrorKind::argument, op, "The scale_factor (", factor, ") of the symbolic size (",
                     size.text(), ") is no multiple of 2^-20: give the size of the output.");
    auto numerator = static_cast<std::int64_t>(units), denominator = unit;
    while (numerator % 2 == 0 && denominator > 1) {
        numerator /= 2;
        denominator /= 2;
    }
    return floor_div(size * numerator, denominator);
}

std::size_t spatial_dims(const Tensor& x, const Mode& mode)
{
    const std::size_t rank = x.shape().size(), n = rank < 2 ? 0 : rank - 2;
    if (n < 1 || n > 3)
        detail::fail(ErrorKind::shape, op, "The input's shape (", to_string(x.shape()),
                     ") must be [batch, channels] and one to three sizes.");
    if (mode.dims != 0 && mode.dims != n)
        detail::fail(ErrorKind::shape, op, "The mode (", mode.name, ") is for inputs of (", mode.dims + 2,
                     ") dimensions, the input's shape is (", to_string(x.shape()), ").");
    return n;
}

template <class Vector> Vector for_each_dim(const char* what, Vector given, std::size_t n)
{
    if (given.size() == 1) given.assign(n, typename Vector::value_type(given[0]));
    if (given.size() != n)
        detail::fail(ErrorKind::argument, op, "There are (", given.size(), ") entries in ", what, " for (", n,
                     ") dimensions: give one, or one for each.");
    return given;
}

Shape output_size(const Shape& from, const InterpolateOptions& o)
{
    const std::size_t n = from.size();
    if (o.size.empty() == o.scale_factor.empty())
        detail::fail(ErrorKind::argument, op, "There must be one of size (", o.size.size(),
                     " entries) and scale_factor (", o.scale_factor.size(), " entries).");
    Shape to;
    if (o.size.empty()) {
        const std::vector<double> factors = for_each_dim("scale_factor", o.scale_factor, n);
        for (std::size_t d = 0; d < n; ++d) to.push_back(scaled(from[d], factors[d]));
    } else {
        to = for_each_dim("size", o.size, n);
    }
    for (std::size_t d = 0; d < n; ++d) {
        const auto sentence = [&] {
            return "The sizes of input and output (" + from[d].text() + " and " + to[d].text() +
                   ") must be at least 1.";
        };
        shape::require_at_least(op, from[d], 1, sentence);
        shape::require_at_least(op, to[d], 1, sentence);
    }
    return to;
}

Tensor averaged(const Tensor& x, const Shape& to)
{
    if (to.size() == 1) return adaptive_avg_pool1d(x, to[0]);
    if (to.size() == 2) return adaptive_avg_pool2d(x, {to[0], to[1]});
    return adaptive_avg_pool3d(x, {to[0], to[1], to[2]});
}

void check_factor(const char* name, const char* what, const Tensor& x, std::int64_t factor)
{
    if (factor < 1)
        detail::fail(ErrorKind::argument, name, "The ", what, " (", factor, ") must be at least 1.");
    if (x.shape().size() < 3)
        detail::fail(ErrorKind::shape, name, "The input's shape (", to_string(x.shape()),
                     ") must be [..., channels, height, width].");
}

Dim part_of(const char* name, const Tensor& x, const char* what, const Dim& size, std::int64_t parts)
{
    shape::require(name, shape::Relation::multiple, size, parts, [&] {
        return std::string("The ") + what + " (" + size.text() + ") of the input's shape (" +
               to_string(x.shape()) + ") must be a multiple of (" + std::to_string(parts) + ").";
    });
    return floor_div(size, parts);
}

// Splits x, permutes it and merges it to sizes that end with `last`: [planes, C, r, r, H, W] to
// [planes, C, H, r, W, r] or back.
Tensor in_order(const Tensor& x, const Shape& split, const std::vector<std::int64_t>& order,
                const Shape& last)
{
    Shape to = x.shape();
    to.resize(to.size() - 3);
    to.insert(to.end(), last.begin(), last.end());
    return ops::copied(reshape(permute(reshape(x, split), order), to));
}

} // namespace

Tensor interpolate(const Tensor& x, const InterpolateOptions& o)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to && o.mode != Interpolation::area)
        return interpolate(to(x), o);
    ops::require_floating(op, x.dtype());
    const Mode mode = mode_of(o.mode);
    const std::size_t n = spatial_dims(x, mode);
    if (o.align_corners && mode.centres == mode.corners)
        detail::fail(ErrorKind::argument, op, "align_corners is not for the mode (", mode.name,
                     "): use one of linear, bilinear, bicubic and trilinear.");
    const Shape to = output_size(ops::last_of(x.shape(), n), o);
    if (o.mode == Interpolation::area) return averaged(x, to);
    std::vector<float> scales;
    if (!o.align_corners && !o.scale_factor.empty())
        for (const double f : for_each_dim("scale_factor", o.scale_factor, n))
            scales.push_back(static_cast<float>(1 / f));
    return ops::resample(x,
                         {.how = o.align_corners ? mode.corners : mode.centres, .to = to, .scales = scales});
}

Tensor pixel_shuffle(const Tensor& x, std::int64_t r)
{
    constexpr const char* name = "pixel_shuffle";
    check_factor(name, "upscale_factor", x, r);
    const Shape s = ops::last_of(x.shape(), 3);
    const Dim channels = part_of(name, x, "channels", s[0], r * r);
    return in_order(x, {ops::planes_of(x.shape(), 3), channels, r, r, s[1], s[2]}, {0, 1, 4, 2, 5, 3},
                    {channels, s[1] * r, s[2] * r});
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t r)
{
    constexpr const char* name = "pixel_unshuffle";
    check_factor(name, "downscale_factor", x, r);
    const Shape s = ops::last_of(x.shape(), 3);
    const Dim height = part_of(name, x, "height", s[1], r), width = part_of(name, x, "width", s[2], r);
    return in_order(x, {ops::planes_of(x.shape(), 3), s[0], height, r, width, r}, {0, 1, 3, 5, 2, 4},
                    {s[0] * (r * r), height, width});
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups)
{
    constexpr const char* name = "channel_shuffle";
    if (groups < 1)
        detail::fail(ErrorKind::argument, name, "The number of groups (", groups, ") must be at least 1.");
    if (x.dim() < 2)
        detail::fail(ErrorKind::shape, name, "The shape (", to_string(x.shape()), ") must be [N, C, ...].");
    const Dim each = part_of(name, x, "channels", x.size(1), groups);
    Shape split = x.shape();
    split[1] = each;
    split.insert(split.begin() + 1, groups);
    return ops::copied(reshape(transpose(reshape(x, split), 1, 2), x.shape()));
}

} // namespace reprise
