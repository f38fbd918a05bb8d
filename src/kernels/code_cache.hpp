// SPIR-V of kernels that are made at run time: by text in memory, and by text, driver and device on disk.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "kernels/shader_compiler.hpp"

namespace reprise::kernels {

// Compiled at most once in a process, and not at all where the disk has it.  The name belongs to the text.
// Throws what compile_shader() throws; a disk that can't be read or written only costs time.
struct Code {
    std::string name;
    std::shared_ptr<const SpirV> words;
};
Code code_of(const std::string& text, const device::Capabilities&);
// Of a text that a user wrote.
Code code_of_user(const std::string& name, const std::string& text, const device::Capabilities&);

void set_code_cache(const std::filesystem::path& folder); // set_cache_directory() of program.hpp

std::uint64_t shader_compilations() noexcept; // by the compiler, since the process started
void forget_codes();                          // tests: as a new process

} // namespace reprise::kernels
