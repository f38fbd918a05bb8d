// The dtype of results of several dtypes.
#pragma once
#include <reprise/dtype.hpp>

namespace reprise {

// The dtype to which both are converted where they are combined, as in PyTorch: within one category (bool,
// integer, floating) the wider one, else that of the higher category; i8 and u8 give i16, f16 and bf16 give
// f32.  In the ops, tensors without dimensions and numbers only count where they are of a higher category
// than the other tensors.
DType promote_types(DType, DType);

} // namespace reprise
