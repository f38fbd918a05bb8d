// The program's command line.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

struct Options {
    std::string task = "points";
    std::filesystem::path picture; // a PNG to learn; empty: the built-in picture
    std::int64_t batch = 128;
    std::int64_t width = 32;
    double slice = 4;      // milliseconds of training in a frame
    std::int64_t fps = 60; // at most; 0: as the display has it
    std::string gpu;       // a part of the device's name; empty: the best
    std::filesystem::path checkpoint = "desktop.safetensors";
    bool load = false;                 // starts from the checkpoint
    bool save = false;                 // saves at the end
    double seconds = 0;                // closes the window after this time; 0: never
    bool script = false;               // the tour
    bool barriers = false;             // between all launches of training
    std::filesystem::path screenshots; // a folder for pictures of the window; empty: none
};

struct CommandLine {
    Options options;
    std::optional<int> exit_code; // set: exit with it; help or errors have been printed
};
// Parses the arguments, which exclude the program's name.
CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);
