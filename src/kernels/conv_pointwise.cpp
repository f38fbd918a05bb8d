// Convolutions with 1 x 1 windows, stride 1 and no padding: an image is already a matrix, without any copy.
//   y[n]     W x[n]       [Co, Ci] [Ci, P]
//   dx[n]    W^T dy[n]    [Ci, Co] [Co, P]
// The weight's gradient also sums over the images: implicit or tile computes it in one kernel.
#include "kernels/conv_sizes.hpp"
#include "kernels/variants.hpp"
#include "ops/registry.hpp"

namespace reprise::kernels {

namespace {

using ops::ConvProblem;
using ops::View;
using Wanted = ConvProblem::Wanted;

// Returns images as [N, channels, P].
View images(View v)
{
    const Shape& s = v.sizes();
    const Dim positions = image_of(v);
    v.layout.strides = {s[1] * positions, positions, 1};
    v.layout.sizes = {s[0], s[1], positions};
    return v;
}

// Returns the weight as [N, rows, columns]: the same matrix for all images.
View weights(View v, const Dim& images, bool transposed)
{
    const Dim out = v.sizes()[0], in = v.sizes()[1];
    v.layout.sizes = {images, transposed ? in : out, transposed ? out : in};
    v.layout.strides = {0, transposed ? Dim(1) : in, transposed ? in : Dim(1)};
    return v;
}

} // namespace

std::string refuse_pointwise(const device::Capabilities& caps, const ConvProblem& p)
{
    if (caps.product_library.empty()) return "the device has no library for products";
    if (p.wanted == Wanted::weight) return "it is summed over the images";
    if (p.bias && p.y.dtype != f32 && p.y.dtype != f64)
        return "sums would be rounded before the bias is added";
    if (p.groups != 1) return "the channels are in groups";
    for (std::size_t d = 0; d < 3; ++d)
        if (!same(p.weight.sizes()[2 + d], 1) || p.stride[d] != 1 || p.padding[d] != 0)
            return "its windows are not the image's elements";
    return {};
}

void conv_pointwise(ops::Lowering& l, const device::Capabilities&, const ConvProblem& p)
{
    const Dim& n = p.x.sizes()[0];
    if (p.wanted == Wanted::x) return l.gemm({weights(p.weight, n, true), images(p.y), images(p.x)});
    const View sums = p.bias ? l.temporary(p.y.dtype, p.y.sizes()) : p.y;
    l.gemm({weights(p.weight, n, false), images(p.x), images(sums)});
    if (!p.bias) return;
    View bias = *p.bias; // [Co], broadcast to all elements
    bias.layout.sizes = images(p.y).layout.sizes;
    bias.layout.strides = {0, 1, 0};
    l.elementwise(ops::row_op("add"), {images(sums), bias}, images(p.y));
}

} // namespace reprise::kernels
