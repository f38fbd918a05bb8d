// Whether ops look at the indices that they are given (set_check_indices).
#pragma once
#include <cstdint>
#include <optional>

#include "graph/ambient.hpp"

namespace reprise::graph {

// Here and now: set for the process or by a scope, and not off on this thread.
bool checks_indices();
void set_checks_indices(bool on); // for the process

// What a library function passes on inside was checked where it came in, or is its own; placeholders have no values.
class IndexChecksOff {
    Scoped<bool> off_{ambient().index_checks_off, true};
};

// A check that stands in a recording.  Its tensor is the indices in a line, and behind them the size.
struct IndexCheck {
    const char* op = nullptr;
    std::optional<std::int64_t> except{}; // an index that may lie outside
    bool from_end = false;                // negative indices count from the end
};

} // namespace reprise::graph
