// unfold and fold: windows of images as columns, and the sum of such columns.  Each is the transpose of the other.
#include <array>
#include <string>

#include <reprise/ops/convolution.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/lowering.hpp"
#include "ops/patches.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using Integers = std::vector<std::int64_t>;

// -- shapes --

// Returns the numbers of rows and columns of windows in an image.
std::array<Dim, 2> windows(const char* op, const Dim& height, const Dim& width, const Attributes& a)
{
    const Integers &kernel = a.integers("kernel"), &stride = a.integers("stride"),
                   &padding = a.integers("padding"), &dilation = a.integers("dilation");
    const auto along = [&](std::size_t i, const Dim& size) {
        return shape::window_output(
            op, size,
            {.kernel = kernel[i], .stride = stride[i], .padding = padding[i], .dilation = dilation[i]});
    };
    return {along(0, height), along(1, width)};
}

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    const Shape& x = in[0].shape;
    if (x.size() != 4)
        detail::fail(ErrorKind::shape, op.name, "The input's shape (", to_string(x),
                     ") must be [batch, channels, height, width], or that without the batch.");
    const auto count = windows(op.name, x[2], x[3], a);
    const Integers& kernel = a.integers("kernel");
    return {{in[0].dtype, {x[0], x[1] * kernel[0] * kernel[1], count[0] * count[1]}}};
}

TensorTypes infer_fold(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    const Shape &x = in[0].shape, &size = a.shape("size");
    if (x.size() != 3)
        detail::fail(
            ErrorKind::shape, op.name, "The input's shape (", to_string(x),
            ") must be [batch, channels * kernel height * kernel width, windows], or that without the "
            "batch.");
    if (size.size() != 2)
        detail::fail(ErrorKind::shape, op.name, "The output size (", to_string(size),
                     ") must be [height, width].");
    const auto count = windows(op.name, size[0], size[1], a);
    const std::int64_t taps = a.integers("kernel")[0] * a.integers("kernel")[1];
    shape::require_multiple(op.name, x[1], taps, [&] {
        return "The input's size (" + x[1].text() + ") of dimension (1) must be a multiple of the (" +
               std::to_string(taps) + ") elements of a window.";
    });
    shape::require_equal(op.name, x[2], count[0] * count[1], [&] {
        return "The input has (" + x[2].text() + ") windows but an image of (" + to_string(size) + ") has (" +
               count[0].text() + " x " + count[1].text() + "): they must be as many.";
    });
    return {{in[0].dtype, {x[0], floor_div(x[1], taps), size[0], size[1]}}};
}

// -- derivatives --

std::vector<Tensor> vjp(const VjpArguments& v)
{
    const Tensor& x = v.inputs[0];
    return {graph::apply1(fold_op, {v.cotangents[0]},
                          v.node.attributes.with("size", Shape{x.size(2), x.size(3)}))};
}

std::vector<Tensor> vjp_of_fold(const VjpArguments& v)
{
    return {graph::apply1(unfold_op, {v.cotangents[0]}, v.node.attributes.without("size"))};
}

// -- launches --

Patches patches(const View& x, const View& col, const Attributes& a, const char* op)
{
    const auto three = [&](const char* name, std::int64_t depth) -> std::array<std::int64_t, 3> {
        return {depth, a.integers(name)[0], a.integers(name)[1]};
    };
    const Dim &height = x.sizes()[2], &width = x.sizes()[3], &length = col.sizes()[2];
    const auto count = windows(op, height, width, a);
    return {.n = x.sizes()[0],
            .channels = x.sizes()[1],
            .in = {1, height, width},
            .out = {1, count[0], count[1]},
            .kernel = {1, a.integers("kernel")[0], a.integers("kernel")[1]},
            .stride = three("stride", 1),
            .padding = three("padding", 0),
            .dilation = three("dilation", 1),
            .columns = x.sizes()[0] * length,
            .pitch = length,
            .between = col.sizes()[1] * length};
}

void lower(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    const View x = l.contiguous(l.input(0)), y = l.output();
    l.launch(patches(x, y, node.attributes, node.op->name).im2col(x, y));
}

void lower_fold(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    const View x = l.contiguous(l.input(0)), y = l.output();
    l.launch(patches(y, x, node.attributes, node.op->name).col2im(x, y));
}

// -- the specification --

// Calls visit(index in the columns, index in the image) for all elements that lie inside of the image.
template <class Visit>
void each_element(const HostTensor& image, const HostTensor& col, const Attributes& a, const Visit& visit)
{
    const Integers &kernel = a.integers("kernel"), &stride = a.integers("stride"),
                   &padding = a.integers("padding"), &dilation = a.integers("dilation");
    const std::int64_t height = image.sizes[2], width = image.sizes[3], length = col.sizes[2];
    const std::int64_t across = (width + 2 * padding[1] - dilation[1] * (kernel[1] - 1) - 1) / stride[1] + 1;
    for (std::int64_t at = 0; at < col.count(); ++at) {
        const std::int64_t window = at % length, row = at / length, kx = row % kernel[1],
                           ky = row / kernel[1] % kernel[0], plane = row / (kernel[0] * kernel[1]);
        const std::int64_t y = window / across * stride[0] - padding[0] + ky * dilation[0],
                           x = window % across * stride[1] - padding[1] + kx * dilation[1];
        if (y >= 0 && y < height && x >= 0 && x < width) visit(at, (plane * height + y) * width + x);
    }
}

void clear(const HostTensor& t)
{
    for (std::int64_t i = 0; i < t.count(); ++i) t.put(i, 0);
}

void reference(const ReferenceArguments& a)
{
    clear(a.outputs[0]);
    each_element(a.inputs[0], a.outputs[0], a.attributes,
                 [&](std::int64_t col, std::int64_t image) { a.outputs[0].put(col, a.inputs[0].at(image)); });
}

void reference_fold(const ReferenceArguments& a)
{
    std::vector<double> sums(static_cast<std::size_t>(a.outputs[0].count()));
    each_element(a.outputs[0], a.inputs[0], a.attributes, [&](std::int64_t col, std::int64_t image) {
        sums[static_cast<std::size_t>(image)] += a.inputs[0].at(col);
    });
    a.outputs[0].put_all(sums);
}

Attributes attributes(const WindowSizes<2>& kernel, const UnfoldOpOptions& o)
{
    const auto list = [](const WindowSizes<2>& sizes) { return Integers(sizes.begin(), sizes.end()); };
    return {{"kernel", list(kernel)},
            {"dilation", list(o.dilation)},
            {"padding", list(o.padding)},
            {"stride", list(o.stride)}};
}

} // namespace

const Op unfold_op{
    .name = "unfold", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference, .doubles = true};
const Op fold_op{.name = "fold",
                 .infer = infer_fold,
                 .vjp = vjp_of_fold,
                 .lower = lower_fold,
                 .reference = reference_fold,
                 .doubles = true};

} // namespace ops

Tensor unfold(const Tensor& x, WindowSizes<2> kernel_size, const UnfoldOpOptions& options)
{
    const bool single = x.dim() == 3;
    const Tensor y =
        graph::apply1(ops::unfold_op, {single ? unsqueeze(x, 0) : x}, ops::attributes(kernel_size, options));
    return single ? squeeze(y, 0) : y;
}

Tensor fold(const Tensor& x, const Shape& output_size, WindowSizes<2> kernel_size,
            const UnfoldOpOptions& options)
{
    const bool single = x.dim() == 2;
    const Tensor y = graph::apply1(ops::fold_op, {single ? unsqueeze(x, 0) : x},
                                   ops::attributes(kernel_size, options).with("size", output_size));
    return single ? squeeze(y, 0) : y;
}

} // namespace reprise
