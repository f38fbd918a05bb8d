// What every class of this room asks of shapes.
#pragma once
#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/error.hpp>

namespace reprise::dynamic {

// Error(shape) with both unless they are equal symbol for symbol.  `whose`: which one the wanted shape is,
// as "input (", i, ") has".
template <class... Whose> void check_shape(const char* op, const char* what, const SymbolicShape& given,
                                           const SymbolicShape& wanted, const Whose&... whose)
{
    if (!same(given, wanted))
        detail::fail(ErrorKind::shape, op, "The ", what, " has the shape (", given, ") but ", whose..., " (",
                     wanted, "): both must be the same, symbol for symbol.");
}

} // namespace reprise::dynamic
