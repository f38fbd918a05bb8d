// Argument checks shared by the classes of this folder.
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

// `ids`: the ids of all registered layers.
template <class Ids> [[noreturn]] void fail_unknown(const char* op, const std::string& id, const Ids& ids)
{
    std::string listed;
    for (const std::string& name : ids) listed += (listed.empty() ? "" : ", ") + name;
    detail::fail(ErrorKind::argument, op, "The layer (", id, ") is not registered: there are (", listed,
                 ").");
}

} // namespace reprise::checkpointing
