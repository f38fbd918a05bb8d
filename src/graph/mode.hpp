// What a Mode holds; a recording notes those that it reads.
#pragma once
#include <atomic>
#include <memory>
#include <string>

namespace reprise::graph {

struct Switch {
    Switch(std::string n, bool value) : name(std::move(n)), on(value) {}
    const std::string name;
    std::atomic<bool> on;
};

} // namespace reprise::graph
