// What the samples' main() functions share.
#pragma once
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <string>
#include <utility>

#include <reprise/device.hpp>
#include <reprise/program.hpp>

inline constexpr int exit_interrupted = 130; // as shells have it

std::string device_text(const reprise::Device&); // name, description, kind
// "48.9 MiB": what a step holds at most, beside parameters and optimizer state.
std::string memory_text(const reprise::CallMemory&);
// "Results in FOLDER:", and a line for each file with what it is.
void print_results(const std::filesystem::path& folder,
                   std::initializer_list<std::pair<const char*, const char*>> files);
// A folder in which these files can be written: fails now, not after the training.
void make_folder(const std::filesystem::path&, std::initializer_list<const char*> files);

// A sample's main(): parses the command line, runs, and prints what is thrown.
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
