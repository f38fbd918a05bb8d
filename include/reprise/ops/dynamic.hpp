// Sizes and indices that only the device knows, by rows.
#pragma once
#include <reprise/tensor.hpp>

namespace reprise {

// A tensor of lengths, starts or indices (i32) has one for each row of x: its sizes are the first ones of x, and
// the op works along the dimension that follows; without dimensions it is one for all of x.  Nothing outside of
// x is ever read.  x of any dtype; gradients go to x.
//
// The elements at positions 0, 1, ..., length - 1 of each row, the others replaced by `value`: a length below 0
// counts as 0, one beyond the end as all.  x [B, T, C] and lengths [B] mask T; or a mask (bool) that broadcasts
// to x: true keeps.
Tensor dynamic_mask(const Tensor& x, const Tensor& mask_or_lengths, double value = 0);
// The same with one length that the host knows, such as a size that is given with each call of a program.
Tensor dynamic_mask(const Tensor& x, std::int64_t dim, const Dim& length, double value = 0);
// `length` elements of each row from its start on: x [B, T, C], start [B] -> [B, length, C].  What would lie
// outside of the row is 0.  For starts that the host knows: narrow().
Tensor dynamic_slice(const Tensor& x, const Tensor& start, const Dim& length);
// Rows of `size` elements in which each row of x begins at before[row], `value` around: x [B, T, C],
// before [B] -> [B, size, C].  What would lie outside of the new row is dropped.
Tensor dynamic_pad(const Tensor& x, const Tensor& before, const Dim& size, double value = 0);
// The elements of each row that the indices name: x [B, T, C], index [B, M] -> [B, M, C]; without rows, x [T, C]
// and index [M] -> [M, C].  x is of a floating dtype.  An index outside of the row gives NaN and no gradient.
// Equal indices add their gradients up in the order of their positions.
Tensor dynamic_gather(const Tensor& x, const Tensor& index);

} // namespace reprise
