// Shape rules that ops share.  All work on symbolic expressions.  A relation that they can't prove becomes a guard
// (guard.hpp), or throws Error(shape) if no sink is set.  Invalid dimensions and attributes throw Error(argument).
// Each error's text begins with `op`.  A dimension given by a symbol is never broadcast or squeezed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise::shape {

using Strides = DimVector; // in elements

Dim element_count(const Shape&);
// Returns row-major strides; a size of 0 counts as 1, as in PyTorch.
Strides contiguous_strides(const Shape&);

// Broadcasts shapes: aligned at the last dimension, sizes must be equal or one of them the constant 1.
Shape broadcast(const char* op, const Shape& a, const Shape& b);
Shape broadcast(const char* op, std::span<const Shape> shapes); // no shapes: []
void require_broadcastable(const char* op, const Shape& from, const Shape& to);
// Returns the dimensions of `to` along which a tensor of shape `from` is repeated; gradients are summed over them.
std::vector<std::size_t> broadcast_dims(const Shape& from, const Shape& to);

// Maps -rank...rank - 1 to 0...rank - 1.
std::size_t normalize_dim(const char* op, std::int64_t dim, std::size_t rank);
// Keeps the given order; a dimension that is given twice throws Error(argument).
std::vector<std::size_t> normalize_dims(const char* op, std::span<const std::int64_t> dims, std::size_t rank);

Shape reduce(const char* op, const Shape&, std::span<const std::int64_t> dims, bool keepdim); // no dims: all
// Removes dimensions of the constant size 1; with `dims`, only these.
Shape squeeze(const Shape&);
Shape squeeze(const char* op, const Shape&, std::span<const std::int64_t> dims);
Shape unsqueeze(const char* op, const Shape&, std::int64_t dim);
// A scalar becomes [1].
Shape flatten(const char* op, const Shape&, std::int64_t start_dim, std::int64_t end_dim);
// Returns `to`; a size of -1 (at most one) is inferred from the number of elements of `from`.
Shape reshape(const char* op, const Shape& from, const Shape& to);
// [..., m, k] x [..., k, n] -> [..., m, n]; leading dimensions broadcast.  A vector on the left is a row, one on the
// right is a column; the result does not have its dimension of size 1.
Shape matmul(const char* op, const Shape& a, const Shape& b);

// A window along one dimension of a convolution or a pooling.
struct Window {
    Dim kernel = 1, stride = 1, padding = 0, dilation = 1; // the padding is on both sides
    // Whether the last window may extend beyond the padding; it must start inside the input or the left padding.
    bool ceil_mode = false;
};
// floor((x + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
Dim window_output(const char* op, const Dim& x, const Window&);
// The output of a transposed convolution: (x - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1
Dim transposed_window_output(const char* op, const Dim& x, const Window&, const Dim& output_padding);

// The iteration space of a strided kernel, with as few dimensions as can be proved: constant sizes of 1 are removed,
// and adjacent dimensions are merged if stride[i] == size[i + 1] * stride[i + 1] for every operand.  A single element
// has no dimensions.
struct Collapsed {
    Shape sizes;
    std::vector<Strides> strides; // by operand
};
Collapsed collapse(const Shape& sizes, std::span<const Strides> strides);

} // namespace reprise::shape
