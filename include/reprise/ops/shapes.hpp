// Shapes and orders of elements, for any dtype.  A view shares the memory of its input; reshape() and the
// functions composed of it return a view where the strides allow it, else a copy.  Negative dimensions count
// from the end; Error(argument) for one that does not exist.
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/choice.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// The same elements in row-major order with another shape, in which one size may be -1, to be inferred.
// Error(shape) where the number of elements differs; Error(argument) for another negative size or several of
// -1.
Tensor reshape(const Tensor&, const Shape& shape);
// Merges the dimensions `from` to `to`, both included, into one; a tensor without dimensions becomes [1].
Tensor flatten(const Tensor&, std::int64_t from = 0, std::int64_t to = -1);
// Swaps two dimensions; a view.
Tensor transpose(const Tensor&, std::int64_t a, std::int64_t b);
// Reorders the dimensions: dimension i of the result is dims[i] of x; a view.  Error(argument) unless each
// occurs once.
Tensor permute(const Tensor&, const std::vector<std::int64_t>& dims);
// Broadcasts dimensions of the constant size 1, and new ones in front, to this shape; a view.  -1 leaves a
// size unchanged.  Error(shape) where the shape does not broadcast to it.
Tensor expand(const Tensor&, const Shape& shape);
// Removes all dimensions of the constant size 1; a view.
Tensor squeeze(const Tensor&);
Tensor squeeze(const Tensor&, std::int64_t dim);   // removes the dimension if its size is 1; a view
Tensor squeeze(const Tensor&, const Dims& dims);   // removes those of them whose size is 1; a view
Tensor unsqueeze(const Tensor&, std::int64_t dim); // inserts a dimension of size 1 at dim; a view
// Reverses the order of elements along the dimensions; a copy.
Tensor flip(const Tensor&, const Dims& dims);
inline Tensor fliplr(const Tensor& x) { return flip(x, {1}); } // reverses the columns: dimension 1
inline Tensor flipud(const Tensor& x) { return flip(x, {0}); } // reverses the rows: dimension 0
// The elements start to start + length - 1 along dim; a view.  A negative start counts from the end.
// Error(shape) where they are not all inside.
Tensor narrow(const Tensor&, std::int64_t dim, const Dim& start, const Dim& length);
// Parts along dim of the given sizes, as views.  Error(shape) unless the sizes add up to that of the dimension,
// which may be symbolic.
std::vector<Tensor> split(const Tensor&, const Shape& sizes, std::int64_t dim = 0);
// Parts of one size, as views; the last one may be smaller.  Error(argument) for a size below 1; Error(shape)
// for a symbolic dimension.
std::vector<Tensor> split(const Tensor&, std::int64_t size, std::int64_t dim = 0);
// At most `chunks` parts of equal size, as views; the last one may be smaller.  A symbolic size must be a
// multiple of `chunks` and gives exactly `chunks` parts.  Error(argument) for chunks below 1.
std::vector<Tensor> chunk(const Tensor&, std::int64_t chunks, std::int64_t dim = 0);
// The elements along dim as views without that dimension.  Error(shape) for a symbolic dimension.
std::vector<Tensor> unbind(const Tensor&, std::int64_t dim = 0);
// Concatenates along `dim`; all tensors have the same shape except along `dim` (or are empty vectors, as in
// PyTorch), else Error(shape).  The dtypes are promoted as by promote_types().  Error(argument) where there
// are no tensors.
Tensor cat(const std::vector<Tensor>&, std::int64_t dim = 0);
Tensor concat(const std::vector<Tensor>&, std::int64_t dim = 0); // cat(), by NumPy's name
// Concatenates tensors of one shape along a new dimension `dim`; dtypes and errors as for cat().
Tensor stack(const std::vector<Tensor>&, std::int64_t dim = 0);
// Adds elements of this value: amounts are {before and after the last dimension, before and after the last
// but one, ...}.  A negative amount cuts off; a symbolic one must be at least 0.  Error(argument) for an odd
// or too large number of amounts.
Tensor pad(const Tensor&, const DimVector& amounts, double value = 0);
// Where padding takes its elements from: one value; the tensor mirrored at its border, without the border
// (amounts below the size); the border repeated; or the other end (amounts at most the size).
enum class PaddingMode { constant, reflect, replicate, circular };
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, PaddingMode>, 4> names_of_choices(PaddingMode)
{
    return {{{"constant", PaddingMode::constant},
             {"reflect", PaddingMode::reflect},
             {"replicate", PaddingMode::replicate},
             {"circular", PaddingMode::circular}}};
}
// Pads by a mode.  All modes except constant pad the last one to three dimensions of a tensor that has one or
// two more.  Only the mode constant reads `value`.
Tensor pad(const Tensor&, const DimVector& amounts, Choice<PaddingMode>, double value = 0);
// pad() with one value, by PyTorch's name for it.
Tensor constant_pad_nd(const Tensor&, const DimVector& amounts, double value = 0);

Tensor view(const Tensor&, const Shape& shape);                 // reshape()
Tensor view_as(const Tensor& x, const Tensor& other);           // reshape() to the shape of other
Tensor reshape_as(const Tensor& x, const Tensor& other);        // reshape() to the shape of other
Tensor expand_as(const Tensor& x, const Tensor& other);         // expand() to the shape of other
Tensor ravel(const Tensor&);                                    // flatten()
Tensor expand_dims(const Tensor&, std::int64_t dim);            // unsqueeze()
Tensor swapaxes(const Tensor&, std::int64_t a, std::int64_t b); // transpose()
// Moves a dimension to another position; the others keep their order.  A view.
Tensor movedim(const Tensor&, std::int64_t from, std::int64_t to);
// The element `index` along dim, without that dimension; a view.  A negative index counts from the end.
// Error(shape) for an index outside.
Tensor select(const Tensor&, std::int64_t dim, const Dim& index);
// The elements of a range along dim: a view, or with a step above 1 possibly a copy.  Error(argument) for a
// step below 1.
Tensor slice(const Tensor&, std::int64_t dim, const SliceRange& range);
// The same with PyTorch's arguments; nullopt is the start or the end of the dimension.
Tensor slice(const Tensor&, std::int64_t dim = 0, const std::optional<Dim>& start = std::nullopt,
             const std::optional<Dim>& end = std::nullopt, std::int64_t step = 1);
// Copies of the whole tensor along each dimension, and new ones in front where there are more numbers than
// dimensions.  Error(argument) for fewer numbers; Error(shape) for a negative one.
Tensor repeat(const Tensor&, const DimVector& times);
// Each element `times` times, one after the other, along dim.
Tensor repeat_interleave(const Tensor&, std::int64_t times, std::int64_t dim);
// The same of the flattened tensor: [n] -> [n times].
Tensor repeat_interleave(const Tensor&, std::int64_t times);
// Element i along dim repeats[i] times; repeats [size] of integers, or one number for all.  Without dim the
// tensor is flattened.  Waits for `repeats`: Error(state) while recording.  Error(argument) for a negative number.
Tensor repeat_interleave(const Tensor&, const Tensor& repeats,
                         std::optional<std::int64_t> dim = std::nullopt);
// Shifts the elements along dim toward the end; those shifted beyond the end reappear at the start.
Tensor roll(const Tensor&, std::int64_t shift, std::int64_t dim);
// The same along several dimensions, with one shift for each.
Tensor roll(const Tensor&, const std::vector<std::int64_t>& shifts, const Dims& dims);
Tensor roll(const Tensor&, std::int64_t shift); // shifts the flattened tensor; the shape stays
// repeat(); if there are fewer numbers than dimensions, ones are added in front.
Tensor tile(const Tensor&, const DimVector& times);
// Splits a dimension into several of these sizes, of which one may be -1; as reshape().
Tensor unflatten(const Tensor&, std::int64_t dim, const Shape& sizes);
// Moves several dimensions, from[i] to to[i]; the others keep their order.  A view.
Tensor movedim(const Tensor&, const Dims& from, const Dims& to);
// cat() along the second dimension; vectors along the first.
Tensor hstack(const std::vector<Tensor>&);
// cat() along the first dimension; a vector [n] counts as a row [1, n].
Tensor vstack(const std::vector<Tensor>&);
// cat() along the third dimension; a vector [n] counts as [1, n, 1], a matrix [m, n] as [m, n, 1].
Tensor dstack(const std::vector<Tensor>&);
// cat() of tensors as columns along the second dimension; a vector [n] counts as a column [n, 1].
Tensor column_stack(const std::vector<Tensor>&);
Tensor contiguous(const Tensor&); // row-major without gaps in memory: a copy where it is not so already
// Which vector of meshgrid() runs along the first dimension: the first one (matrix order), or the second one
// (the first runs along the second dimension).
enum class MeshIndexing { ij, xy };
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, MeshIndexing>, 2> names_of_choices(MeshIndexing)
{
    return {{{"ij", MeshIndexing::ij}, {"xy", MeshIndexing::xy}}};
}
// Grids of coordinates as views, one for each vector: grid 0 has element i of vector 0 at [i][j]..., grid 1
// element j of vector 1, and so on.  All have one dtype; a tensor without dimensions counts as a vector of
// one element.
std::vector<Tensor> meshgrid(const std::vector<Tensor>&, Choice<MeshIndexing> = MeshIndexing::ij);

} // namespace reprise
