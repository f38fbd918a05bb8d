// Reads and writes by indices, functions with results of data-dependent size, and masks.  Indices are
// i32 or i64, else Error(dtype); indices in results are i32.
//
// Where elements are read (index_select, gather, take), a negative index counts from the end, and one outside
// gives NaN (of integers 0).  Where they are written, an index that is negative or outside writes nothing.
// Contributions of equal indices are added in the order of their positions; where they replace one another,
// the last one is stored.
#pragma once
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <reprise/ops/creation.hpp>

namespace reprise {

// Turns checks of indices on or off for the whole process.  With checks, functions that take indices or
// classes (those below, nll_loss(), cross_entropy()) throw Error(argument) for one that is out of range; it
// names the function, the index, its position and the size.  Each such call waits for its indices.  Checks
// are off at first, but on in debug builds of the library (NDEBUG not defined), as REPRISE_CHECK_INDICES (0
// or 1) in the environment says, and while the thread has a detect_anomaly.  A program has the checks
// that were on while it was recorded: its call waits, and throws after it has run, with its state changed.
void set_check_indices(bool on);
bool checks_indices(); // whether indices are checked on this thread now

// The rows of weight [V, D] that the indices name: [...] -> [..., D].  An index outside [0, V) gives NaN (of
// integers 0) and no gradient.  The row padding_idx, which may count from the end, gets a gradient of 0;
// Error(argument) for one that does not exist.  Gradients of equal indices are added in the order of their
// positions.
Tensor embedding(const Tensor& indices, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx = std::nullopt);

// -- reading and writing along a dimension; results are copies --

// The elements along dim that the index [M] names; the dimension then has the size M.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
// x, with alpha source[i] added to the element index[i] along dim; index [M], source has x's dtype and, but
// for the size M along dim, its shape.
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha = 1);
// x, with `value` in the elements along dim that the index [M] names.
Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, double value);
// x, with source[i] in place of the element index[i] along dim; shapes and dtypes as for index_add().
Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// x, with each element along dim reduced with the elements of source whose index names it; shapes and dtypes
// as for index_add().  reduce is "prod", "mean", "amax" or "amin", else Error(argument).  Without
// include_self the named elements of x do not take part.  Equal largest or smallest elements share the
// gradient equally.
Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    const std::string& reduce, bool include_self = true);
// Elements of x by an index along dim: y[i][j][k] = x[index[i][j][k]][j][k] for dim 0.  The result has the
// shape of the index, which has x's dimensions and is at most as large as x in those but dim, else
// Error(shape).
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
// x, with elements of source at an index along dim: y = x, then y[index[i][j][k]][j][k] = source[i][j][k] for
// dim 0.  The index is as for gather(); source has x's dtype and is at least as large as the index in each
// dimension.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// x, with `value` at an index along dim.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value);
// x, with elements of source added at an index along dim; shapes and dtypes as for scatter().
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// scatter_add() for reduce "sum", else elements reduced as by index_reduce() at an index along dim; shapes as
// for scatter().
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                      const std::string& reduce, bool include_self = true);
Tensor take(const Tensor& x, const Tensor& index); // elements of the flattened x, in the shape of the index
// 1 at the class that each index names, else 0: [...] -> [..., classes], i32; only zeros for an index
// outside.  classes of -1 is the largest index plus 1, which waits for the indices: Error(state) while
// recording, Error(argument) where there are none or one is negative.
Tensor one_hot(const Tensor& index, std::int64_t classes = -1);
// The elements of x whose mask (bool) is true, in row-major order, [M]; x and mask broadcast.  Waits for the
// mask: Error(state) while recording.
Tensor masked_select(const Tensor& x, const Tensor& mask);

// -- results whose size depends on values; each waits for x: Error(state) while recording --

// The indices of elements that are not 0, [count, rank] (i32), in row-major order.
Tensor nonzero(const Tensor& x);
Tensor argwhere(const Tensor& x);                      // nonzero(), by NumPy's name
std::vector<Tensor> nonzero_as_tuple(const Tensor& x); // the same, one tensor [count] for each dimension
std::vector<Tensor> where(const Tensor& condition);    // nonzero_as_tuple()

// The distinct elements of x in ascending order, [count], whether sorted or not; with return_inverse the
// index of each element of x among them (i32, of x's shape); with return_counts how often each occurs (i32,
// [count]).  Results that are not requested are undefined.  Each NaN counts as distinct.  No gradient.
std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& x, bool sorted = true, bool return_inverse = false,
                                          bool return_counts = false);
// unique() by the name of ATen's function.
inline std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& x, bool sorted = true,
                                                   bool return_inverse = false, bool return_counts = false)
{
    return unique(x, sorted, return_inverse, return_counts);
}
// The distinct slices of x along dim in lexicographic order; otherwise as unique(), with the inverse [size of
// dim].
std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& x, std::int64_t dim, bool sorted = true,
                                              bool return_inverse = false, bool return_counts = false);
// One element of each run of equal neighbours in the flattened x, in their order; otherwise as unique().
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& x, bool return_inverse = false,
                                                      bool return_counts = false);

// How often each number from 0 on occurs in x [N] of integers (i32), or the sum of its weights [N] (the
// weights' dtype).  The result has the largest number plus 1 elements, at least minlength.  Error(argument)
// for a negative number.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, std::int64_t minlength = 0);
// How many elements of x fall into each of `bins` equal parts of [min, max], f32; for min = max = 0 from the
// smallest to the largest element.  Elements outside and NaN are not counted.  x is floating; the call does
// not wait for it.  Error(argument) for bins below 1 or min above max.
Tensor histc(const Tensor& x, std::int64_t bins = 100, double min = 0, double max = 0);

// -- masks --

// x, with `value` where the mask (bool) is true; both broadcast.
Tensor masked_fill(const Tensor&, const Tensor& mask, double value);
// The same with the value of a tensor without dimensions; else Error(shape).
Tensor masked_fill(const Tensor&, const Tensor& mask, const Tensor& value);
// x, with the elements of source in their order where the mask (bool) is true; the mask broadcasts to x.  The
// source has x's dtype.  Elements beyond its end are NaN (0 for integers).
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);
// The lower triangle of matrices, the last two dimensions: 0 above the diagonal, which lies `diagonal` above
// the main one.
Tensor tril(const Tensor&, std::int64_t diagonal = 0);
// The upper triangle of matrices, the last two dimensions: 0 below the diagonal, which lies `diagonal` above
// the main one.
Tensor triu(const Tensor&, std::int64_t diagonal = 0);

// The rows and columns, [2, count], of the elements that tril() retains of a matrix [row, col], in row-major
// order.
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0, const CreationOptions& = {});
// The rows and columns, [2, count], of the elements that triu() retains of a matrix [row, col], in row-major
// order.
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0, const CreationOptions& = {});

} // namespace reprise
