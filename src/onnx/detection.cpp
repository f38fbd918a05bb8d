// Boxes in images.
#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/windows.hpp"

namespace reprise::onnx {

namespace {

struct Box {
    double top, left, bottom, right;
    double area() const { return (bottom - top) * (right - left); }
};

Box read_box(const double* at, bool by_center)
{
    if (by_center) return {at[1] - at[3] / 2, at[0] - at[2] / 2, at[1] + at[3] / 2, at[0] + at[2] / 2};
    return {std::min(at[0], at[2]), std::min(at[1], at[3]), std::max(at[0], at[2]), std::max(at[1], at[3])};
}

// The intersection over the union.
double overlap(const Box& a, const Box& b)
{
    const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
    if (height <= 0 || width <= 0) return 0;
    return height * width / (a.area() + b.area() - height * width);
}

// Greedily takes the boxes with the highest scores that overlap no box taken before, on the host.
Value non_max_suppression(Call& call)
{
    const std::vector<double> boxes = call.numbers(0), scores = call.numbers(1);
    const Shape shape = call.shape(1); // [batches, classes, boxes]
    if (shape.size() != 3 || !same(call.shape(0), Shape{shape[0], shape[2], 4}))
        call.fail("Boxes ", to_string(call.shape(0)), " do not fit scores ", to_string(shape), ".");
    const std::size_t batches = shape[0], classes = shape[1], count = shape[2];
    const std::int64_t most = call.whole(2, 0);
    const double limit = call.number(3, 0), lowest = call.has(4) ? call.number(4, 0) : -HUGE_VAL;
    const bool by_center = call.flag("center_point_box");
    std::vector<std::int64_t> selected;
    for (std::size_t b = 0; b < batches; ++b)
        for (std::size_t c = 0; c < classes; ++c) {
            const double* score = scores.data() + (b * classes + c) * count;
            std::vector<std::size_t> order(count);
            for (std::size_t i = 0; i < count; ++i) order[i] = i;
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t i, std::size_t j) { return score[i] > score[j]; });
            std::vector<Box> taken;
            for (const std::size_t i : order) {
                if (static_cast<std::int64_t>(taken.size()) >= most || !(score[i] > lowest)) break;
                const Box box = read_box(boxes.data() + (b * count + i) * 4, by_center);
                const auto covers = [&](const Box& other) { return overlap(box, other) > limit; };
                if (std::any_of(taken.begin(), taken.end(), covers)) continue;
                taken.push_back(box);
                for (const std::size_t index : {b, c, i})
                    selected.push_back(static_cast<std::int64_t>(index));
            }
        }
    return from_vector(selected, Shape{selected.size() / 3, 3}, {.device = call.device});
}

struct RoiRule {
    std::int64_t height, width, samples_y, samples_x; // of the result, and in each of its elements
    double scale, shift;                              // of coordinates
    bool largest, at_least_one;
};

// x [N, C, H, W], rois [R, 4], batch [R] -> [R, C, height, width].
Tensor roi_align(const Tensor& x, const Tensor& rois, const Tensor& batch, const RoiRule& rule)
{
    const CreationOptions options{.dtype = x.dtype(), .device = x.device()};
    const auto axis = [&](std::int64_t low, std::int64_t bins, std::int64_t samples) {
        const Tensor start = affine(select(rois, 1, low), rule.scale, -rule.shift);
        const Tensor end = affine(select(rois, 1, low + 2), rule.scale, -rule.shift);
        Tensor extent = sub(end, start);
        if (rule.at_least_one) extent = maximum(extent, 1.0);
        const double step = 1 / static_cast<double>(bins * samples);
        const Tensor parts = affine(arange(Dim(bins * samples), options), step, step / 2);
        return add(unsqueeze(start, 1), mul(unsqueeze(extent, 1), parts)); // [R, bins samples]
    };
    const Tensor py = axis(1, rule.height, rule.samples_y), px = axis(0, rule.width, rule.samples_x);
    const Dim r = rois.size(0), ny = py.size(1), nx = px.size(1);
    const Tensor gy = expand(unsqueeze(grid_positions(py, x.size(2)), 2), Shape{r, ny, nx});
    const Tensor gx = expand(unsqueeze(grid_positions(px, x.size(3)), 1), Shape{r, ny, nx});
    const Tensor images = index_select(x, 0, batch);
    Tensor y = grid_sample(images, stack({gx, gy}, -1), {.padding_mode = GridSamplePadding::border});
    const auto inside = [](const Tensor& p, const Dim& size) {
        return logical_and(ge(p, -1), le(p, static_cast<double>(size.value())));
    };
    const Tensor known =
        logical_and(unsqueeze(inside(py, x.size(2)), 2), unsqueeze(inside(px, x.size(3)), 1));
    y = where(unsqueeze(known, 1), y, zeros_like(y));
    y = reshape(y, Shape{r, x.size(1), rule.height, rule.samples_y, rule.width, rule.samples_x});
    return rule.largest ? amax(y, {3, 5}) : mean(y, {3, 5});
}

Value roi_align_of(Call& call)
{
    const Tensor x = call[0], rois = call[1], batch = call[2];
    const std::string rule_name =
        call.choice("coordinate_transformation_mode", call.opset() < 16 ? "output_half_pixel" : "half_pixel",
                    {"half_pixel", "output_half_pixel"});
    const bool half = rule_name == "half_pixel";
    const std::int64_t samples = call.integer("sampling_ratio", 0);
    RoiRule rule{call.integer("output_height", 1),
                 call.integer("output_width", 1),
                 samples,
                 samples,
                 call.real("spatial_scale", 1),
                 half ? 0.5 : 0,
                 call.choice("mode", "avg", {"avg", "max"}) == "max",
                 !half};
    if (rule.height < 1 || rule.width < 1) call.fail("The result would have no elements.");
    if (samples > 0) return roi_align(x, rois, batch, rule);
    // The number of samples is that of elements of x in an element of the result.
    const std::vector<double> numbers = call.numbers(1);
    std::vector<Tensor> parts;
    for (std::size_t i = 0; 4 * i + 3 < numbers.size(); ++i) {
        const auto count = [&](std::size_t low, std::int64_t bins) {
            const double size = (numbers[4 * i + low + 2] - numbers[4 * i + low]) * rule.scale;
            const double extent = rule.at_least_one ? std::max(size, 1.0) : size;
            const double most = 1 << 12;
            return call.floor_of(std::clamp(std::ceil(extent / static_cast<double>(bins)), 1.0, most));
        };
        rule.samples_x = count(0, rule.width);
        rule.samples_y = count(1, rule.height);
        const auto at = static_cast<std::int64_t>(i);
        parts.push_back(roi_align(x, narrow(rois, 0, at, 1), narrow(batch, 0, at, 1), rule));
    }
    if (parts.empty())
        return zeros(Shape{0, x.size(1), rule.height, rule.width},
                     {.dtype = x.dtype(), .device = call.device});
    return cat(parts, 0);
}

const Operator rows[] = {
    {"NonMaxSuppression",
     non_max_suppression,
     {.constants = 0b11100, .limits = "computed on the host; can't be recorded"}},
    {"RoiAlign", roi_align_of, {.limits = "a sampling_ratio of 0 can't be recorded"}},
};

} // namespace

Operators detection_operators() { return rows; }

} // namespace reprise::onnx
