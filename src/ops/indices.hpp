// The dtypes of indices of rows, classes and positions: i32 or i64.
#pragma once
#include <reprise/dtype.hpp>
#include <reprise/error.hpp>

namespace reprise::ops {

// `what` names the tensor in the error, such as "indices".
inline void require_indices(const char* op, const char* what, DType t)
{
    if (t != i32 && t != i64)
        detail::fail(ErrorKind::dtype, op, "The dtype of the ", what, " is (", name_of(t),
                     "), it must be i32 or i64: cast with to(i32).");
}

} // namespace reprise::ops
