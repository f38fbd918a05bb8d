// The sample's command line.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace char_gpt {

struct Options {
    std::int64_t epochs = 20;
    std::int64_t batch = 32;
    std::int64_t features = 128, layers = 4;
    std::int64_t steps = 0; // maximum number of steps; 0: no limit
    std::int64_t sentences = 5, longest = 250;
    double temperature = 0.7;
    std::string precision = "f32"; // of products and attention: f32, bf16 or f16
    std::string device;            // empty: the best
    std::filesystem::path text;    // empty: proverbs.txt in the folder of the sources
    std::filesystem::path out = "char-gpt-output";
    std::uint64_t seed = 0;
    bool resume = false, nccl = false;
};

struct CommandLine {
    Options options;
    std::optional<int> exit_code; // set: exit with it; help or errors have been printed
};
// Parses the arguments, which exclude the program's name.
CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);

} // namespace char_gpt
