#include <reprise/grad_mode.hpp>

#include <utility>

#include "graph/cell.hpp"

namespace reprise {

bool grad_enabled() { return graph::grad_mode(); }
AutoGradMode::AutoGradMode(bool enabled) : before_(std::exchange(graph::grad_mode(), enabled)) {}
AutoGradMode::~AutoGradMode() { graph::grad_mode() = before_; }
bool GradMode::is_enabled() { return graph::grad_mode(); }
void GradMode::set_enabled(bool on) { graph::grad_mode() = on; }

} // namespace reprise
