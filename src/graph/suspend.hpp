#pragma once
#include <utility>

#include "graph/cell.hpp"
#include "graph/segment.hpp"

namespace reprise::graph {

// While it lives, this thread is outside of the recording and of any segment.
class Suspend {
public:
    Suspend() : before_(std::exchange(graph::current_tracer(), nullptr)) {}
    ~Suspend() { graph::current_tracer() = before_; }
    Suspend(const Suspend&) = delete;
    Suspend& operator=(const Suspend&) = delete;

private:
    graph::Tracer* before_;
    graph::InSegment no_segment_{nullptr};
};

} // namespace reprise::graph
