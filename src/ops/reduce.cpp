#include "ops/reduce.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <reprise/ops/elementwise.hpp>

#include "ops/launch_where.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

namespace {

using Integers = std::vector<std::int64_t>;

// The constants of shaders/common/reduce.glsl.
constexpr std::int64_t block = 256, max_partials = 4096, workgroup = 64;
constexpr std::size_t max_rank = 6;
// A few f32 elements, of which one invocation finds the largest on CPUs: a second level would cost an epoch.  It adds
// up to 16 partials of a block one after the other, as one invocation does with the blocks, so the bits are the same.
constexpr std::int64_t few_elements = 16 * block;

bool contains(const Integers& dims, std::size_t d)
{
    return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
}

// Whether the first `count` strides are multiples of a texel (4 elements).
bool aligned(const DimVector& strides, std::size_t count)
{
    return std::all_of(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(count),
                       [](const Dim& s) { return s.divisible_by(4); });
}

void divide(DimVector& sizes)
{
    for (Dim& d : sizes) d = floor_div(d, 4);
}

// Whether four neighbouring elements of one output form a texel.
bool has_rows(const View& x, const Reduction& r)
{
    if (r.strides.empty() || !same(r.strides.back(), 1) || !x.layout.offset.divisible_by(4)) return false;
    const std::size_t outer = r.strides.size() - 1;
    return aligned(r.kept_strides, r.kept_strides.size()) && aligned(r.strides, outer) &&
           (outer == 0 || r.sizes.back().divisible_by(4));
}

// Whether the same element of four neighbouring outputs forms a texel.
bool has_columns(const View& x, const Reduction& r)
{
    if (r.kept_strides.empty() || !same(r.kept_strides.back(), 1)) return false;
    return r.kept_sizes.back().divisible_by(4) && x.layout.offset.divisible_by(4) &&
           aligned(r.kept_strides, r.kept_strides.size() - 1) && aligned(r.strides, r.strides.size());
}

enum class Layout { any, rows, columns };

// Counts strides in texels for the layout's kernels, which is returned.
Layout in_texels(const View& x, Reduction& r)
{
    if (x.dtype != f32) return Layout::any;
    const Layout layout = has_rows(x, r) ? Layout::rows : has_columns(x, r) ? Layout::columns : Layout::any;
    if (layout != Layout::any) {
        divide(r.kept_strides);
        divide(r.strides);
    }
    if (layout == Layout::rows) {
        r.sizes.back() = ceil_div(r.sizes.back(), 4);
        r.strides.back() = 1;
    } else if (layout == Layout::columns) {
        r.kept_sizes.back() = floor_div(r.kept_sizes.back(), 4);
        r.kept_strides.back() = 1;
        r.outputs = floor_div(r.outputs, 4);
    }
    return layout;
}
std::string kernel_of(const std::string& name, Layout layout)
{
    return layout == Layout::any ? name : name + (layout == Layout::rows ? "_rows" : "_columns");
}
// Appends the sizes and strides that the kernels read.
void add_lists(DimVector& ints, const Reduction& r)
{
    for (const auto* list : {&r.kept_sizes, &r.kept_strides, &r.sizes, &r.strides})
        ints.insert(ints.end(), list->begin(), list->end());
}
bool outputs_are_adjacent(const Reduction& r)
{
    return !r.kept_strides.empty() && same(r.kept_strides.back(), 1);
}

// Launches the first level, which writes partial results [partials][outputs].
void launch_partials(Lowering& l, const std::string& name, const View& x, Reduction r, const View& to,
                     const Dim& partials)
{
    const bool outputs_adjacent = outputs_are_adjacent(r);
    const Layout layout = in_texels(x, r);
    const bool ragged = !r.count.divisible_by(layout == Layout::rows ? 32 : 8);
    LaunchSpec spec{.kernel = kernel_of(name, layout),
                    .constants = {static_cast<std::uint32_t>(r.kept_sizes.size()),
                                  static_cast<std::uint32_t>(r.sizes.size()), outputs_adjacent ? 1u : 0u,
                                  ragged ? 1u : 0u, x.dtype == i32 ? 1u : 0u},
                    .operands = {{x, Use::read}, {to, Use::write}},
                    .floats = {},
                    .ints = {r.count, r.outputs, partials},
                    .groups = ceil_div(r.outputs * partials, workgroup),
                    .reduces = x.dtype == f32};
    add_lists(spec.ints, r);
    if (layout == Layout::any) return l.launch(std::move(spec));
    launch_with_texels(l, 1, std::move(spec));
}

// Launches a level of a reduction on GPUs, which writes [parts][outputs].
void launch_groups(Lowering& l, const std::string& op, const View& x, Reduction r, const View& to,
                   const LanesDivision& division)
{
    const bool adjacent = outputs_are_adjacent(r);
    const Layout layout = in_texels(x, r);
    LaunchSpec spec{.kernel = kernel_of(op, layout) + "_group",
                    .constants = {static_cast<std::uint32_t>(r.kept_sizes.size()),
                                  static_cast<std::uint32_t>(r.sizes.size()), adjacent ? 1u : 0u,
                                  r.count.divisible_by(4) ? 0u : 1u},
                    .operands = {{x, Use::read}, {to, Use::write}},
                    .floats = {},
                    .ints = {r.count, r.outputs, division.parts, division.lane_bits, division.length},
                    .groups = ceil_div(r.outputs * division.parts * division.lanes, 256),
                    .reduces = true};
    add_lists(spec.ints, r);
    if (op == "sum" && layout != Layout::any) {
        spec.converting_kernel = spec.kernel + "_dtypes";
        spec.constants.resize(6, static_cast<std::uint32_t>(f32));
        if (!l.fuses())
            spec.converts.push_back({0, 4}); // a fuser lets the launch compute all of the chain before it
        if (layout == Layout::columns) spec.converts.push_back({1, 5});
    }
    l.launch(std::move(spec));
}

} // namespace

LanesDivision::LanesDivision(const Dim& elements, const Dim& outputs)
{
    constexpr std::int64_t longest = 4096, shortest = 2048, wanted_parts = 1024, multiple = 512;
    constexpr std::int64_t few = 512; // parts of all outputs that occupy few workgroups, with 64 lanes each
    const Dim by_size = min(ceil_div(elements, shortest), floor_div(wanted_parts, max(1, outputs)));
    const Dim wanted = 1 + is_at_least(elements, longest + 1) * (max(1, by_size) - 1);
    length = min(max(multiple, multiple * ceil_div(ceil_div(elements, wanted), multiple)),
                 (std::int64_t{1} << 31) - multiple);
    parts = max(1, ceil_div(elements, length));
    const Dim some = is_at_least(elements, 17), many = is_at_least(elements, 257);
    const Dim most = is_at_least(elements, 1025) * (1 - is_at_least(outputs * parts, few + 1));
    lanes = 1 + 7 * some + 56 * many + 64 * most; // of columns, two of 128 lanes read 32 bytes of a row
    lane_bits = 3 * some + 3 * many + most;
}

LanesDivision LanesDivision::of_one_part(const Dim& elements)
{
    LanesDivision division(elements, 1);
    division.parts = 1;
    division.length = round_up(max(1, elements), 512); // of at most 1,024 parts
    return division;
}

void require_arithmetic(const char* op, DType dtype)
{
    if (!is_floating(dtype) && dtype != i32 && dtype != i64)
        wrong_dtype(op, dtype, "a floating dtype, i32 or i64");
}

Tensor widened_to_i32(const Tensor& x)
{
    const DType dtype = x.dtype();
    return dtype == boolean || (is_integer(dtype) && size_of(dtype) < 4) ? cast(x, i32) : x;
}

graph::Attributes reduction_attributes(const char* op, const Tensor& x, const Integers& dims, bool keepdim)
{
    const std::size_t rank = x.shape().size();
    Integers all;
    // For a tensor without dimensions 0 and -1 are valid: they refer to its one element.
    const std::vector<std::size_t> normal = shape::normalize_dims(op, dims, std::max<std::size_t>(rank, 1));
    for (const std::size_t d : normal)
        if (rank > 0) all.push_back(static_cast<std::int64_t>(d));
    std::sort(all.begin(), all.end());
    if (all.empty())
        for (std::size_t d = 0; d < rank; ++d) all.push_back(static_cast<std::int64_t>(d));
    return {{"dims", std::move(all)}, {"keepdim", std::int64_t{keepdim}}};
}

Shape reduced_shape(const graph::Op& op, const graph::TensorType& in, const graph::Attributes& a)
{
    return shape::reduce(op.name, in.shape, a.integers("dims"), a.integer("keepdim") != 0);
}

Shape kept_shape(const Shape& in, const graph::Attributes& a)
{
    Shape kept = in;
    for (const std::int64_t d : a.integers("dims")) kept[static_cast<std::size_t>(d)] = 1;
    return kept;
}

Dim reduced_count(const Shape& in, const Integers& dims)
{
    Shape sizes;
    for (const std::int64_t d : dims) sizes.push_back(in[static_cast<std::size_t>(d)]);
    return shape::element_count(sizes);
}

namespace {

Reduction merged(const View& x, const Integers& dims)
{
    Shape kept_sizes, sizes;
    shape::Strides kept_strides, strides;
    for (std::size_t d = 0; d < x.sizes().size(); ++d) {
        const bool reduced = contains(dims, d);
        (reduced ? sizes : kept_sizes).push_back(x.sizes()[d]);
        (reduced ? strides : kept_strides).push_back(x.layout.strides[d]);
    }
    shape::Collapsed kept = shape::collapse(kept_sizes, {{kept_strides}});
    shape::Collapsed reduced = shape::collapse(sizes, {{strides}});
    return {.kept_sizes = std::move(kept.sizes),
            .sizes = std::move(reduced.sizes),
            .kept_strides = std::move(kept.strides[0]),
            .strides = std::move(reduced.strides[0]),
            .outputs = shape::element_count(kept_sizes),
            .count = shape::element_count(sizes)};
}

bool walks(const Reduction& r) { return r.kept_sizes.size() <= max_rank && r.sizes.size() <= max_rank; }

// Moves `dims` to the end in their order and returns their new numbers.
Integers move_to_end(View& x, const Integers& dims)
{
    const graph::Strided before = x.layout;
    x.layout.sizes.clear();
    x.layout.strides.clear();
    for (const bool reduced : {false, true})
        for (std::size_t d = 0; d < before.sizes.size(); ++d) {
            if (contains(dims, d) != reduced) continue;
            x.layout.sizes.push_back(before.sizes[d]);
            x.layout.strides.push_back(before.strides[d]);
        }
    Integers moved(dims.size());
    std::iota(moved.begin(), moved.end(), static_cast<std::int64_t>(before.sizes.size() - dims.size()));
    return moved;
}

} // namespace

Reduction split(Lowering& l, View& x, const Integers& dims)
{
    if (Reduction r = merged(x, dims); walks(r)) return r;
    if (x.contiguous()) { // kept and reduced dimensions alternate: a copy separates them
        const Integers moved = move_to_end(x, dims);
        x = l.contiguous(x);
        return merged(x, moved);
    }
    x = l.contiguous(x);
    return split(l, x, dims);
}

void lower_reduction(Lowering& l, const graph::Node& n)
{
    reduce_into(l, n.op->name, l.input(0), n.attributes.integers("dims"), l.output());
}

void reduce_into(Lowering& l, const std::string& op, View x, const Integers& dims, const View& to)
{
    std::string name = op;
    if (to.dtype == i32) name += "_i32";
    const Reduction r = split(l, x, dims);
    if (l.groups_share_rows() && x.dtype == f32) {
        const LanesDivision division(r.count, r.outputs);
        if (same(division.parts, 1)) return launch_groups(l, name, x, r, to, division);
        const View between = l.temporary(f32, {division.parts, r.outputs});
        launch_groups(l, name, x, r, between, division);
        return launch_groups(l, name, between, merged(between, {0}), to,
                             LanesDivision::of_one_part(division.parts));
    }
    const bool is_extremum = op == "amax" || op == "amin";
    const bool is_small = is_extremum && x.dtype == f32 && (r.outputs * r.count).at_most(few_elements);
    if (is_small || r.count.at_most(block)) return launch_partials(l, name, x, r, to, 1);
    const Dim partials = min(ceil_div(r.count, block), max_partials);
    const View between = l.temporary(to.dtype, {partials, r.outputs});
    launch_partials(l, name, x, r, between, partials);
    l.launch({.kernel = name + "_partials",
              .constants = {},
              .operands = {{between, Use::read}, {to, Use::write}},
              .floats = {},
              .ints = {r.outputs, partials},
              .groups = ceil_div(r.outputs, workgroup)});
}

} // namespace reprise::ops
