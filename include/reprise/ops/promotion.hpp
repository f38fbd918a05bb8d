// Which dtype comes of which.
#pragma once
#include <reprise/dtype.hpp>

namespace reprise {

// The dtype that both become where they meet (PyTorch's): of one category (bool, integer, floating) the wider, else that
// of the higher one; i8 and u8 give i16, f16 and bf16 give f32.  In the ops, tensors without dimensions, and numbers,
// count only where they are of a higher category than the others.
DType promote_types(DType, DType);

} // namespace reprise
