// What the samples' main() functions share.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <string>

#include <reprise/device.hpp>

inline constexpr int exit_interrupted = 130; // as shells have it

std::string device_text(const reprise::Device&); // name, description, kind
// A folder in which these files can be written: fails now, not after the training.
void make_folder(const std::filesystem::path&, std::initializer_list<const char*> files);
