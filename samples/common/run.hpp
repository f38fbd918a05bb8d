// What the samples' main() functions share.
#pragma once
#include <filesystem>
#include <string>

#include <reprise/device.hpp>

inline constexpr int exit_interrupted = 130; // as shells have it

std::string device_text(const reprise::Device&); // name, description, kind
// A folder for results that can be written: fails now, with `file` as the probe, and not after the training.
void make_folder(const std::filesystem::path&, const std::string& file);
