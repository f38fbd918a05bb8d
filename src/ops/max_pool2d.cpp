// max_pool2d: the greatest element of each window, and its place in the image for the gradient.  A place is
// the flat position iy * W + ix; of equal elements the first in row-major order counts; a NaN replaces
// whatever came before it, as in PyTorch.  Padding never wins.
#include <algorithm>
#include <cmath>
#include <limits>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/pooling.hpp>

#include "ops/launch_where.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Attributes;
using graph::Node;
using graph::Op;
using graph::TensorType;
using graph::VjpArguments;
using Types = std::span<const TensorType>;
using Integers = std::vector<std::int64_t>;

// -- shapes --

std::vector<TensorType> infer(const Op& op, Types in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    const Shape& x = in[0].shape;
    if (x.size() != 4)
        detail::fail(ErrorKind::shape, op.name, "The input's shape (", to_string(x),
                     ") must be [batch, channels, height, width].");
    const Integers &kernel = a.integers("kernel"), &stride = a.integers("stride"),
                   &padding = a.integers("padding");
    Shape y = x;
    for (std::size_t i = 0; i < 2; ++i) {
        if (padding[i] > kernel[i] / 2)
            detail::fail(ErrorKind::argument, op.name, "The padding (", padding[i],
                         ") must be at most half of the kernel size (", kernel[i], "): use less.");
        const Dim& size = x[2 + i];
        shape::require_at_least(op.name, size, 1, [&] {
            return "The input's shape (" + to_string(x) +
                   ") has no elements in an image: a window needs at least one.";
        });
        y[2 + i] = shape::window_output(op.name, size,
                                        {.kernel = kernel[i], .stride = stride[i], .padding = padding[i]});
    }
    return {{in[0].dtype, y}, {i32, y}};
}

void require_index(const Op& op, const Shape& index, DType dtype, const Shape& windows)
{
    if (dtype != i32) wrong_dtype(op.name, dtype, "i32 places");
    shape::require_same(op.name, index, windows, [&] {
        return "The places' shape (" + to_string(index) + ") must be (" + to_string(windows) + ").";
    });
}

// dy, index -> dx
std::vector<TensorType> infer_vjp(const Op& op, Types in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    require_index(op, in[1].shape, in[1].dtype, in[0].shape);
    const Shape &dy = in[0].shape, &size = a.get<Shape>("size");
    return {{in[0].dtype, {dy[0], dy[1], size[0], size[1]}}};
}

// x, index -> y
std::vector<TensorType> infer_take(const Op& op, Types in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    const Shape &x = in[0].shape, &index = in[1].shape;
    require_index(op, index, in[1].dtype, {x[0], x[1], index[2], index[3]});
    return {{in[0].dtype, index}};
}

// -- derivatives --

// The windows are a property of all three ops: dx is gathered from them.
Attributes windows_of(const Attributes& a)
{
    return {{"kernel", a.integers("kernel")},
            {"stride", a.integers("stride")},
            {"padding", a.integers("padding")}};
}

Tensor gather(const Attributes& a, const Tensor& dy, const Tensor& index, const Shape& x)
{
    return graph::apply1(max_pool2d_vjp_op, {dy, index},
                         {{"kernel", a.integers("kernel")},
                          {"stride", a.integers("stride")},
                          {"padding", a.integers("padding")},
                          {"size", Shape{x[2], x[3]}}});
}

std::vector<Tensor> vjp(const VjpArguments& v)
{
    if (!v.cotangents[0].defined()) return {Tensor()};
    return {gather(v.node.attributes, v.cotangents[0], v.outputs[1], v.inputs[0].shape())};
}

std::vector<Tensor> vjp_of_vjp(const VjpArguments& v)
{
    return {graph::apply1(max_pool2d_take_op, {v.cotangents[0], v.inputs[1]}, windows_of(v.node.attributes)),
            Tensor()};
}

std::vector<Tensor> vjp_of_take(const VjpArguments& v)
{
    return {gather(v.node.attributes, v.cotangents[0], v.inputs[1], v.inputs[0].shape()), Tensor()};
}

// -- launches --

struct Problem {
    Dim planes, h, w, oh, ow;
    const Attributes& attributes;

    Problem(const Shape& x, const Shape& y, const Attributes& a)
        : planes(x[0] * x[1]), h(x[2]), w(x[3]), oh(y[2]), ow(y[3]), attributes(a)
    {}
    std::vector<Dim> ints() const { return {planes, h, w, oh, ow}; }
    Dim inputs() const { return planes * h * w; }
    Dim outputs() const { return planes * oh * ow; }
    // kernel, stride and padding
    std::vector<std::uint32_t> constants() const
    {
        std::vector<std::uint32_t> list;
        for (const char* name : {"kernel", "stride", "padding"})
            for (const std::int64_t v : attributes.integers(name))
                list.push_back(static_cast<std::uint32_t>(v));
        return list;
    }
    // Windows of 2 x 2 side by side, no row of which straddles two texels.
    Dim in_texels() const
    {
        return constants() == std::vector<std::uint32_t>{2, 2, 2, 2, 0, 0} ? is_multiple(w, 2) : Dim(0);
    }
};

void lower(Lowering& l, const Node& node)
{
    require_f32(node);
    const View x = l.contiguous(l.input(0)), y = l.output(0), index = l.output(1);
    const Problem p(x.sizes(), y.sizes(), node.attributes);
    const std::vector<LaunchOperand> operands{{x, Use::read}, {y, Use::write}, {index, Use::write}};
    launch_where(l, p.in_texels(),
                 {.kernel = "max_pool2d_texel",
                  .operands = operands,
                  .ints = p.ints(),
                  .groups = ceil_div(p.outputs(), 256)},
                 {.kernel = "max_pool2d",
                  .constants = p.constants(),
                  .operands = operands,
                  .ints = p.ints(),
                  .groups = ceil_div(p.outputs(), 64)});
}

void lower_vjp(Lowering& l, const Node& node)
{
    require_f32(node);
    const View dy = l.contiguous(l.input(0)), index = l.contiguous(l.input(1)), dx = l.output();
    const Problem p(dx.sizes(), dy.sizes(), node.attributes);
    const std::vector<LaunchOperand> operands{{dy, Use::read}, {index, Use::read}, {dx, Use::write}};
    const bool tiles = p.h.divisible_by(2) && p.w.divisible_by(4);
    launch_where(l, p.in_texels(),
                 {.kernel = tiles ? "max_pool2d_vjp_tiles" : "max_pool2d_vjp_texel",
                  .operands = operands,
                  .ints = p.ints(),
                  .groups = ceil_div(tiles ? p.outputs() : p.inputs(), 256)},
                 {.kernel = "max_pool2d_vjp",
                  .constants = p.constants(),
                  .operands = operands,
                  .ints = p.ints(),
                  .groups = ceil_div(p.inputs(), 64)});
}

void lower_take(Lowering& l, const Node& node)
{
    require_f32(node);
    const View x = l.contiguous(l.input(0)), index = l.contiguous(l.input(1)), y = l.output();
    const Problem p(x.sizes(), y.sizes(), node.attributes);
    l.launch({.kernel = "max_pool2d_take",
              .operands = {{x, Use::read}, {index, Use::read}, {y, Use::write}},
              .ints = {p.planes, p.h * p.w, p.oh * p.ow},
              .groups = ceil_div(p.outputs(), 64)});
}

// -- the specification --

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0], &index = a.outputs[1];
    const Integers &kernel = a.attributes.integers("kernel"), &stride = a.attributes.integers("stride"),
                   &padding = a.attributes.integers("padding");
    const std::int64_t h = x.sizes[2], w = x.sizes[3], oh = y.sizes[2], ow = y.sizes[3];
    for (std::int64_t at = 0, count = y.count(); at < count; ++at) {
        const std::int64_t left = at % ow * stride[1] - padding[1],
                           top = at / ow % oh * stride[0] - padding[0], plane = at / (ow * oh);
        double best = -std::numeric_limits<double>::infinity();
        std::int64_t place = -1;
        for (std::int64_t iy = std::max<std::int64_t>(top, 0); iy < std::min(top + kernel[0], h); ++iy)
            for (std::int64_t ix = std::max<std::int64_t>(left, 0); ix < std::min(left + kernel[1], w);
                 ++ix) {
                const double v = x.at((plane * h + iy) * w + ix);
                if (place >= 0 && !(v > best) && !std::isnan(v)) continue;
                best = v;
                place = iy * w + ix;
            }
        y.put(at, best);
        index.put(at, static_cast<double>(place));
    }
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &index = a.inputs[1], &dx = a.outputs[0];
    const std::int64_t outputs = dy.sizes[2] * dy.sizes[3], inputs = dx.sizes[2] * dx.sizes[3];
    std::vector<double> sums(static_cast<std::size_t>(dx.count()));
    for (std::int64_t at = 0, count = dy.count(); at < count; ++at)
        sums[static_cast<std::size_t>(at / outputs * inputs + static_cast<std::int64_t>(index.at(at)))] +=
            dy.at(at);
    for (std::size_t i = 0; i < sums.size(); ++i) dx.put(static_cast<std::int64_t>(i), sums[i]);
}

void reference_take(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &index = a.inputs[1], &y = a.outputs[0];
    const std::int64_t outputs = y.sizes[2] * y.sizes[3], inputs = x.sizes[2] * x.sizes[3];
    for (std::int64_t at = 0, count = y.count(); at < count; ++at)
        y.put(at, x.at(at / outputs * inputs + static_cast<std::int64_t>(index.at(at))));
}

} // namespace

const Op max_pool2d_op{
    .name = "max_pool2d", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference};
const Op max_pool2d_vjp_op{.name = "max_pool2d_vjp",
                           .infer = infer_vjp,
                           .vjp = vjp_of_vjp,
                           .lower = lower_vjp,
                           .reference = reference_vjp};
const Op max_pool2d_take_op{.name = "max_pool2d_take",
                            .infer = infer_take,
                            .vjp = vjp_of_take,
                            .lower = lower_take,
                            .reference = reference_take};

} // namespace ops

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options)
{
    ops::Integers kernel(options.kernel_size.begin(), options.kernel_size.end());
    ops::Integers stride(options.stride.begin(), options.stride.end());
    for (std::size_t i = 0; i < 2; ++i)
        if (stride[i] == 0) stride[i] = kernel[i];
    return graph::apply1(ops::max_pool2d_op, {x},
                         {{"kernel", kernel},
                          {"stride", stride},
                          {"padding", ops::Integers(options.padding.begin(), options.padding.end())}});
}

Tensor max_pool2d(const Tensor& x, std::int64_t kernel_size)
{
    return max_pool2d(x, {.kernel_size = {kernel_size, kernel_size}});
}

} // namespace reprise
