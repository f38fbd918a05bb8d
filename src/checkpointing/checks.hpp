// What the classes of this room refuse alike.
#pragma once
#include <string>

#include <reprise/checkpointing/config.hpp>
#include <reprise/error.hpp>

namespace reprise::checkpointing {

void check(const char* op, const CheckpointConfig&);

inline void require_id(const char* op, const std::string& id)
{
    if (id.empty()) detail::fail(ErrorKind::argument, op, "The layer's id is empty: give it a name.");
}

[[noreturn]] inline void fail_registered(const char* op, const std::string& id)
{
    detail::fail(ErrorKind::argument, op, "The layer (", id,
                 ") is registered already: give each its own id.");
}

// `ids`: of all that there are.
template <class Ids> [[noreturn]] void fail_unknown(const char* op, const std::string& id, const Ids& ids)
{
    std::string known;
    for (const std::string& name : ids) known += (known.empty() ? "" : ", ") + name;
    detail::fail(ErrorKind::argument, op, "The layer (", id, ") is not registered: there are (", known, ").");
}

} // namespace reprise::checkpointing
