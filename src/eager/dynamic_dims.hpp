// Infers symbolic sizes from the concrete sizes of several evaluations of one structure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise::eager {

struct DynamicDims {
    DimVector sizes; // by position: a constant where all calls have the same size, else an expression
    struct Symbol {
        std::uint32_t id;
        std::size_t position; // of the size that the symbol equals
    };
    std::vector<Symbol> symbols;
};

// `calls` holds the sizes of each call, equally many for each; the first `attributes` of them are sizes of attributes,
// the others of externals.  A size becomes a symbol or a multiple of one.  A size of an attribute can also become a
// symbol divided by a constant, a product of two symbols, or a symbol plus an offset.  The simplest form that agrees
// with all calls is chosen.  The result is a guess, which the caller must check at each call.
DynamicDims infer_dynamic_dims(const std::vector<std::vector<std::int64_t>>& calls, std::size_t attributes);

} // namespace reprise::eager
