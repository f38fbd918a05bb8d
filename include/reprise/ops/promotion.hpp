// The promotion of dtypes.
#pragma once
#include <reprise/dtype.hpp>

namespace reprise {

// Returns the dtype to which two dtypes are converted when they are combined, as in PyTorch: within one
// category (bool, integer, floating) the wider one, else that of the higher category; i8 and u8 give i16, f16
// and bf16 give f32.  In the ops, tensors without dimensions and numbers are only considered if they are of a
// higher category than the other tensors.
DType promote_types(DType, DType);

} // namespace reprise
