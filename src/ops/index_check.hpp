// The bounds check of indices and classes that set_check_indices() turns on.
#pragma once
#include <cstdint>
#include <span>

#include <reprise/tensor.hpp>

#include "graph/ambient.hpp"
#include "graph/index_check.hpp"

namespace reprise::ops {

// Turns the checks off on this thread while this object exists.  Used inside library functions, whose indices were
// checked on entry or are computed by the library, and for placeholders, which have no values.
class IndexChecksOff {
    graph::Scoped<bool> off_{graph::ambient().index_checks_off, true};
};

// If checks are on, requires each index to lie within the size, as the check specifies. Eager code waits for the
// indices and throws Error(argument); in a recording, the calls of the program do this.
void check_indices(const graph::IndexCheck&, const Tensor& index, const Dim& size);

// Does the same for indices in host memory.
void require_indices_inside(const graph::IndexCheck&, std::span<const std::int64_t> all, std::int64_t size);

} // namespace reprise::ops
