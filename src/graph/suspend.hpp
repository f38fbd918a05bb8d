#pragma once
#include <utility>

#include "graph/cell.hpp"
#include "graph/segment.hpp"

namespace reprise::graph {

// While it lives, this thread is outside of the recording and of any segment.
class Suspend {
public:
    Suspend() : before_(std::exchange(current_tracer(), nullptr)) {}
    ~Suspend() { current_tracer() = before_; }
    Suspend(const Suspend&) = delete;
    Suspend& operator=(const Suspend&) = delete;

private:
    Tracer* before_;
    InSegment no_segment_{nullptr};
};

} // namespace reprise::graph
