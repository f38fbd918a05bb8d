// conv2d and the gradients by its input and its weight.  Each is linear in both of its tensors, so the
// derivatives of the three are made of the three.
#include <reprise/ops/convolution.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/reductions.hpp>

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

void require_rank(const char* op, const char* what, const Shape& shape, std::size_t rank, const char* wanted)
{
    if (shape.size() != rank)
        detail::fail(ErrorKind::shape, op, "The ", what, "'s shape (", to_string(shape), ") must be ", wanted,
                     ".");
}

void require_one_dtype(const char* op, Types in)
{
    for (const TensorType& t : in) {
        require_floating(op, t.dtype);
        if (t.dtype != in[0].dtype)
            detail::fail(ErrorKind::dtype, op, "The inputs' dtypes (", name_of(in[0].dtype), " and ",
                         name_of(t.dtype), ") differ: cast one of them.");
    }
}

void require_channels(const char* op, const char* what, const Dim& channels, const Dim& of_weight)
{
    shape::require_equal(op, channels, of_weight, [&] {
        return std::string("The ") + what + " has (" + channels.text() + ") channels but the weight has (" +
               of_weight.text() + "): they must be equal.";
    });
}

// OH, OW
Shape output_size(const char* op, const Dim& height, const Dim& width, const Dim& kh, const Dim& kw,
                  const Attributes& a)
{
    const Integers &stride = a.integers("stride"), &padding = a.integers("padding");
    return {shape::window_output(op, height, {.kernel = kh, .stride = stride[0], .padding = padding[0]}),
            shape::window_output(op, width, {.kernel = kw, .stride = stride[1], .padding = padding[1]})};
}

// Of a gradient that goes backward through the op: its last two sizes must be the output's.
void require_output_size(const char* op, const Shape& dy, const Shape& size)
{
    for (std::size_t i = 0; i < 2; ++i)
        shape::require_equal(op, dy[2 + i], size[i], [&] {
            return "The output's gradient has the shape (" + to_string(dy) + ") but the output is (" +
                   size[0].text() + ") high and (" + size[1].text() + ") wide.";
        });
}

std::vector<TensorType> infer(const Op& op, Types in, const Attributes& a)
{
    require_one_dtype(op.name, in);
    const Shape &x = in[0].shape, &weight = in[1].shape;
    require_rank(op.name, "input", x, 4, "[batch, channels, height, width]");
    require_rank(op.name, "weight", weight, 4, "[out channels, in channels, kernel height, kernel width]");
    require_channels(op.name, "input", x[1], weight[1]);
    if (in.size() == 3) {
        require_rank(op.name, "bias", in[2].shape, 1, "[out channels]");
        shape::require_equal(op.name, in[2].shape[0], weight[0], [&] {
            return "The bias has (" + in[2].shape[0].text() + ") elements but the weight has (" +
                   weight[0].text() + ") out channels: they must be equal.";
        });
    }
    const Shape size = output_size(op.name, x[2], x[3], weight[2], weight[3], a);
    return {{in[0].dtype, {x[0], weight[0], size[0], size[1]}}};
}

// dy, weight -> dx
std::vector<TensorType> infer_input_vjp(const Op& op, Types in, const Attributes& a)
{
    require_one_dtype(op.name, in);
    const Shape &dy = in[0].shape, &weight = in[1].shape, &size = a.get<Shape>("size");
    require_channels(op.name, "output's gradient", dy[1], weight[0]);
    require_output_size(op.name, dy, output_size(op.name, size[0], size[1], weight[2], weight[3], a));
    return {{in[0].dtype, {dy[0], weight[1], size[0], size[1]}}};
}

// dy, x -> dweight
std::vector<TensorType> infer_weight_vjp(const Op& op, Types in, const Attributes& a)
{
    require_one_dtype(op.name, in);
    const Shape &dy = in[0].shape, &x = in[1].shape, &kernel = a.get<Shape>("kernel");
    require_output_size(op.name, dy, output_size(op.name, x[2], x[3], kernel[0], kernel[1], a));
    return {{in[0].dtype, {dy[1], x[1], kernel[0], kernel[1]}}};
}

// -- derivatives --

Attributes with(const Attributes& a, const char* name, const Shape& sizes)
{
    return {{"stride", a.integers("stride")},
            {"padding", a.integers("padding")},
            {name, Shape{sizes[sizes.size() - 2], sizes[sizes.size() - 1]}}};
}

Tensor forward(const Attributes& a, const Tensor& x, const Tensor& weight)
{
    return graph::apply1(conv2d_op, {x, weight},
                         {{"stride", a.integers("stride")}, {"padding", a.integers("padding")}});
}

Tensor input_vjp(const Attributes& a, const Tensor& dy, const Tensor& weight, const Shape& x)
{
    return graph::apply1(conv2d_input_vjp_op, {dy, weight}, with(a, "size", x));
}

Tensor weight_vjp(const Attributes& a, const Tensor& dy, const Tensor& x, const Shape& weight)
{
    return graph::apply1(conv2d_weight_vjp_op, {dy, x}, with(a, "kernel", weight));
}

std::vector<Tensor> vjp(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const Tensor &x = v.inputs[0], &weight = v.inputs[1], &dy = v.cotangents[0];
    std::vector<Tensor> d(v.inputs.size());
    if (v.wanted[0]) d[0] = input_vjp(a, dy, weight, x.shape());
    if (v.wanted[1]) d[1] = weight_vjp(a, dy, x, weight.shape());
    if (d.size() == 3 && v.wanted[2]) d[2] = sum(dy, {0, 2, 3});
    return d;
}

std::vector<Tensor> vjp_of_input_vjp(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const Tensor &dy = v.inputs[0], &weight = v.inputs[1], &dx = v.cotangents[0];
    std::vector<Tensor> d(2);
    if (v.wanted[0]) d[0] = forward(a, dx, weight);
    if (v.wanted[1]) d[1] = weight_vjp(a, dy, dx, weight.shape());
    return d;
}

std::vector<Tensor> vjp_of_weight_vjp(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const Tensor &dy = v.inputs[0], &x = v.inputs[1], &dweight = v.cotangents[0];
    std::vector<Tensor> d(2);
    if (v.wanted[0]) d[0] = forward(a, x, dweight);
    if (v.wanted[1]) d[1] = input_vjp(a, dy, dweight, x.shape());
    return d;
}

// -- launches --

ConvProblem problem(ConvProblem::Wanted wanted, const View& x, const View& weight, const View& y,
                    const Attributes& a)
{
    const Integers &stride = a.integers("stride"), &padding = a.integers("padding");
    return {.wanted = wanted,
            .x = x,
            .weight = weight,
            .y = y,
            .stride = {stride[0], stride[1]},
            .padding = {padding[0], padding[1]}};
}

void lower(Lowering& l, const Node& node)
{
    require_f32(node);
    ConvProblem p = problem(ConvProblem::Wanted::y, l.contiguous(l.input(0)), l.contiguous(l.input(1)),
                            l.output(), node.attributes);
    if (node.inputs.size() == 3) p.bias = l.contiguous(l.input(2));
    l.conv(p);
}

void lower_input_vjp(Lowering& l, const Node& node)
{
    require_f32(node);
    l.conv(problem(ConvProblem::Wanted::x, l.output(), l.contiguous(l.input(1)), l.contiguous(l.input(0)),
                   node.attributes));
}

void lower_weight_vjp(Lowering& l, const Node& node)
{
    require_f32(node);
    l.conv(problem(ConvProblem::Wanted::weight, l.contiguous(l.input(1)), l.output(),
                   l.contiguous(l.input(0)), node.attributes));
}

// -- the specification --

// One term of the sum: every element of y, dx or dweight is a sum of products of the two others.
struct Term {
    std::int64_t x, weight, y; // row-major indices
};

template <class Visit> void each_term(const HostTensor& x, const HostTensor& weight, const HostTensor& y,
                                      const Attributes& a, const Visit& visit)
{
    const Integers &stride = a.integers("stride"), &padding = a.integers("padding");
    const std::int64_t ci = x.sizes[1], h = x.sizes[2], w = x.sizes[3], co = y.sizes[1], oh = y.sizes[2],
                       ow = y.sizes[3], kh = weight.sizes[2], kw = weight.sizes[3];
    for (std::int64_t at = 0, count = y.count(); at < count; ++at) {
        const std::int64_t ox = at % ow, oy = at / ow % oh, o = at / (ow * oh) % co, n = at / (ow * oh * co);
        for (std::int64_t i = 0; i < ci; ++i)
            for (std::int64_t ky = 0; ky < kh; ++ky)
                for (std::int64_t kx = 0; kx < kw; ++kx) {
                    const std::int64_t iy = oy * stride[0] - padding[0] + ky,
                                       ix = ox * stride[1] - padding[1] + kx;
                    if (iy >= 0 && iy < h && ix >= 0 && ix < w)
                        visit(Term{((n * ci + i) * h + iy) * w + ix, ((o * ci + i) * kh + ky) * kw + kx, at});
                }
    }
}

std::vector<double> values(const HostTensor& t)
{
    std::vector<double> v(static_cast<std::size_t>(t.count()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = t.at(static_cast<std::int64_t>(i));
    return v;
}

void store(const HostTensor& t, const std::vector<double>& v)
{
    for (std::size_t i = 0; i < v.size(); ++i) t.put(static_cast<std::int64_t>(i), v[i]);
}

double& at(std::vector<double>& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; }

void reference(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    std::vector<double> x = values(a.inputs[0]), weight = values(a.inputs[1]),
                        y(static_cast<std::size_t>(out.count()));
    each_term(a.inputs[0], a.inputs[1], out, a.attributes,
              [&](const Term& t) { at(y, t.y) += at(x, t.x) * at(weight, t.weight); });
    if (a.inputs.size() == 3 && !y.empty()) {
        const std::int64_t image = out.sizes[2] * out.sizes[3];
        for (std::int64_t i = 0; i < out.count(); ++i) at(y, i) += a.inputs[2].at(i / image % out.sizes[1]);
    }
    store(out, y);
}

void reference_input_vjp(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    std::vector<double> dy = values(a.inputs[0]), weight = values(a.inputs[1]),
                        dx(static_cast<std::size_t>(out.count()));
    each_term(out, a.inputs[1], a.inputs[0], a.attributes,
              [&](const Term& t) { at(dx, t.x) += at(dy, t.y) * at(weight, t.weight); });
    store(out, dx);
}

void reference_weight_vjp(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    std::vector<double> dy = values(a.inputs[0]), x = values(a.inputs[1]),
                        dweight(static_cast<std::size_t>(out.count()));
    each_term(a.inputs[1], out, a.inputs[0], a.attributes,
              [&](const Term& t) { at(dweight, t.weight) += at(dy, t.y) * at(x, t.x); });
    store(out, dweight);
}

// Kernels count in 32 bits, so the matrix of patches must have fewer than 2^31 elements.
void require_patches_fit(const Shape& x, const Shape& weight, const Shape& y)
{
    const Dim most = 0x7FFFFFFF;
    const Dim patches = weight[1] * weight[2] * weight[3] * round_up(y[0] * y[2] * y[3], 4);
    shape::require_at_least("conv2d", most, patches, [&] {
        return "The patches of an input (" + to_string(x) + ") for a weight (" + to_string(weight) +
               ") have (" + patches.text() + ") elements, more than (" + most.text() +
               "): use a smaller batch.";
    });
}

} // namespace

const Op conv2d_op{.name = "conv2d",
                   .infer = infer,
                   .vjp = vjp,
                   .lower = lower,
                   .reference = reference,
                   .cost = graph::Cost::compute};
const Op conv2d_input_vjp_op{.name = "conv2d_input_vjp",
                             .infer = infer_input_vjp,
                             .vjp = vjp_of_input_vjp,
                             .lower = lower_input_vjp,
                             .reference = reference_input_vjp,
                             .cost = graph::Cost::compute};
const Op conv2d_weight_vjp_op{.name = "conv2d_weight_vjp",
                              .infer = infer_weight_vjp,
                              .vjp = vjp_of_weight_vjp,
                              .lower = lower_weight_vjp,
                              .reference = reference_weight_vjp,
                              .cost = graph::Cost::compute};

} // namespace ops

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options)
{
    std::vector<Tensor> inputs{x, weight};
    if (bias.defined()) inputs.push_back(bias);
    const Tensor y =
        graph::apply1(ops::conv2d_op, inputs,
                      {{"stride", ops::Integers(options.stride.begin(), options.stride.end())},
                       {"padding", ops::Integers(options.padding.begin(), options.padding.end())}});
    ops::require_patches_fit(x.shape(), weight.shape(), y.shape());
    return y;
}

} // namespace reprise
