#include <reprise/mode.hpp>

#include "graph/cell.hpp"
#include "graph/mode.hpp"

namespace reprise {

Mode::Mode(std::string name, bool on) : switch_(std::make_shared<graph::Switch>(std::move(name), on)) {}
Mode::Mode(const Mode& other) : Mode(other.switch_->name, other.get()) {}
Mode& Mode::operator=(const Mode& other)
{
    set(other.get());
    return *this;
}
Mode::Mode(Mode&& other) : Mode(other.switch_->name, other.switch_->on) { switch_.swap(other.switch_); }
Mode& Mode::operator=(Mode&& other) noexcept
{
    switch_.swap(other.switch_);
    return *this;
}

bool Mode::get() const
{
    if (graph::Tracer* tracer = graph::current_tracer()) tracer->read_mode(switch_);
    return switch_->on;
}

void Mode::set(bool on)
{
    if (graph::Tracer* tracer = graph::current_tracer()) tracer->set_mode(switch_);
    switch_->on = on;
}

} // namespace reprise
