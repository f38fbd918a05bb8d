// Operators that change shapes or move elements.
#include <algorithm>
#include <limits>

#include "onnx/call.hpp"
#include "onnx/host.hpp"
#include "onnx/windows.hpp"

namespace reprise::onnx {

namespace {

using Numbers = std::vector<std::int64_t>;

Value identity(Call& call) { return call.value(0); }

Value shape_of(Call& call)
{
    const Shape shape = call.shape(0);
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto position = [&](const char* name, std::int64_t otherwise) {
        const std::int64_t at = call.integer(name, otherwise);
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = position("start", 0), end = std::max(start, position("end", rank));
    return Value::sizes(DimVector(shape.begin() + start, shape.begin() + end));
}

Value size_of_tensor(Call& call)
{
    Dim count = 1;
    for (const Dim& size : call.shape(0)) count *= size;
    return Value::scalar(count);
}

Value reshape_to(Call& call)
{
    const Tensor x = call[0];
    DimVector to = call.has(1) ? call.sizes(1) : DimVector(call.list("shape"));
    if (!call.flag("allowzero"))
        for (std::size_t i = 0; i < to.size(); ++i)
            if (to[i].is_constant() && to[i].value() == 0) {
                if (i >= static_cast<std::size_t>(x.dim()))
                    call.fail("The shape ", to_string(to), " copies size (", i, ") of the shape ",
                              to_string(x.shape()), ", which has none.");
                to[i] = x.size(static_cast<std::int64_t>(i));
            }
    return reshape(x, to);
}

Value flatten_to_matrix(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t given = call.integer("axis", 1), rank = x.dim();
    const std::int64_t axis = given == rank ? rank : call.axis(given, rank);
    Dim rows = 1, columns = 1;
    for (std::int64_t i = 0; i < rank; ++i) (i < axis ? rows : columns) *= x.size(i);
    return reshape(x, Shape{rows, columns});
}

Value transpose_of(Call& call)
{
    const Tensor x = call[0];
    Numbers order = call.list("perm");
    if (!call.has_attribute("perm"))
        for (std::int64_t i = x.dim(); i-- > 0;) order.push_back(i);
    return permute(x, order);
}

Value concat_of(Call& call)
{
    const std::vector<Tensor> parts = call.tensors();
    return cat(parts, call.axis(call.integer("axis"), call.rank(0)));
}

Values split_into(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.axis("axis", 0, x.dim());
    const Dim size = x.size(axis);
    Shape sizes;
    if (call.has(1)) {
        sizes = call.sizes(1);
    } else if (call.has_attribute("split")) {
        sizes = Shape(call.list("split"));
    } else {
        const std::int64_t parts = call.integer("num_outputs", static_cast<std::int64_t>(call.outputs()));
        if (parts < 1 || parts != static_cast<std::int64_t>(call.outputs()))
            call.fail("The number of parts (", parts, ") is not that of the outputs (", call.outputs(), ").");
        const Dim each = ceil_div(size, Dim(parts));
        for (std::int64_t i = 0; i + 1 < parts; ++i) sizes.push_back(each);
        sizes.push_back(size - each * (parts - 1));
    }
    if (sizes.size() != call.outputs())
        call.fail("There are (", sizes.size(), ") sizes for (", call.outputs(), ") outputs.");
    Values out;
    for (Tensor& part : split(x, sizes, axis)) out.emplace_back(std::move(part));
    return out;
}

// A bound as a position from the start, where it is symbolic; constants are left to slice().
Dim from_start(const Call& call, const Dim& bound, const Dim& size)
{
    if (bound.is_constant() || same(bound, size) || bound.at_least(0)) return bound;
    if (bound.at_most(-1)) return size + bound;
    call.fail(
        "The bound (", bound.text(),
        ") of a slice counts from the start or from the end, as the signs of its symbols decide: give them a "
        "minimum or a maximum.");
}

// The step of a slice; one beyond the dimension takes its first element only, as its size does.
std::int64_t step_within(const Call& call, std::int64_t step, const Dim& size)
{
    constexpr std::int64_t most = 1 << 20;
    if (size.is_constant()) return std::min(step, std::max<std::int64_t>(size.value(), 1));
    if (step > most)
        call.fail("The step (", step, ") of a slice of the symbolic size (", size.text(), ") is too large.");
    return step;
}

// The range of one axis; bounds beyond the dimension are clamped to it.
Tensor slice_axis(const Call& call, const Tensor& x, std::int64_t axis, const Dim& from, const Dim& to,
                  std::int64_t step)
{
    const Dim start = from_start(call, from, x.size(axis)), end = from_start(call, to, x.size(axis));
    if (step > 0) return slice(x, axis, SliceRange{start, end, step_within(call, step, x.size(axis))});
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min())
        call.fail("The step of a slice is (", step, ").");
    // From the end: position i is position size - 1 - i of the reversed dimension.
    const Dim size = x.size(axis);
    const auto mirrored = [&](const Dim& at) {
        if (!at.is_constant()) return max(Dim(0), size - 1 - min(at, size - 1));
        if (at.value() >= 0) return max(Dim(0), size - 1 - min(at, size - 1));
        return at.value() < std::numeric_limits<std::int32_t>::min() ? size : min(-1 - at, size);
    };
    return slice(flip(x, {axis}), axis,
                 SliceRange{mirrored(start), mirrored(end), step_within(call, -step, size)});
}

Value slice_of(Call& call)
{
    Tensor x = call[0];
    const DimVector starts = call.has(1) ? call.sizes(1) : DimVector(call.list("starts"));
    const DimVector ends = call.has(2) ? call.sizes(2) : DimVector(call.list("ends"));
    Numbers axes = call.integers_or_list(3, "axes").value_or(Numbers());
    const Numbers steps = call.has(4) ? call.integers(4) : Numbers(starts.size(), 1);
    if (axes.empty())
        for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
        call.fail("There are (", starts.size(), ") starts, (", ends.size(), ") ends, (", axes.size(),
                  ") axes and (", steps.size(), ") steps.");
    for (std::size_t i = 0; i < starts.size(); ++i)
        x = slice_axis(call, x, call.axis(axes[i], x.dim()), starts[i], ends[i], steps[i]);
    return x;
}

Value squeeze_of(Call& call)
{
    const Tensor x = call[0];
    const auto axes = call.integers_or_list(1, "axes");
    if (!axes) return squeeze(x);
    for (const std::int64_t axis : *axes) {
        const Dim size = x.size(call.axis(axis, x.dim()));
        if (size.is_constant() && size.value() != 1)
            call.fail("The dimension (", axis, ") of the shape ", to_string(x.shape()),
                      " has not the size 1.");
    }
    return squeeze(x, Dims(*axes));
}

Value unsqueeze_of(Call& call)
{
    const Tensor x = call[0];
    Numbers axes = call.integers_or_list(1, "axes").value_or(Numbers());
    const std::int64_t rank = x.dim() + static_cast<std::int64_t>(axes.size());
    for (std::int64_t& axis : axes) axis = call.axis(axis, rank);
    std::sort(axes.begin(), axes.end());
    Tensor y = x;
    for (const std::int64_t axis : axes) y = unsqueeze(y, axis);
    return y;
}

Value expand_to(Call& call)
{
    const Tensor x = call[0];
    return expand(x, broadcast_shapes(x.shape(), call.sizes(1)));
}

Value tile_of(Call& call)
{
    const Tensor x = call[0];
    const DimVector times = call.sizes(1);
    if (static_cast<std::int64_t>(times.size()) != x.dim())
        call.fail("There are (", times.size(), ") repeats for (", x.dim(), ") dimensions.");
    return repeat(x, times);
}

Tensor pad_axis(const Tensor& x, std::int64_t axis, const Dim& before, const Dim& after, PaddingMode mode)
{
    // As a batch of vectors: the axis last, all others merged.
    const Tensor last = movedim(x, axis, -1);
    const Tensor rows = reshape(last, Shape{1, -1, x.size(axis)});
    const Tensor padded = pad(rows, DimVector{before, after}, mode);
    Shape shape = last.shape();
    shape.back() = padded.size(-1);
    return movedim(reshape(padded, shape), -1, axis);
}

Tensor pad_by(const Call& call, const Tensor& x, const DimVector& before, const DimVector& after,
              const std::string& mode, double value)
{
    if (mode == "constant") return pad_images(x, before, after, value);
    if (mode != "reflect" && mode != "edge" && mode != "wrap")
        call.fail("The mode (", mode, ") of pad is not known.");
    const PaddingMode kind = mode == "reflect" ? PaddingMode::reflect
                             : mode == "edge"  ? PaddingMode::replicate
                                               : PaddingMode::circular;
    Tensor y = x;
    for (std::size_t i = 0; i < before.size(); ++i)
        if (!same(before[i], Dim(0)) || !same(after[i], Dim(0)))
            y = pad_axis(y, static_cast<std::int64_t>(i), before[i], after[i], kind);
    return y;
}

Value pad_of(Call& call)
{
    const Tensor x = call[0];
    const auto rank = static_cast<std::size_t>(x.dim());
    const DimVector pads = call.has(1) ? call.sizes(1) : DimVector(call.list("pads"));
    Numbers axes;
    if (call.has(3)) axes = call.integers(3);
    else
        for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (pads.size() != 2 * axes.size())
        call.fail("There are (", pads.size(), ") pads for (", axes.size(), ") axes.");
    DimVector before(rank, Dim(0)), after(rank, Dim(0));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<std::size_t>(call.axis(axes[i], x.dim()));
        before[axis] = pads[i];
        after[axis] = pads[i + axes.size()];
    }
    const double value = call.has(2) ? call.number(2, 0) : call.real("value", 0);
    return pad_by(call, x, before, after, call.text("mode", "constant"), value);
}

// The middle of each axis, cut or padded with zeros to a size; the odd element is at the end.
Value center_crop_pad(Call& call)
{
    Tensor x = call[0];
    const DimVector to = call.sizes(1);
    Numbers axes = call.list("axes");
    if (!call.has_attribute("axes"))
        for (std::int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
    if (axes.size() != to.size())
        call.fail("There are (", to.size(), ") sizes for (", axes.size(), ") axes.");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = call.axis(axes[i], x.dim());
        const Dim size = x.size(axis), length = min(size, to[i]);
        x = narrow(x, axis, floor_div(size - length, 2), length);
        DimVector before(static_cast<std::size_t>(x.dim()), Dim(0)), after = before;
        before[static_cast<std::size_t>(axis)] = floor_div(to[i] - length, 2);
        after[static_cast<std::size_t>(axis)] = to[i] - length - floor_div(to[i] - length, 2);
        x = pad_by(call, x, before, after, "constant", 0);
    }
    return x;
}

Value depth_to_space(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t b = call.integer("blocksize");
    if (b < 1 || b > 1 << 20 || x.dim() != 4)
        call.fail("The blocks of (", b, ") need an image [N, C, H, W].");
    if (call.text("mode", "DCR") == "CRD") return pixel_shuffle(x, b);
    const Dim n = x.size(0), c = floor_div(x.size(1), Dim(b * b)), h = x.size(2), w = x.size(3);
    const Tensor parts = permute(reshape(x, Shape{n, b, b, c, h, w}), {0, 3, 4, 1, 5, 2});
    return reshape(parts, Shape{n, c, h * b, w * b});
}

Value space_to_depth(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t b = call.integer("blocksize");
    if (b < 1 || b > 1 << 20 || x.dim() != 4)
        call.fail("The blocks of (", b, ") need an image [N, C, H, W].");
    const Dim n = x.size(0), c = x.size(1), h = floor_div(x.size(2), Dim(b)),
              w = floor_div(x.size(3), Dim(b));
    const Tensor parts = permute(reshape(x, Shape{n, c, h, b, w, b}), {0, 3, 5, 1, 2, 4});
    return reshape(parts, Shape{n, c * b * b, h, w});
}

constexpr Typed moves = Typed::as_input;

const Operator rows[] = {
    {"CenterCropPad", center_crop_pad, {.typed = moves}},
    {"Concat", concat_of, {.typed = moves, .on_host = host_concat, .since = 4}},
    {"DepthToSpace", depth_to_space, {.typed = moves}},
    {"Expand", expand_to, {.typed = moves, .on_host = host_expand}},
    {"Flatten", flatten_to_matrix, {.typed = moves}},
    {"Identity", identity, {.on_host = host_identity}},
    {"Pad", pad_of, {.typed = moves, .constants = 0b100, .since = 2}},
    {"Reshape", reshape_to, {.typed = moves, .on_host = host_reshape, .since = 5}},
    {"Shape", shape_of},
    {"Size", size_of_tensor},
    {"Slice", slice_of, {.typed = moves, .on_host = host_slice}},
    {"SpaceToDepth", space_to_depth, {.typed = moves}},
    {"Split", split_into, {.typed = moves, .since = 2}},
    {"Squeeze", squeeze_of, {.typed = moves, .on_host = host_squeeze}},
    {"Tile", tile_of, {.typed = moves, .since = 6}},
    {"Transpose", transpose_of, {.typed = moves}},
    {"Unsqueeze", unsqueeze_of, {.typed = moves, .on_host = host_unsqueeze}},
};

} // namespace

Operators shape_operators() { return rows; }

} // namespace reprise::onnx
