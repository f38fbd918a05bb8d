// Reading and writing by indices (i32); masks.
#pragma once
#include <optional>

#include <reprise/tensor.hpp>

namespace reprise {

// The rows of weight [V, D] that the indices (i32) name: [...] -> [..., D].  An index outside [0, V) gives NaN
// and no gradient.  The row padding_idx (a negative one counts from the end) gets a gradient of 0.  Equal
// indices add up in the order of their positions.
Tensor embedding(const Tensor& indices, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx = std::nullopt);
// An index outside reads NaN (of integers 0) and writes nothing.  Equal indices add up in the order of their
// positions; of several values for one place the last is kept.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index); // index [M]
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha = 1);
// y[i][j][k] = x[index[i][j][k]][j][k] for dim 0; the index is at most as large as x beside dim.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
// y = x, then y[index[i][j][k]][j][k] = source[i][j][k] for dim 0; the source covers the index.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value);
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor take(const Tensor& x, const Tensor& index); // of the flattened tensor
// [...] -> [..., classes], i32.  Without a number of classes it is the largest index plus 1: waits for the indices, so
// not while recording; Error(argument) where there is none, or one is negative.
Tensor one_hot(const Tensor& index, std::int64_t classes = -1);
// The elements whose mask (bool, broadcast) is true, [M]: waits for the mask, so not while recording.
Tensor masked_select(const Tensor& x, const Tensor& mask);

// ---- masks ----
Tensor masked_fill(const Tensor&, const Tensor& mask,
                   double value); // the value where the mask (bool) is true
// 0 above the diagonal, and below it; of the last two dimensions.  A positive diagonal lies above the main one.
Tensor tril(const Tensor&, std::int64_t diagonal = 0);
Tensor triu(const Tensor&, std::int64_t diagonal = 0);

} // namespace reprise
