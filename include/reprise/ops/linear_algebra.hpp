// Products of vectors and matrices.
#pragma once
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// [..., m, k] x [..., k, n] -> [..., m, n]; a vector is a row on the left and a column on the right; leading
// dimensions broadcast.  Products are added in chunks of 512 (shaders/common/gemm.glsl), the same bits for
// every kernel; on CUDA with cuBLASLt in its order, the same bits for the same sizes and layouts.
Tensor matmul(const Tensor&, const Tensor& other);
Tensor mm(const Tensor&, const Tensor& other);    // of two matrices
Tensor mv(const Tensor&, const Tensor& other);    // of a matrix and a vector
Tensor dot(const Tensor&, const Tensor& other);   // of two vectors
Tensor outer(const Tensor&, const Tensor& other); // [m], [n] -> [m, n]
Tensor bmm(const Tensor&, const Tensor& other);   // [B, m, k] x [B, k, n], no broadcasting
Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1,
             double alpha = 1); // beta input + alpha a b; input broadcasts
// beta input + alpha a b for matrices in batches, [B, m, k] x [B, k, n]; input broadcasts.
Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1);
// Letters name dimensions: "bij,bjk->bik".  A letter that the result lacks is summed over, one that an
// operand has twice takes its diagonal; without "->" the result has the letters that occur once, sorted.
// "..." stands for any dimensions, aligned at the last one, and comes first in a result that is not given.
// Sizes of 1 broadcast.  Operands are multiplied from left to right.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);
// [..., m, n] -> [..., l]: the elements whose column is offset more than their row, in the last dimension.
Tensor diagonal(const Tensor&, std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1);
// Of a matrix the elements as diagonal(); of a vector [n] the matrix [n + |offset|, n + |offset|] that has it there.
Tensor diag(const Tensor&, std::int64_t offset = 0);
Tensor trace(const Tensor&);                                                   // of a matrix
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}); // x W^T + b; weight [out, in]

// The sum of products over the last `dims` dimensions of a and the first ones of b, or over those that are named.
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims = 2);
Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& dims_a, const Dims& dims_b);
Tensor kron(const Tensor& a, const Tensor& b); // every element of a times all of b, in its place
// [..., n] -> [..., n + |offset|, n + |offset|]: the last dimension on a diagonal of zeros.
Tensor diag_embed(const Tensor&, std::int64_t offset = 0);
Tensor diagflat(const Tensor&, std::int64_t offset = 0); // of the flattened tensor
// The cross product along a dimension of size 3, of all rows at once; a and b broadcast.
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t dim = -1);

} // namespace reprise
