// Shapes: views where strides allow, else copies.
#pragma once
#include <optional>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

Tensor reshape(const Tensor&, const Shape& shape);
Tensor flatten(const Tensor&, std::int64_t from = 0, std::int64_t to = -1);
Tensor transpose(const Tensor&, std::int64_t a, std::int64_t b);
Tensor permute(const Tensor&, const std::vector<std::int64_t>& dims);
Tensor expand(const Tensor&, const Shape& shape);
Tensor squeeze(const Tensor&);
Tensor squeeze(const Tensor&, std::int64_t dim);
Tensor squeeze(const Tensor&, const Dims& dims); // those of them whose size is 1
Tensor unsqueeze(const Tensor&, std::int64_t dim);
Tensor flip(const Tensor&,
            const Dims& dims); // f32 and i32; a copy with the elements in reverse order along the dimensions
Tensor narrow(const Tensor&, std::int64_t dim, const Dim& start, const Dim& length);
// Parts along one dimension, as views: of the given sizes, which add up; of one size, but for a smaller last one;
// so many of equal size, but for a smaller last one (and fewer where the size is small); of size 1, without the
// dimension.  The size of the dimension may be a symbol where the sizes are given, and for chunk(), where it must
// be a multiple of the number of chunks then.
std::vector<Tensor> split(const Tensor&, const Shape& sizes, std::int64_t dim = 0);
std::vector<Tensor> split(const Tensor&, std::int64_t size, std::int64_t dim = 0);
std::vector<Tensor> chunk(const Tensor&, std::int64_t chunks, std::int64_t dim = 0);
std::vector<Tensor> unbind(const Tensor&, std::int64_t dim = 0);
// One behind the other along a dimension that there is, or along a new one; of one dtype, and of one shape but for
// the size of that dimension.
Tensor cat(const std::vector<Tensor>&, std::int64_t dim = 0);
Tensor stack(const std::vector<Tensor>&, std::int64_t dim = 0);
// {before and behind the last dimension, before and behind the last but one, ...}: so many elements more, of this
// value.  A negative amount cuts off; one that is a symbol must be at least 0.
Tensor pad(const Tensor&, const DimVector& amounts, double value = 0);
// The same with elements of the tensor: turned around at the border (fewer than there are), the last one again, or
// those of the other end (at most all).  Of the last one to three dimensions of at least one more.  Any dtype.
enum class PaddingMode { constant, reflect, replicate, circular };
Tensor pad(const Tensor&, const DimVector& amounts, PaddingMode,
           double value = 0); // value: of constant

Tensor view(const Tensor&, const Shape& shape);       // reshape
Tensor view_as(const Tensor& x, const Tensor& other); // of the other's shape
Tensor reshape_as(const Tensor& x, const Tensor& other);
Tensor expand_as(const Tensor& x, const Tensor& other);
Tensor ravel(const Tensor&);                         // flatten
Tensor expand_dims(const Tensor&, std::int64_t dim); // unsqueeze
Tensor swapaxes(const Tensor&, std::int64_t a, std::int64_t b);
Tensor movedim(const Tensor&, std::int64_t from, std::int64_t to);
Tensor select(const Tensor&, std::int64_t dim, const Dim& index); // one index, without the dimension
Tensor slice(const Tensor&, std::int64_t dim, const SliceRange& range);
Tensor slice(const Tensor&, std::int64_t dim, const std::optional<Dim>& start, const std::optional<Dim>& end,
             std::int64_t step = 1);
Tensor repeat(const Tensor&, const DimVector& times);                          // copies of the whole
Tensor repeat_interleave(const Tensor&, std::int64_t times, std::int64_t dim); // of each element
Tensor roll(const Tensor&, std::int64_t shift, std::int64_t dim);              // around the end
Tensor roll(const Tensor&, const std::vector<std::int64_t>& shifts, const Dims& dims);
Tensor roll(const Tensor&, std::int64_t shift);     // of the flattened tensor
Tensor tile(const Tensor&, const DimVector& times); // repeat, with ones in front where there are fewer
Tensor unflatten(const Tensor&, std::int64_t dim, const Shape& sizes); // one size may be -1
Tensor movedim(const Tensor&, const Dims& from, const Dims& to);
// One behind the other along the second dimension (of vectors the first), the first, the third.
Tensor hstack(const std::vector<Tensor>&);
Tensor vstack(const std::vector<Tensor>&);
Tensor dstack(const std::vector<Tensor>&);
Tensor contiguous(const Tensor&); // row-major without gaps: a copy where it is not
// Vectors (or single elements) as grids: element [i][j] is the first one's i and the second one's j; of xy
// the other way around in the first two dimensions.
enum class MeshIndexing { ij, xy };
std::vector<Tensor> meshgrid(const std::vector<Tensor>&, MeshIndexing = MeshIndexing::ij);

} // namespace reprise
