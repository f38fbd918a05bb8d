// The sample's command line.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace bert_lora {

struct Options {
    std::filesystem::path data = "/usr/share/games/fortunes"; // of Debian's package fortunes
    std::vector<std::string> topics = {"computers", "definitions", "food",        "law",
                                       "politics",  "science",     "songs-poems", "startrek"};
    std::filesystem::path base; // folder of a model in Hugging Face's format; empty: pre-train one
    std::vector<std::string> methods = {"qlora"};
    std::int64_t epochs = 4, base_epochs = 3;
    std::int64_t batch = 16, longest = 64;                      // texts; tokens
    std::int64_t features = 128, layers = 2, vocabulary = 4096; // of a base that is pre-trained
    std::int64_t rank = 8;
    std::string weights = "q4_0";   // the format of the frozen weights of qlora
    std::string precision = "bf16"; // of products and attention: f32 or bf16
    // MiB of temporaries of a fine-tuning step; 0: without a base 0.6 of what adapters take, else no limit
    double budget = 0;
    double rate = 0;        // highest learning rate of fine-tuning; 0: by the method
    std::int64_t steps = 0; // maximum number of steps of each training; 0: no limit
    bool resume = false;
    std::string device; // empty: the best
    std::filesystem::path out = "bert-lora-output";
    std::uint64_t seed = 0;
};

struct CommandLine {
    Options options;
    std::optional<int> exit_code; // set: exit with it; help or errors have been printed
};
// Parses the arguments, which exclude the program's name.
CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);

} // namespace bert_lora
