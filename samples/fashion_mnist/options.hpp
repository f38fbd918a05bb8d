// The demo's command line.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

struct Options {
    std::int64_t epochs = 5;
    std::int64_t batch = 128;
    std::string device;         // empty: the best
    std::filesystem::path data; // empty: the folder of Debian's package
    std::filesystem::path out = "demo-output";
    std::uint64_t seed = 0;
    std::int64_t train_limit = 0; // 0: all images
    bool resume = false;
};

struct CommandLine {
    Options options;
    std::optional<int> exit_code; // set: exit with it; help or errors have been printed
};
// Parses the arguments, which exclude the program's name.
CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);
