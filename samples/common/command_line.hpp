// What the samples' command lines share.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

inline constexpr int exit_usage = 2;
inline constexpr std::uint64_t unlimited = std::numeric_limits<std::int64_t>::max();

// CLI11's own messages name types, and its help texts ranges, as programs write them.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator number_between(double least, double most);

// Arguments without the program's name.  A value: end now with it; what is to be said is said.
std::optional<int> parse_arguments(CLI::App&, std::vector<std::string> arguments, std::ostream& out,
                                   std::ostream& err);
