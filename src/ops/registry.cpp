#include "ops/registry.hpp"

#include <reprise/error.hpp>

namespace reprise::ops {

std::vector<const graph::Op*> structured_ops()
{
    return {
#define OP(name) &name##_op,
#include "ops/ops.def"
    };
}

void wrong_dtype(const char* op, DType found, const char* wanted)
{
    detail::fail(ErrorKind::dtype, op, "The op takes ", wanted, ", not (", name_of(found),
                 "): cast the input first.");
}

void require_floating(const char* op, DType t)
{
    if (!is_floating(t)) wrong_dtype(op, t, "a floating dtype");
}

} // namespace reprise::ops
