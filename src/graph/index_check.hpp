// Whether ops look at the indices that they are given (set_check_indices).
#pragma once
#include <cstdint>
#include <optional>

namespace reprise::graph {

// Here and now: set for the process or by a scope, and not off on this thread.
bool checks_indices();
void set_checks_indices(bool on); // for the process

// What a library function passes on inside was checked where it came in, or is its own; placeholders have no values.
class IndexChecksOff {
public:
    IndexChecksOff();
    ~IndexChecksOff();
    IndexChecksOff(const IndexChecksOff&) = delete;
    IndexChecksOff& operator=(const IndexChecksOff&) = delete;
};

// A check that stands in a recording.  Its tensor is the indices in a line, and behind them the size.
struct IndexCheck {
    const char* op = nullptr;
    std::optional<std::int64_t> except{}; // an index that may lie outside
    bool from_end = false;                // negative indices count from the end
};

} // namespace reprise::graph
