// A switch that decides what a function does, as a module's training mode decides whether dropout drops.
#pragma once
#include <memory>
#include <string>

namespace reprise {

namespace graph {
struct Switch; // src/graph/cell.hpp
}

// An on/off switch that programs check.  A program that read it while it was recorded is valid for that value
// only: its calls throw Error(state) while the switch has the other value.
class Mode {
public:
    // `name` is used in error messages, such as "the training mode of a module".
    explicit Mode(std::string name, bool on = true);
    Mode(const Mode&);                // a new switch with the same name and value
    Mode(Mode&&) noexcept;            // moves the switch; the other object is on, until it is set
    Mode& operator=(const Mode&);     // sets this switch to the other's value
    Mode& operator=(Mode&&) noexcept; // exchanges the switches
    ~Mode() = default;

    // Returns the value.  While a program is recorded, reading it makes the value a condition of the program's calls.
    bool get() const;
    // Sets the value.  While a program is recorded, reading the switch after this adds no condition to the
    // program's calls.
    void set(bool on);

private:
    std::shared_ptr<graph::Switch> switch_; // null after a move
};

} // namespace reprise
