// What a subcommand of `reprise` is.  To add one: a file with a function that adds it, its line here, and
// its row in main.cpp.
#pragma once
#include <CLI/CLI.hpp>

namespace command {

// The work was done, and its answer is no: exit status 1 without a message.
struct Failed {};

// Adds the subcommand with its options; its callback does the work and prints to stdout.
using Add = void (*)(CLI::App& app);

void add_devices(CLI::App& app);
void add_verify(CLI::App& app);

} // namespace command
