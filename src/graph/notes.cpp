#include "graph/notes.hpp"

namespace reprise::graph {

TapeNotes& notes_of(const Node& n)
{
    if (!n.notes) n.notes = std::make_shared<TapeNotes>();
    return *n.notes;
}

Scope::Scope() : outer_(current_scope()) { current_scope() = this; }

Scope::~Scope() // it need not be the innermost
{
    for (Scope** s = &current_scope(); *s; s = &(*s)->outer_)
        if (*s == this) {
            *s = outer_;
            return;
        }
}

} // namespace reprise::graph
