// The dtypes in which sums are accumulated.
#pragma once
#include <reprise/ops/elementwise.hpp>

namespace reprise::ops {

// Returns the dtype in which values of t are accumulated and their statistics are stored: f32 for f16 and bf16, else t.
inline DType accumulated(DType t) { return t == f16 || t == bf16 ? f32 : t; }
inline Tensor accumulated(const Tensor& x) { return cast(x, accumulated(x.dtype())); }

// Returns the dtype of the results of sum() and prod(): i64 for integers and bool, else t.
inline DType total_dtype(DType t) { return is_floating(t) ? t : i64; }

} // namespace reprise::ops
