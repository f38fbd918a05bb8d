// Shape rules that ops share.  All work on expressions; what they can't prove becomes a guard (guard.hpp), or
// Error(shape) where no sink is installed.  Bad dimensions and attributes throw Error(argument).  `op` begins
// each error's text.  A dimension given by a symbol is never broadcast or squeezed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise::shape {

using Strides = DimVector; // in elements

Dim element_count(const Shape&);
// Row-major; a size of 0 counts as 1, as in PyTorch.
Strides contiguous_strides(const Shape&);

// Broadcasting: aligned at the last dimension, sizes are equal or one of them is the constant 1.
Shape broadcast(const char* op, const Shape& a, const Shape& b);
Shape broadcast(const char* op, std::span<const Shape> shapes); // none: the scalar's
void require_broadcastable(const char* op, const Shape& from, const Shape& to);
// The dimensions of `to` along which a tensor of shape `from` is repeated: the gradient is summed over them.
std::vector<std::size_t> broadcast_dims(const Shape& from, const Shape& to);

// From -rank...rank - 1 to 0...rank - 1.
std::size_t normalize_dim(const char* op, std::int64_t dim, std::size_t rank);
// In the given order; each at most once.
std::vector<std::size_t> normalize_dims(const char* op, std::span<const std::int64_t> dims, std::size_t rank);

Shape reduce(const char* op, const Shape&, std::span<const std::int64_t> dims, bool keepdim); // no dims: all
// Without the constant sizes of 1; with `dims`, of these only.
Shape squeeze(const Shape&);
Shape squeeze(const char* op, const Shape&, std::span<const std::int64_t> dims);
Shape unsqueeze(const char* op, const Shape&, std::int64_t dim);
// A scalar becomes [1].
Shape flatten(const char* op, const Shape&, std::int64_t start_dim, std::int64_t end_dim);
// `to` with its one -1, if any, replaced by what is left of the elements of `from`.
Shape reshape(const char* op, const Shape& from, const Shape& to);
// [..., m, k] x [..., k, n] -> [..., m, n]; leading dimensions broadcast.  A vector is a row on the left and
// a column on the right, and its dimension is absent from the result.
Shape matmul(const char* op, const Shape& a, const Shape& b);

// A window along one dimension of a convolution or a pooling.
struct Window {
    Dim kernel = 1, stride = 1, padding = 0, dilation = 1; // padding on both sides
    // A last window may reach beyond the padding, if it starts inside the input or before it.
    bool ceil_mode = false;
};
// floor((x + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
Dim window_output(const char* op, const Dim& x, const Window&);
// The transposed convolution: (x - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1
Dim transposed_window_output(const char* op, const Dim& x, const Window&, const Dim& output_padding);

// An iteration space for strided kernels with as few dimensions as is provable: constant sizes of 1 are
// dropped, and neighbours are merged where stride[i] == size[i + 1] * stride[i + 1] for every operand.  A
// single element leaves no dimension.
struct Collapsed {
    Shape sizes;
    std::vector<Strides> strides; // by operand
};
Collapsed collapse(const Shape& sizes, std::span<const Strides> strides);

} // namespace reprise::shape
