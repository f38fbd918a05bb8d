// Whether ops check the bounds of the indices that they get (set_check_indices).
#pragma once
#include <cstdint>
#include <optional>

namespace reprise::graph {

// Whether checks are on for the process or by a scope of this thread, and no ops::IndexChecksOff exists on this thread.
bool checks_indices();
void set_checks_indices(bool on); // for the process

// A check that each call of a recorded program runs, on an integer tensor that holds all indices, followed by the size
// of the indexed dimension.
struct IndexCheck {
    const char* op = nullptr;
    std::optional<std::int64_t> except{}; // an index that may be out of bounds, such as a loss's ignore_index
    bool from_end = false;                // negative indices count from the end
};

} // namespace reprise::graph
