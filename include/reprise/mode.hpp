// A switch that decides what a function does, as a module's training mode decides whether dropout drops.
#pragma once
#include <memory>
#include <string>

namespace reprise {

namespace graph {
struct Switch; // src/graph/mode.hpp
}

// A program that read it while it was recorded has done what this value asks for, and so refuses calls,
// Error(state), while the value is another.  A copy has the value and is a switch of its own; a move takes the switch
// itself along, and leaves another of some value.
class Mode {
public:
    // `name`: what errors call it, as "the training mode of a module".
    explicit Mode(std::string name, bool on = true);
    Mode(const Mode&);
    Mode(Mode&&);
    Mode& operator=(const Mode&);
    Mode& operator=(Mode&&) noexcept;
    ~Mode() = default;

    bool get() const;
    // While a program is recorded: what that program reads from here on is its own choice, not a condition of it.
    void set(bool on);

private:
    std::shared_ptr<graph::Switch> switch_;
};

} // namespace reprise
