// Helpers of the samples' command lines.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

inline constexpr int exit_usage = 2;
inline constexpr std::uint64_t unlimited = std::numeric_limits<std::int64_t>::max();

// Validators with messages for users: those of CLI11 name types and print ranges in C++ notation.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);
CLI::Validator multiple_of(std::uint64_t); // of an option that whole_number() checks first
CLI::Validator number_between(double min, double max);

// Adds an option for a whole number from min to max.
template <class T> CLI::Option* add_number(CLI::App& app, const char* name, T& value, const char* text,
                                           std::uint64_t min, std::uint64_t max = unlimited)
{
    return app.add_option(name, value, text)->check(whole_number(min, max))->type_name("N");
}

// Adds an option for a path, whose text is UTF-8 on all systems (cmake/windows/utf8.manifest).  Unless it is empty, the
// path is the default.
CLI::Option* add_path(CLI::App& app, const char* name, std::filesystem::path& path, const char* text,
                      const char* type_name = "DIR");

// Parses the arguments, which exclude the program's name. If a value is returned, the program exits with it: help or
// errors have been printed.
std::optional<int> parse_arguments(CLI::App&, std::vector<std::string> arguments, std::ostream& out,
                                   std::ostream& err);
