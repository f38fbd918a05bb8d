// The environment and the threads of the process, where the application allows them (reprise/process.hpp).
#pragma once
#include <optional>
#include <string>

#include <reprise/process.hpp>

namespace reprise::detail {

// Returns the value of an environment variable, in UTF-8; nullopt if it is not set, or if the environment is not to be
// read.
std::optional<std::string> environment_variable(const char* name);
bool may_start_threads() noexcept;

} // namespace reprise::detail
