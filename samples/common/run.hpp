// Helpers of the samples' main() functions.
#pragma once
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <string>
#include <utility>

#include <reprise/device.hpp>
#include <reprise/program.hpp>

inline constexpr int exit_interrupted = 130; // 128 + SIGINT, as in shells

std::string device_text(const reprise::Device&); // name, description, kind
// "48.9 MiB": the peak memory of a step, without parameters and optimizer state.
std::string memory_text(const reprise::CallMemory&);
// Prints "Results in FOLDER:" and one line per file with its description.
void print_results(const std::filesystem::path& folder,
                   std::initializer_list<std::pair<const char*, const char*>> files);
// Creates the folder and checks that these files can be written, so that it fails before the training, not after it.
void make_folder(const std::filesystem::path&, std::initializer_list<const char*> files);

// Throws Error(argument) unless the part "signature" of the checkpoint is this text, which describes a run.
void require_same_run(const std::filesystem::path& checkpoint, const std::string& signature);

// Implements main() of a sample: parses the command line, runs, and prints exceptions.
template <class Parse, class Run> int run_main(int argc, char** argv, const Parse& parse, const Run& run)
{
    const auto line = parse({argv + 1, argv + argc}, std::cout, std::cerr);
    if (line.exit_code) return *line.exit_code;
    try {
        return run(line.options);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
