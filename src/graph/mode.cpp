#include <reprise/mode.hpp>

#include "graph/cell.hpp"

namespace reprise {

Mode::Mode(std::string name, bool on) : switch_(std::make_shared<graph::Switch>(std::move(name), on)) {}
Mode::Mode(const Mode& other)
    : switch_(other.switch_ ? std::make_shared<graph::Switch>(other.switch_->name, other.get()) : nullptr)
{}
Mode& Mode::operator=(const Mode& other)
{
    if (this != &other) set(other.get());
    return *this;
}
Mode::Mode(Mode&& other) noexcept = default;
Mode& Mode::operator=(Mode&& other) noexcept
{
    switch_.swap(other.switch_);
    return *this;
}

bool Mode::get() const
{
    if (!switch_) return true;
    if (graph::Tracer* tracer = graph::current_tracer()) tracer->read_mode(switch_);
    return switch_->on;
}

void Mode::set(bool on)
{
    if (!switch_) switch_ = std::make_shared<graph::Switch>("a mode that was moved from", true);
    if (graph::Tracer* tracer = graph::current_tracer()) tracer->set_mode(switch_);
    switch_->on = on;
}

} // namespace reprise
