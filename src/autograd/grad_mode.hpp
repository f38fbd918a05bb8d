#pragma once
#include "graph/cell.hpp"

namespace reprise::autograd {

// Sets this thread's grad mode for its life.
struct GradModeGuard {
    explicit GradModeGuard(bool on) : before(graph::grad_mode()) { graph::grad_mode() = on; }
    ~GradModeGuard() { graph::grad_mode() = before; }
    GradModeGuard(const GradModeGuard&) = delete;
    GradModeGuard& operator=(const GradModeGuard&) = delete;
    bool before;
};

} // namespace reprise::autograd
