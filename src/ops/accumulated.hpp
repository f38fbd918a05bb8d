// What sums are kept in.
#pragma once
#include <reprise/ops/elementwise.hpp>

namespace reprise::ops {

// What f16 and bf16 are added up in, and what statistics of them are kept in: f32.
inline DType accumulated(DType t) { return t == f16 || t == bf16 ? f32 : t; }
inline Tensor accumulated(const Tensor& x) { return cast(x, accumulated(x.dtype())); }

// Of sums and products: i64 of integers and bool.
inline DType total_dtype(DType t) { return is_floating(t) ? t : i64; }

} // namespace reprise::ops
