// The shape check shared by the classes of this folder.
#pragma once
#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/error.hpp>

namespace reprise::dynamic {

// Throws Error(shape) with both shapes unless they are equal symbol for symbol. `whose`: describes the wanted shape, as
// in "input (", i, ") has".
template <class... Whose> void check_shape(const char* op, const char* what, const SymbolicShape& given,
                                           const SymbolicShape& wanted, const Whose&... whose)
{
    if (!same(given, wanted))
        detail::fail(ErrorKind::shape, op, "The ", what, " has the shape (", given, ") but ", whose..., " (",
                     wanted, "): both must be the same, symbol for symbol.");
}

} // namespace reprise::dynamic
