// convolution (of images of one to three dimensions) and the gradients by its input and its weight. Each is linear
// in both of its tensors, so the derivatives of the three ops are composed of the three.
#include "ops/convolution.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <reprise/ops/reductions.hpp>

#include "ops/channels.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using Integers = std::vector<std::int64_t>;
using Three = std::array<std::int64_t, 3>; // depth, height, width

// -- shapes --

// Returns the name of the public function, which depends on the number of spatial dimensions.
const char* called(const Op& op, const Attributes& a)
{
    static constexpr std::array<std::array<const char*, 3>, 3> names = {
        {{"conv1d", "conv2d", "conv3d"},
         {"conv1d_input", "conv2d_input", "conv3d_input"},
         {"conv1d_weight", "conv2d_weight", "conv3d_weight"}}};
    const std::size_t which = &op == &convolution_op ? 0 : &op == &convolution_input_op ? 1 : 2;
    return names.at(which).at(a.integers("stride").size() - 1);
}

// Returns the output shape [N, Co, ...] of a convolution of x.
Shape output_shape(const char* op, const Shape& x, const Shape& weight, const Attributes& a)
{
    const Integers &stride = a.integers("stride"), &padding = a.integers("padding"),
                   &dilation = a.integers("dilation");
    Shape y{x[0], weight[0]};
    for (std::size_t i = 0; i < stride.size(); ++i)
        y.push_back(shape::window_output(
            op, x[2 + i],
            {.kernel = weight[2 + i], .stride = stride[i], .padding = padding[i], .dilation = dilation[i]}));
    return y;
}

// Checks the shapes of a convolution or of one of its gradients, and returns the output's shape.
Shape checked(const char* op, const Shape& x, const Shape& weight, const Attributes& a)
{
    const std::size_t rank = a.integers("stride").size();
    const std::int64_t groups = a.integer("groups");
    require_image(op, "input", x, rank);
    require_weight(op, weight, rank, groups);
    require_channels(op, "input", x[1], weight[1], groups);
    return output_shape(op, x, weight, a);
}

void require_output(const char* op, const Shape& dy, const Shape& y)
{
    shape::require_same(op, dy, y, [&] {
        return "The output's gradient has the shape (" + to_string(dy) + ") but the output has (" +
               to_string(y) + ").";
    });
}

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    const char* name = called(op, a);
    require_one_dtype(name, in);
    const Shape y = checked(name, in[0].shape, in[1].shape, a);
    if (in.size() == 3) require_bias(name, in[2].shape, in[1].shape[0]);
    return {{in[0].dtype, y}};
}

// dy, weight -> dx; dy, x -> dweight
TensorTypes infer_gradient(const Op& op, const InputTypes& in, const Attributes& a)
{
    const char* name = called(op, a);
    require_one_dtype(name, in);
    const Shape size = a.shape("size"), &given = in[1].shape;
    const bool by_input = &op == &convolution_input_op;
    require_output(name, in[0].shape, checked(name, by_input ? size : given, by_input ? given : size, a));
    return {{in[0].dtype, size}};
}

// -- derivatives --

Tensor forward(const Attributes& a, const Tensor& x, const Tensor& weight)
{
    return graph::apply1(convolution_op, {x, weight}, a.without("size"));
}

Tensor input_vjp(const Attributes& a, const Tensor& dy, const Tensor& weight, const Shape& x)
{
    return graph::apply1(convolution_input_op, {dy, weight}, a.with("size", x));
}

Tensor weight_vjp(const Attributes& a, const Tensor& dy, const Tensor& x, const Shape& weight)
{
    return graph::apply1(convolution_weight_op, {dy, x}, a.with("size", weight));
}

std::vector<Tensor> vjp(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const Tensor &x = v.inputs[0], &weight = v.inputs[1], &dy = v.cotangents[0];
    std::vector<Tensor> d(v.inputs.size());
    // The weight's gradient comes first: after it x can be released, before the gradient of the same size is computed.
    if (v.wanted[1]) d[1] = weight_vjp(a, dy, x, weight.shape());
    if (v.wanted[0]) d[0] = input_vjp(a, dy, weight, x.shape());
    if (d.size() == 3 && v.wanted[2]) d[2] = sum(dy, all_but_channels(dy.shape()));
    return d;
}

std::vector<Tensor> vjp_of_input(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const Tensor &dy = v.inputs[0], &weight = v.inputs[1], &dx = v.cotangents[0];
    std::vector<Tensor> d(2);
    if (v.wanted[0]) d[0] = forward(a, dx, weight);
    if (v.wanted[1]) d[1] = weight_vjp(a, dy, dx, weight.shape());
    return d;
}

std::vector<Tensor> vjp_of_weight(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const Tensor &dy = v.inputs[0], &x = v.inputs[1], &dweight = v.cotangents[0];
    std::vector<Tensor> d(2);
    if (v.wanted[0]) d[0] = forward(a, x, dweight);
    if (v.wanted[1]) d[1] = input_vjp(a, dy, dweight, x.shape());
    return d;
}

// -- launches --

// Extends [N, C, W] and [N, C, H, W] to [N, C, D, H, W].
View with_depth(View v)
{
    while (v.layout.sizes.size() < 5) {
        v.layout.strides.insert(v.layout.strides.begin() + 2, 0);
        v.layout.sizes.insert(v.layout.sizes.begin() + 2, 1);
    }
    return v;
}

Three with_depth(const Integers& of_image, std::int64_t otherwise)
{
    Three all{otherwise, otherwise, otherwise};
    for (std::size_t i = 0; i < std::min(of_image.size(), all.size()); ++i)
        all[all.size() - 1 - i] = of_image[of_image.size() - 1 - i];
    return all;
}

ConvProblem problem(ConvProblem::Wanted wanted, const View& x, const View& weight, const View& y,
                    const Attributes& a)
{
    return {.wanted = wanted,
            .x = with_depth(x),
            .weight = with_depth(weight),
            .y = with_depth(y),
            .stride = with_depth(a.integers("stride"), 1),
            .padding = with_depth(a.integers("padding"), 0),
            .dilation = with_depth(a.integers("dilation"), 1),
            .groups = a.integer("groups")};
}

void lower(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    ConvProblem p = problem(ConvProblem::Wanted::y, l.contiguous(l.input(0)), l.contiguous(l.input(1)),
                            l.output(), node.attributes);
    if (node.inputs.size() == 3) p.bias = l.contiguous(l.input(2));
    l.conv(p);
}

void lower_input(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    l.conv(problem(ConvProblem::Wanted::x, l.output(), l.contiguous(l.input(1)), l.contiguous(l.input(0)),
                   node.attributes));
}

void lower_weight(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    l.conv(problem(ConvProblem::Wanted::weight, l.contiguous(l.input(1)), l.output(),
                   l.contiguous(l.input(0)), node.attributes));
}

// -- the reference implementation --

// x, weight and y: each element of one of them is a sum of products of elements of the other two.
using Tensors = std::array<const HostTensor*, 3>;
enum Member : std::uint8_t { of_x, of_weight, of_y };

// Returns the spatial sizes of a tensor of 3 to 5 dimensions.
Three image_of(const HostTensor& t) { return with_depth({t.sizes.begin() + 2, t.sizes.end()}, 1); }

// Calls visit with each position in three dimensions, in row-major order.
template <class Visit> void each_position(const Three& sizes, const Visit& visit)
{
    for (std::int64_t z = 0; z < sizes[0]; ++z)
        for (std::int64_t y = 0; y < sizes[1]; ++y)
            for (std::int64_t x = 0; x < sizes[2]; ++x) visit(Three{z, y, x});
}

std::int64_t index(const Three& at, const Three& sizes)
{
    return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
}

// Calls visit with the row-major indices in x, weight and y of each term of the sums.
template <class Visit> void each_term(const Tensors& of, const Attributes& a, const Visit& visit)
{
    const HostTensor &x = *of[of_x], &weight = *of[of_weight], &y = *of[of_y];
    const Three stride = with_depth(a.integers("stride"), 1), padding = with_depth(a.integers("padding"), 0),
                dilation = with_depth(a.integers("dilation"), 1), in = image_of(x), out = image_of(y),
                kernel = image_of(weight);
    const std::int64_t groups = a.integer("groups"), channels = weight.sizes[1];
    const auto volume = [](const Three& s) { return s[0] * s[1] * s[2]; };
    for (std::int64_t plane = 0; plane < y.sizes[0] * y.sizes[1]; ++plane) {
        const std::int64_t n = plane / y.sizes[1], o = plane % y.sizes[1],
                           first = o / (y.sizes[1] / groups) * channels; // first input channel of the group
        each_position(out, [&](const Three& to) {
            for (std::int64_t i = 0; i < channels; ++i)
                each_position(kernel, [&](const Three& tap) {
                    Three from{};
                    for (std::size_t d = 0; d < 3; ++d) {
                        from[d] = to[d] * stride[d] - padding[d] + tap[d] * dilation[d];
                        if (from[d] < 0 || from[d] >= in[d]) return;
                    }
                    visit(Three{(n * x.sizes[1] + first + i) * volume(in) + index(from, in),
                                (o * channels + i) * volume(kernel) + index(tap, kernel),
                                plane * volume(out) + index(to, out)});
                });
        });
    }
}

std::vector<double> sums(const ReferenceArguments& a, const Tensors& of, Member wanted)
{
    const Member left = wanted == of_x ? of_weight : of_x, right = wanted == of_y ? of_weight : of_y;
    const std::vector<double> p = of[left]->values(), q = of[right]->values();
    std::vector<double> out(static_cast<std::size_t>(of[wanted]->count()));
    each_term(of, a.attributes, [&](const Three& at) {
        const auto offset = [&](Member m) { return static_cast<std::size_t>(at[m]); };
        out[offset(wanted)] += p[offset(left)] * q[offset(right)];
    });
    return out;
}

void reference(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    std::vector<double> y = sums(a, {&a.inputs[0], &a.inputs[1], &out}, of_y);
    if (a.inputs.size() == 3) {
        const Three sizes = image_of(out);
        const std::int64_t image = sizes[0] * sizes[1] * sizes[2];
        for (std::int64_t i = 0; i < out.count(); ++i)
            y[static_cast<std::size_t>(i)] += a.inputs[2].at(i / image % out.sizes[1]);
    }
    out.put_all(y);
}

void reference_input(const ReferenceArguments& a)
{
    a.outputs[0].put_all(sums(a, {&a.outputs[0], &a.inputs[1], &a.inputs[0]}, of_x));
}

void reference_weight(const ReferenceArguments& a)
{
    a.outputs[0].put_all(sums(a, {&a.inputs[1], &a.outputs[0], &a.inputs[0]}, of_weight));
}

} // namespace

graph::Attributes Windows::attributes() const
{
    return {{"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
}

void require_one_dtype(const char* op, const InputTypes& in)
{
    for (std::size_t i = 0; i < in.size(); ++i) {
        const TensorType& t = in[i];
        require_floating(op, t.dtype);
        if (t.dtype != in[0].dtype)
            detail::fail(ErrorKind::dtype, op, "The inputs' dtypes (", name_of(in[0].dtype), " and ",
                         name_of(t.dtype), ") differ: cast one of them.");
    }
}

void require_image(const char* op, const char* what, const Shape& shape, std::size_t rank)
{
    static constexpr std::array<const char*, 3> sizes = {"length", "height, width", "depth, height, width"};
    if (shape.size() != rank + 2)
        detail::fail(ErrorKind::shape, op, "The ", what, "'s shape (", to_string(shape),
                     ") must be [batch, channels, ", sizes.at(rank - 1), "].");
}

void require_weight(const char* op, const Shape& shape, std::size_t rank, std::int64_t groups)
{
    static constexpr std::array<const char*, 3> sizes = {"kernel length", "kernel height, kernel width",
                                                         "kernel depth, kernel height, kernel width"};
    if (shape.size() != rank + 2)
        detail::fail(ErrorKind::shape, op, "The weight's shape (", to_string(shape),
                     ") must be [channels, channels of a group, ", sizes.at(rank - 1), "].");
    if (groups < 1)
        detail::fail(ErrorKind::argument, op, "The number of groups (", groups, ") must be at least (1).");
    shape::require_multiple(op, shape[0], groups, [&] {
        return "The weight's (" + shape[0].text() + ") channels do not divide into (" +
               std::to_string(groups) + ") groups: use a multiple of it.";
    });
}

void require_channels(const char* op, const char* what, const Dim& channels, const Dim& of_weight,
                      std::int64_t groups)
{
    shape::require_equal(op, channels, of_weight * groups, [&] {
        const std::string begin = std::string("The ") + what + " has (" + channels.text() +
                                  ") channels but the weight has (" + of_weight.text() + ")";
        if (groups == 1) return begin + ": they must be equal.";
        return begin + " for each of (" + std::to_string(groups) + ") groups: it must have (" +
               (of_weight * groups).text() + ").";
    });
}

void require_bias(const char* op, const Shape& bias, const Dim& channels)
{
    if (bias.size() != 1)
        detail::fail(ErrorKind::shape, op, "The bias's shape (", to_string(bias),
                     ") must be [out channels].");
    shape::require_equal(op, bias[0], channels, [&] {
        return "The bias has (" + bias[0].text() + ") elements but the weight has (" + channels.text() +
               ") out channels: they must be equal.";
    });
}

const Op convolution_op{.name = "convolution",
                        .infer = infer,
                        .vjp = vjp,
                        .lower = lower,
                        .reference = reference,
                        .half_convolutions = true,
                        .doubles = true,
                        .cost = graph::Cost::compute};
const Op convolution_input_op{.name = "convolution_input",
                              .infer = infer_gradient,
                              .vjp = vjp_of_input,
                              .lower = lower_input,
                              .reference = reference_input,
                              .half_convolutions = true,
                              .doubles = true,
                              .cost = graph::Cost::compute};
const Op convolution_weight_op{.name = "convolution_weight",
                               .infer = infer_gradient,
                               .vjp = vjp_of_weight,
                               .lower = lower_weight,
                               .reference = reference_weight,
                               .half_convolutions = true,
                               .doubles = true,
                               .cost = graph::Cost::compute};

} // namespace ops
} // namespace reprise
