// Resizing and sampling images.
#include <algorithm>
#include <cmath>

#include "onnx/call.hpp"
#include "onnx/resize.hpp"

namespace reprise::onnx {

namespace {

// The sizes before and after, by dimension; sizes may be symbols.
struct Resizing {
    Shape out;
    std::vector<double> scale, start, end; // 1, 0 and 1 where a dimension is not resized
    bool by_scale = false;                 // whether scales were given, not sizes
};

// size * scale rounded down, where the scale of a symbolic size is a multiple of 2^-20.
Dim scaled(const Call& call, const Dim& size, double scale)
{
    if (size.is_constant()) return call.floor_of(static_cast<double>(size.value()) * scale);
    constexpr std::int64_t unit = 1 << 20;
    const double units = scale * unit;
    if (units != std::floor(units) || !(std::abs(units) <= 1e12))
        call.fail("The symbolic size (", size.text(), ") can't be scaled by (", scale,
                  "), no multiple of 2^-20.");
    return floor_div(size * static_cast<std::int64_t>(units), Dim(unit));
}

std::vector<std::int64_t> resized_axes(const Call& call, std::int64_t rank)
{
    std::vector<std::int64_t> axes = call.list("axes");
    if (!call.has_attribute("axes"))
        for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
    for (std::int64_t& axis : axes) axis = call.axis(axis, rank);
    return axes;
}

// Makes all scales the smallest or the largest one.
void keep_aspect(const Call& call, Resizing& r, const Shape& shape, const std::vector<std::int64_t>& axes)
{
    const std::string policy =
        call.choice("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
    if (policy == "stretch") return;
    const bool smallest = policy == "not_larger";
    double scale = smallest ? 1e30 : 0;
    for (const std::int64_t axis : axes) {
        const double s = r.scale[static_cast<std::size_t>(axis)];
        scale = smallest ? std::min(scale, s) : std::max(scale, s);
    }
    for (const std::int64_t axis : axes) {
        const auto i = static_cast<std::size_t>(axis);
        r.scale[i] = scale;
        if (!shape[i].is_constant())
            call.fail("The symbolic size (", shape[i].text(), ") can't keep the aspect ratio.");
        r.out[i] = call.floor_of(static_cast<double>(shape[i].value()) * scale + 0.5);
    }
}

Resizing read_resizing(const Call& call, const Shape& shape, const std::string& coordinates)
{
    const std::size_t rank = shape.size();
    Resizing r{shape, std::vector<double>(rank, 1), std::vector<double>(rank, 0),
               std::vector<double>(rank, 1)};
    const auto axes = resized_axes(call, static_cast<std::int64_t>(rank));
    const bool old = call.opset() < 11;
    const std::size_t scales_input = old ? 1 : 2;
    if (!old && call.has(1) && coordinates == "tf_crop_and_resize") {
        const std::vector<double> region = call.numbers(1);
        if (region.size() != 2 * axes.size()) call.fail("The region has (", region.size(), ") numbers.");
        for (std::size_t k = 0; k < axes.size(); ++k) {
            r.start[static_cast<std::size_t>(axes[k])] = region[k];
            r.end[static_cast<std::size_t>(axes[k])] = region[k + axes.size()];
        }
    }
    std::vector<double> scales = call.reals("scales"); // of Upsample before opset 9
    if (call.has(scales_input)) scales = call.numbers(scales_input);
    r.by_scale = !scales.empty();
    DimVector sizes;
    if (!r.by_scale) sizes = call.sizes(3);
    if ((r.by_scale ? scales.size() : sizes.size()) != axes.size())
        call.fail("There are (", scales.size(), ") scales and (", sizes.size(), ") sizes for (", axes.size(),
                  ") axes.");
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const auto i = static_cast<std::size_t>(axes[k]);
        if (r.by_scale) {
            r.scale[i] = scales[k];
            if (!(scales[k] > 0)) call.fail("The scale (", scales[k], ") is not above 0.");
            r.out[i] = scaled(call, shape[i], scales[k] * (r.end[i] - r.start[i]));
        } else {
            r.out[i] = sizes[k];
            if (sizes[k].is_constant() && shape[i].is_constant())
                r.scale[i] = static_cast<double>(sizes[k].value()) / static_cast<double>(shape[i].value());
            else if (!same(sizes[k], shape[i])) r.scale[i] = 0; // not known
        }
    }
    if (!r.by_scale) keep_aspect(call, r, shape, axes);
    return r;
}

// The mode of interpolate() that has the same result; nullopt where there is none.
std::optional<Interpolation> as_interpolation(const Tensor& x, const Resizing& r, const ResizeRule& rule)
{
    const std::int64_t rank = x.dim();
    const bool plain = rule.coordinates == "half_pixel" || rule.coordinates == "align_corners" ||
                       rule.coordinates == "pytorch_half_pixel";
    if (rank < 3 || rank > 5 || !is_floating(x.dtype()) || rule.antialias || rule.exclude_outside)
        return std::nullopt;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
        const Dim size = x.size(static_cast<std::int64_t>(i));
        if (i < 2 && !same(size, r.out[i])) return std::nullopt;
        if (i < 2) continue;
        const bool known = size.is_constant() && r.out[i].is_constant();
        const double exact = known ? static_cast<double>(size.value()) * r.scale[i] : 0;
        if (known && (exact != static_cast<double>(r.out[i].value()) || exact < 2)) return std::nullopt;
        if (!known && r.scale[i] != std::floor(r.scale[i])) return std::nullopt;
    }
    if (rule.mode == "nearest" && rule.coordinates == "asymmetric" && rule.nearest == "floor")
        return Interpolation::nearest;
    if (!plain) return std::nullopt;
    if (rule.mode == "linear")
        return rank == 3   ? Interpolation::linear
               : rank == 4 ? Interpolation::bilinear
                           : Interpolation::trilinear;
    if (rule.mode == "cubic" && rank == 4 && std::abs(rule.cubic_a + 0.75) < 1e-6)
        return Interpolation::bicubic;
    return std::nullopt;
}

Tensor resize_axis(const Call& call, const Tensor& x, std::int64_t axis, const ResizedAxis& sizes,
                   const ResizeRule& rule)
{
    if (sizes.size < 1 && sizes.out > 0) call.fail("A dimension without elements can't be resized.");
    const std::vector<double> at = positions(sizes, rule);
    Tensor y;
    if (rule.mode == "nearest") {
        const Tensor index =
            from_vector(nearest_elements(sizes, rule, at), Shape{sizes.out}, {.device = call.device});
        y = index_select(x, axis, index);
    } else {
        const DType dtype = is_floating(x.dtype()) ? x.dtype() : f32;
        const Tensor matrix = call.from_host(weights(sizes, rule, at), Shape{sizes.size, sizes.out}, dtype);
        y = movedim(matmul(movedim(x.to(dtype), axis, -1), matrix), -1, axis);
    }
    std::vector<std::uint8_t> outside;
    for (const double p : at) outside.push_back(std::isnan(p));
    if (std::none_of(outside.begin(), outside.end(), [](std::uint8_t o) { return o != 0; })) return y;
    Shape column(static_cast<std::size_t>(x.dim()), 1);
    column[static_cast<std::size_t>(axis)] = sizes.out;
    const Tensor mask = from_vector(outside, column, {.dtype = boolean, .device = call.device});
    return masked_fill(y, mask, rule.extrapolation);
}

Value resize_by(const Call& call, const ResizeRule& rule)
{
    Tensor x = call[0];
    const DType dtype = x.dtype();
    const Resizing r = read_resizing(call, x.shape(), rule.coordinates);
    if (const auto mode = as_interpolation(x, r, rule))
        return interpolate(x, {.size = DimVector(r.out.begin() + 2, r.out.end()),
                               .mode = *mode,
                               .align_corners = rule.coordinates == "align_corners"});
    for (std::size_t i = 0; i < r.out.size(); ++i) {
        const auto axis = static_cast<std::int64_t>(i);
        if (same(x.size(axis), r.out[i]) && r.scale[i] == 1 && r.start[i] == 0 && r.end[i] == 1) continue;
        if (!x.size(axis).is_constant() || !r.out[i].is_constant())
            call.fail("The symbolic size (", x.size(axis).text(), ") can't be resized by the mode (",
                      rule.mode, ") with the coordinates (", rule.coordinates, ").");
        const ResizedAxis sizes{x.size(axis).value(), r.out[i].value(), r.scale[i], r.start[i], r.end[i]};
        x = resize_axis(call, x, axis, sizes, rule);
    }
    return x.to(dtype);
}

Value resize_of(Call& call)
{
    ResizeRule rule;
    rule.mode = call.choice("mode", "nearest", {"nearest", "linear", "cubic"});
    if (call.opset() < 11) { // as Upsample
        rule.coordinates = "asymmetric";
        rule.nearest = "floor";
    } else {
        rule.coordinates =
            call.choice("coordinate_transformation_mode", "half_pixel",
                        {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                         "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
        rule.nearest = call.choice("nearest_mode", "round_prefer_floor",
                                   {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
    }
    rule.cubic_a = call.real("cubic_coeff_a", -0.75);
    rule.exclude_outside = call.flag("exclude_outside");
    rule.antialias = call.flag("antialias");
    rule.extrapolation = call.real("extrapolation_value", 0);
    return resize_by(call, rule);
}

Value upsample(Call& call)
{
    ResizeRule rule;
    rule.mode = call.choice("mode", "nearest", {"nearest", "linear", "bilinear"});
    if (rule.mode == "bilinear") rule.mode = "linear";
    rule.coordinates = "asymmetric";
    rule.nearest = "floor";
    return resize_by(call, rule);
}

Value grid_sample_of(Call& call)
{
    const std::string mode =
        call.choice("mode", "linear", {"linear", "bilinear", "nearest", "cubic", "bicubic"});
    const std::string padding = call.choice("padding_mode", "zeros", {"zeros", "border", "reflection"});
    GridSampleOptions options;
    options.mode = mode == "nearest"                      ? GridSampleMode::nearest
                   : mode == "cubic" || mode == "bicubic" ? GridSampleMode::bicubic
                                                          : GridSampleMode::bilinear;
    options.padding_mode = padding == "border"       ? GridSamplePadding::border
                           : padding == "reflection" ? GridSamplePadding::reflection
                                                     : GridSamplePadding::zeros;
    options.align_corners = call.flag("align_corners");
    return grid_sample(call[0], call[1].to(call[0].dtype()), options);
}

Value affine_grid_of(Call& call) { return affine_grid(call[0], call.sizes(1), call.flag("align_corners")); }

const Operator rows[] = {
    {"AffineGrid", affine_grid_of},
    {"GridSample", grid_sample_of, {.limits = "images of 2 and 3 dimensions"}},
    {"Resize",
     resize_of,
     {.constants = 0b1110,
      .since = 10,
      .limits = "symbolic sizes only where the result is that of interpolate()"}},
    {"Upsample", upsample, {.constants = 0b10, .since = 7, .until = 9}},
};

} // namespace

Operators image_operators() { return rows; }

} // namespace reprise::onnx
