// The interface of subcommands of `reprise`.  To add one, write a file with a function that adds it, declare that
// function here, and add it to the list in main.cpp.
#pragma once
#include <CLI/CLI.hpp>

namespace command {

// Thrown if the work was done and the answer is no: exit status 1 without a message.
struct Failed {};

// Adds the subcommand with its options; its callback does the work and prints to stdout.
using Add = void (*)(CLI::App& app);

void add_devices(CLI::App& app);
void add_verify(CLI::App& app);
void add_tune(CLI::App& app);

} // namespace command
