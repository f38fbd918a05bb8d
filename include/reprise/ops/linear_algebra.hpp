// Products of vectors and matrices, and diagonals.
#pragma once
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// [..., m, k] x [..., k, n] -> [..., m, n], of one floating dtype; a vector is a row on the left and a column
// on the right, and its dimension is absent from the result; leading dimensions broadcast.  Error(shape)
// where the sizes do not fit.  Products are added in chunks of 512 (shaders/common/gemm.glsl), with the same
// bits for every kernel; on CUDA in the order of cuBLASLt, with the same bits for the same sizes and layouts.
Tensor matmul(const Tensor&, const Tensor& other);
Tensor mm(const Tensor&, const Tensor& other);    // matmul() of two matrices
Tensor mv(const Tensor&, const Tensor& other);    // matmul() of a matrix and a vector
Tensor dot(const Tensor&, const Tensor& other);   // the inner product of two vectors
Tensor outer(const Tensor&, const Tensor& other); // the outer product of two vectors: [m], [n] -> [m, n]
Tensor bmm(const Tensor&, const Tensor& other);   // [B, m, k] x [B, k, n] -> [B, m, n], no broadcasting
// beta input + alpha a b for matrices a and b; input broadcasts.  With a beta of 0 input is not read.
Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
// beta input + alpha a b for batches of matrices, [B, m, k] x [B, k, n]; otherwise as addmm().
Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
// Sums of products by Einstein's convention; letters name dimensions: "bij,bjk->bik".  A letter that the
// result lacks is summed over; one that an operand has twice takes its diagonal.  Without "->" the result has
// the letters that occur once, in alphabetical order.  "..." means any number of dimensions, aligned at the
// last one, and comes first in a result that is not given.  Sizes of 1 broadcast.  Operands are multiplied
// from left to right.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);
// The diagonals of the matrices in dim1 and dim2, as the last dimension: [..., m, n] -> [..., l].  Element i
// is in row i, column i + offset, or for a negative offset in row i - offset, column i.  In-place changes of the
// result write into x.
Tensor diagonal(const Tensor&, std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1);
// Returns the diagonal() of a matrix, or for a vector the matrix with this diagonal, as diag_embed().
// Error(shape) for another tensor.
Tensor diag(const Tensor&, std::int64_t offset = 0);
Tensor trace(const Tensor&); // the sum of a matrix's diagonal
// x weight^T + bias: x [..., in], weight [out, in], bias [out] or undefined -> [..., out], of one dtype.  A result of
// f16 or bf16 is rounded once, after a bias of one dimension is added.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

// The sum of products over the last `dims` dimensions of a and the first `dims` of b.
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims = 2);
// The sum of products over dims_a of a and dims_b of b, pair by pair; the result has the other dimensions of
// a, then of b.
Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& dims_a, const Dims& dims_b);
// The Kronecker product: replaces each element of a by its product with b.
Tensor kron(const Tensor& a, const Tensor& b);
// Matrices of zeros with the last dimension on a diagonal: [..., n] -> [..., n + |offset|, n + |offset|].
Tensor diag_embed(const Tensor&, std::int64_t offset = 0);
Tensor diagflat(const Tensor&, std::int64_t offset = 0); // diag_embed() of the flattened tensor
// The cross product along a dimension of size 3, else Error(shape); a and b broadcast.
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t dim = -1);

} // namespace reprise
