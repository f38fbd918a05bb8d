// The sizes of several calls of one structure as expressions of symbols.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise::eager {

struct DynamicDims {
    DimVector sizes; // by position: a number where all calls have the same, else an expression
    struct Symbol {
        std::uint32_t id;
        std::size_t position; // of the size that it is
    };
    std::vector<Symbol> symbols;
};

// `calls`: each the sizes of one call, of equal number; the first `attributes` of them are of attributes, the others of
// externals.  A size is a symbol or a multiple of one; one of an attribute may also be a part of one, a product of
// two, or one with an offset: the simplest that all calls agree with.  What is found is a guess: whoever uses it
// compares each call.
DynamicDims infer_dynamic_dims(const std::vector<std::vector<std::int64_t>>& calls, std::size_t attributes);

} // namespace reprise::eager
