// Reading and writing by indices (i32); masks.
#pragma once
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <reprise/ops/creation.hpp>

namespace reprise {

// Whether functions that take indices or classes (those below, nll_loss, cross_entropy) look for one that is out of
// range: Error(argument) names the function, the index, its place and the size.  Off at first; on at first in debug builds
// of the library (NDEBUG not defined), and as long as a detect_anomaly of the thread lives.  Each such call waits for its
// indices.  A program has the checks that were on while it was recorded: its call waits, and throws when it has run, with
// its state changed.
void set_check_indices(bool on); // for the whole process
bool checks_indices();           // on this thread, now

// The rows of weight [V, D] that the indices (i32) name: [...] -> [..., D].  An index outside [0, V) gives NaN
// and no gradient.  The row padding_idx (a negative one counts from the end) gets a gradient of 0.  Equal
// indices add up in the order of their positions.
Tensor embedding(const Tensor& indices, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx = std::nullopt);
// A negative index counts from the end where elements are read: index_select, gather, take.  An index outside reads
// NaN (of integers 0) and writes nothing, as a negative one does.  Equal indices add up in the order of their
// positions; of several values for one place the last is kept.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index); // index [M]
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha = 1);
// x with `value`, or with the rows of source (of x's shape but for index's size in dim), where the index names.
Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, double value);
Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// x and the rows of source, reduced for each place: reduce is "prod", "mean", "amax" or "amin".  Without include_self
// a place that the index names is made of the source alone.  Gradients: of a mean and a product their formulas', of
// equal largest or least elements equal shares.
Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    const std::string& reduce, bool include_self = true);
// y[i][j][k] = x[index[i][j][k]][j][k] for dim 0; the index is at most as large as x beside dim.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
// y = x, then y[index[i][j][k]][j][k] = source[i][j][k] for dim 0; the source covers the index.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value);
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// As scatter_add with reduce "sum", and as index_reduce with "prod", "mean", "amax" and "amin".
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                      const std::string& reduce, bool include_self = true);
Tensor take(const Tensor& x, const Tensor& index); // of the flattened tensor
// [...] -> [..., classes], i32.  Without a number of classes it is the largest index plus 1: waits for the indices, so
// not while recording; Error(argument) where there is none, or one is negative.
Tensor one_hot(const Tensor& index, std::int64_t classes = -1);
// The elements whose mask (bool, broadcast) is true, [M]: waits for the mask, so not while recording.
Tensor masked_select(const Tensor& x, const Tensor& mask);

// Where x is not 0, [count, rank] (i32), row-major; and the same by dimension, [count] each, as an index takes it.
// They wait for x, so not while recording.
Tensor nonzero(const Tensor& x);
std::vector<Tensor> nonzero_as_tuple(const Tensor& x);
std::vector<Tensor> where(const Tensor& condition); // nonzero_as_tuple

// The different elements of x in ascending order, [count]; with return_inverse where each element of x is among them
// (i32, of x's shape), with return_counts how often each occurs (i32, [count]); not asked for: undefined.  Each NaN is
// an element of its own.  Without `sorted` the order is the same.  They wait for x, so not while recording; no
// gradient.  unique_consecutive takes runs of equal elements, as they follow each other.
std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& x, bool sorted = true, bool return_inverse = false,
                                          bool return_counts = false);
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& x, bool return_inverse = false,
                                                      bool return_counts = false);

// How often each number from 0 on occurs in x (integers of one dimension), or the sums of their weights: i32, or the
// weights' dtype.  As many as the largest number asks for, at least minlength: waits for x, so not while recording.
// Error(argument) for a negative number.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, std::int64_t minlength = 0);
// How many elements of x lie in each of so many parts of [min, max], f32; min = max = 0: of x's least to its largest.
// Elements outside and NaN count nothing.
Tensor histc(const Tensor& x, std::int64_t bins = 100, double min = 0, double max = 0);

// ---- masks ----
Tensor masked_fill(const Tensor&, const Tensor& mask,
                   double value); // the value where the mask (bool) is true
// 0 above the diagonal, and below it; of the last two dimensions.  A positive diagonal lies above the main one.
Tensor tril(const Tensor&, std::int64_t diagonal = 0);
Tensor triu(const Tensor&, std::int64_t diagonal = 0);

// Rows and columns of a matrix [row, col] that lie in those triangles, [2, count] (i32).
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0,
                    const TensorOptions& = {.dtype = i32});
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0,
                    const TensorOptions& = {.dtype = i32});

} // namespace reprise
