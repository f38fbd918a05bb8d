// Ops whose sizes and indices are tensors on the device, one for each row.
#pragma once
#include <reprise/tensor.hpp>

namespace reprise {

// A tensor of lengths, starts or indices (i32) has one entry for each row of x: its sizes are the first ones
// of x, and the op works along the dimension after them; without dimensions it applies to all of x.  Nothing
// outside of x is ever read.  x has any dtype unless stated otherwise; gradients flow to x.
//
// Retains the elements at positions 0, 1, ..., length - 1 of each row and replaces the others by `value`; a
// length below 0 counts as 0, one beyond the end as the whole row.  x [B, T, C] and lengths [B] mask T.  With
// a mask (bool) that broadcasts to x, retains the elements where it is true.
Tensor dynamic_mask(const Tensor& x, const Tensor& mask_or_lengths, double value = 0);
// The same along dim with one length known on the host, such as a size given with each call of a program.
Tensor dynamic_mask(const Tensor& x, std::int64_t dim, const Dim& length, double value = 0);
// `length` elements of each row from its start on: x [B, T, C], start [B] -> [B, length, C].  Elements
// outside of the row are 0.  Use narrow() for a start known on the host.
Tensor dynamic_slice(const Tensor& x, const Tensor& start, const Dim& length);
// Rows of `size` elements in which each row of x begins at before[row], with `value` around it: x [B, T, C],
// before [B] -> [B, size, C].  Elements outside of the new row are dropped.
Tensor dynamic_pad(const Tensor& x, const Tensor& before, const Dim& size, double value = 0);
// The elements of each row at the indices: x [B, T, C], index [B, M] -> [B, M, C]; without rows x [T, C],
// index [M] -> [M, C].  x is floating.  An index outside of the row gives NaN and no gradient.  Gradients of
// equal indices are added in the order of their positions.
Tensor dynamic_gather(const Tensor& x, const Tensor& index);

} // namespace reprise
