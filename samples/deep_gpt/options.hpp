// The sample's command line.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace deep_gpt {

struct Options {
    std::int64_t layers = 24, features = 64, length = 64;
    std::int64_t batch = 8;
    std::int64_t steps = 300;
    double budget = 16; // MiB
    std::string device; // empty: the best
    std::filesystem::path out = "deep-gpt-output";
    std::uint64_t seed = 0;
};

struct CommandLine {
    Options options;
    std::optional<int> exit_code; // set: exit with it; help or errors have been printed
};
// Parses the arguments, which exclude the program's name.
CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);

} // namespace deep_gpt
