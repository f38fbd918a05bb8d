// Caches the code of kernels that are compiled at run time: in memory by text, and on disk by text, driver and device.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "kernels/shader_compiler.hpp"

namespace reprise::kernels {

// A text is compiled at most once per process, and not at all if the disk cache has it.  The name contains a hash of
// the text.  Throws the errors of compile_shader(); if the disk can't be read or written, that only costs time.
struct Code {
    std::string name;
    std::shared_ptr<const SpirV> words;
};
Code code_of(const std::string& text, const device::Capabilities&, const std::string& name = "fused");
// The same for a text that a user wrote.
Code code_of_user(const std::string& name, const std::string& text, const device::Capabilities&);

void set_code_cache(const std::filesystem::path& folder); // set_cache_directory() of program.hpp
std::filesystem::path code_cache();                       // empty: there is none

std::uint64_t shader_compilations() noexcept; // number since the process started, without cache hits
void forget_codes();                          // for tests: empties the cache in memory, as in a new process

} // namespace reprise::kernels
