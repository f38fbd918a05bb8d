// max_pool: the largest element of each window over the last one to three dimensions, and its index for the gradient.
// The index is the flat position in the image, iy * W + ix.  Of equal elements the first one in row-major order is
// taken; a NaN replaces all elements before it, as in PyTorch.  Padding is never taken: a window that consists of
// padding only has the value -inf and the index -1.
#include <cmath>
#include <limits>

#include <reprise/ops/pooling.hpp>

#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/windows.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {
namespace {

using Integers = std::vector<std::int64_t>;

// -- shapes --

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    const Shape y = with_last(in[0].shape, a.shape("to"));
    return {{in[0].dtype, y}, {i32, y}};
}

void require_index(const Op& op, const Shape& index, DType dtype, const Shape& windows)
{
    if (dtype != i32 && dtype != i64) wrong_dtype(op.name, dtype, "i32 places");
    shape::require_same(op.name, index, windows, [&] {
        return "The places' shape (" + to_string(index) + ") must be (" + to_string(windows) + ").";
    });
}

// dy, index -> dx
TensorTypes infer_vjp(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    require_index(op, in[1].shape, in[1].dtype, in[0].shape);
    return {{in[0].dtype, with_last(in[0].shape, a.shape("to"))}};
}

// x, index -> y
TensorTypes infer_take(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    const Shape& index = in[1].shape;
    require_index(op, index, in[1].dtype, with_last(in[0].shape, last_of(index, a.shape("to").size())));
    return {{in[0].dtype, index}};
}

// -- derivatives --

// Returns the attributes of the node with the sizes of its first input.  All three ops have the attributes of the
// windows, as each element of dx gathers from its windows.
Attributes with_input_sizes(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    return a.with("to", last_of(v.node.inputs[0].type().shape, a.shape("to").size()));
}

std::vector<Tensor> vjp(const VjpArguments& v)
{
    if (!v.cotangents[0].defined()) return {Tensor()};
    return {graph::apply1(max_pool_vjp_op, {v.cotangents[0], v.outputs[1]}, with_input_sizes(v))};
}

std::vector<Tensor> vjp_of_vjp(const VjpArguments& v)
{
    return {graph::apply1(max_pool_take_op, {v.cotangents[0], v.inputs[1]}, with_input_sizes(v)), Tensor()};
}

std::vector<Tensor> vjp_of_take(const VjpArguments& v)
{
    return {graph::apply1(max_pool_vjp_op, {v.cotangents[0], v.inputs[1]}, with_input_sizes(v)), Tensor()};
}

// -- launches --

// A pooling problem in three dimensions; with fewer dimensions the first sizes are 1.
struct Problem {
    Dim planes;
    Shape in, out;
    Integers kernel, stride, padding, dilation; // empty kernel: adaptive pooling
    bool ceil_mode, plane;                      // plane: one or two dimensions without dilation

    Problem(const Shape& x, const Shape& y, const Attributes& a)
        : kernel(a.integers("kernel")), stride(a.integers("stride")), padding(a.integers("padding")),
          dilation(a.integers("dilation")), ceil_mode(a.integer("ceil_mode") != 0)
    {
        const std::size_t n = a.shape("to").size();
        planes = planes_of(x, n);
        in = three_sizes(x, n);
        out = three_sizes(y, n);
        plane = n < 3 && !adaptive() && dilation == Integers(n, 1);
    }
    bool adaptive() const { return kernel.empty(); }
    records::Windows windows() const
    {
        return {.in_size = in,
                .out_size = out,
                .kernel = three(kernel, 1),
                .stride = three(stride, 1),
                .padding = three(padding, 0),
                .dilation = three(dilation, 1)};
    }
    Dim inputs() const { return planes * in[0] * in[1] * in[2]; }
    Dim outputs() const { return planes * out[0] * out[1] * out[2]; }
    // The specialization constants for a plane: kernel, stride and padding, each by y and x.
    std::vector<std::uint32_t> plane_constants() const
    {
        std::vector<std::uint32_t> list;
        const auto add = [&](const Integers& v, std::int64_t of_one) {
            list.push_back(static_cast<std::uint32_t>(v.size() == 2 ? v[0] : of_one));
            list.push_back(static_cast<std::uint32_t>(v.back()));
        };
        add(kernel, 1);
        add(stride, 1);
        add(padding, 0);
        return list;
    }
    // 1 if the windows are adjacent 2 x 2 blocks inside of the image, none with a row in two texels; else 0.
    Dim in_texels() const
    {
        if (plane_constants() != std::vector<std::uint32_t>{2, 2, 2, 2, 0, 0}) return 0;
        return is_multiple(in[2], 2) * (ceil_mode ? is_multiple(in[1], 2) : Dim(1));
    }
};

void lower(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    const View x = l.contiguous(l.input(0)), y = l.output(0), index = l.output(1);
    const Problem p(x.sizes(), y.sizes(), node.attributes);
    if (!p.plane || x.dtype == f64) {
        const records::max_pool record{
            .x = x, .y = y, .index = index, .planes = p.planes, .windows = p.windows()};
        return l.launch(
            record.launch({.constants = {p.adaptive() ? 1u : 0u}, .groups = ceil_div(p.outputs(), 64)}));
    }
    const records::max_pool2d record{.x = x,
                                     .y = y,
                                     .index = index,
                                     .planes = p.planes,
                                     .height = p.in[1],
                                     .width = p.in[2],
                                     .out_height = p.out[1],
                                     .out_width = p.out[2]};
    launch_where(l, p.in_texels(),
                 record.launch({.kernel = "max_pool2d_texel", .groups = ceil_div(p.outputs(), 256)}),
                 record.launch({.constants = p.plane_constants(), .groups = ceil_div(p.outputs(), 64)}));
}

void lower_vjp(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    const View dy = l.contiguous(l.input(0)), index = l.contiguous(l.indices(1)), dx = l.output();
    const Problem p(dx.sizes(), dy.sizes(), node.attributes);
    if (!p.plane || dy.dtype == f64) {
        const records::max_pool_vjp record{
            .dy = dy, .index = index, .dx = dx, .planes = p.planes, .windows = p.windows()};
        return l.launch(
            record.launch({.constants = {p.adaptive() ? 1u : 0u}, .groups = ceil_div(p.inputs(), 64)}));
    }
    const bool tiles = p.in[1].divisible_by(2) && p.in[2].divisible_by(4);
    const records::max_pool2d_vjp record{.dy = dy,
                                         .index = index,
                                         .dx = dx,
                                         .planes = p.planes,
                                         .height = p.in[1],
                                         .width = p.in[2],
                                         .out_height = p.out[1],
                                         .out_width = p.out[2]};
    launch_where(l, p.in_texels(),
                 record.launch({.kernel = tiles ? "max_pool2d_vjp_tiles" : "max_pool2d_vjp_texel",
                                .groups = ceil_div(tiles ? p.outputs() : p.inputs(), 256)}),
                 record.launch({.constants = p.plane_constants(), .groups = ceil_div(p.inputs(), 64)}));
}

void lower_take(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    const View x = l.contiguous(l.input(0)), index = l.contiguous(l.indices(1)), y = l.output();
    const Problem p(x.sizes(), y.sizes(), node.attributes);
    const records::max_pool_take record{.x = x,
                                        .index = index,
                                        .y = y,
                                        .planes = p.planes,
                                        .inputs = p.in[0] * p.in[1] * p.in[2],
                                        .outputs = p.out[0] * p.out[1] * p.out[2]};
    l.launch(record.launch({.groups = ceil_div(p.outputs(), 64)}));
}

// -- the specification --

// Returns the input positions along one dimension that the window of output o contains.
Integers positions(const Attributes& a, std::size_t d, std::int64_t o, std::int64_t size,
                   std::int64_t outputs)
{
    Integers list;
    if (a.integers("kernel").empty()) {
        for (std::int64_t i = o * size / outputs; i * outputs < (o + 1) * size; ++i) list.push_back(i);
        return list;
    }
    const std::int64_t first = o * a.integers("stride")[d] - a.integers("padding")[d];
    for (std::int64_t k = 0; k < a.integers("kernel")[d]; ++k)
        if (const std::int64_t i = first + k * a.integers("dilation")[d]; i >= 0 && i < size)
            list.push_back(i);
    return list;
}

std::int64_t image_size(const HostTensor& t, const Attributes& a)
{
    std::int64_t size = 1;
    for (std::size_t d = t.sizes.size() - a.shape("to").size(); d < t.sizes.size(); ++d) size *= t.sizes[d];
    return size;
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0], &index = a.outputs[1];
    const std::size_t n = a.attributes.shape("to").size(), lead = x.sizes.size() - n;
    const std::int64_t inputs = image_size(x, a.attributes), outputs = image_size(y, a.attributes);
    for (std::int64_t at = 0, count = y.count(); at < count; ++at) {
        Integers window{0}; // indices of its elements, in row-major order
        std::int64_t rest = at % outputs, stride = outputs;
        for (std::size_t d = 0; d < n; ++d) {
            stride /= y.sizes[lead + d];
            const Integers along =
                positions(a.attributes, d, rest / stride, x.sizes[lead + d], y.sizes[lead + d]);
            rest %= stride;
            Integers more;
            for (const std::int64_t p : window)
                for (const std::int64_t i : along) more.push_back(p * x.sizes[lead + d] + i);
            window = std::move(more);
        }
        double best = -std::numeric_limits<double>::infinity();
        std::int64_t best_index = -1;
        for (const std::int64_t p : window) {
            const double v = x.at(at / outputs * inputs + p);
            if (best_index >= 0 && !(v > best) && !std::isnan(v)) continue;
            best = v;
            best_index = p;
        }
        y.put(at, best);
        index.put(at, static_cast<double>(best_index));
    }
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &index = a.inputs[1], &dx = a.outputs[0];
    const std::int64_t outputs = image_size(dy, a.attributes), inputs = image_size(dx, a.attributes);
    std::vector<double> sums(static_cast<std::size_t>(dx.count()));
    for (std::int64_t at = 0, count = dy.count(); at < count; ++at)
        if (const auto i = static_cast<std::int64_t>(index.at(at)); i >= 0)
            sums[static_cast<std::size_t>(at / outputs * inputs + i)] += dy.at(at);
    dx.put_all(sums);
}

void reference_take(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &index = a.inputs[1], &y = a.outputs[0];
    const std::int64_t outputs = image_size(y, a.attributes), inputs = image_size(x, a.attributes);
    for (std::int64_t at = 0, count = y.count(); at < count; ++at) {
        const auto i = static_cast<std::int64_t>(index.at(at));
        y.put(at, i < 0 ? 0 : x.at(at / outputs * inputs + i));
    }
}

} // namespace

const Op max_pool_op{
    .name = "max_pool", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference, .doubles = true};
const Op max_pool_vjp_op{.name = "max_pool_vjp",
                         .infer = infer_vjp,
                         .vjp = vjp_of_vjp,
                         .lower = lower_vjp,
                         .reference = reference_vjp,
                         .doubles = true};
const Op max_pool_take_op{.name = "max_pool_take",
                          .infer = infer_take,
                          .vjp = vjp_of_take,
                          .lower = lower_take,
                          .reference = reference_take,
                          .doubles = true};

} // namespace reprise::ops
