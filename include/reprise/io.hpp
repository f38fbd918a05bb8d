// Tensors in files.
#pragma once
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// safetensors, as the Python package of that name reads and writes it; every dtype.  Written to a temporary
// file in the same folder and then renamed: the file is whole or as it was before.
void save_safetensors(const std::filesystem::path&, const std::map<std::string, Tensor>&);
// On default_device() unless one is given.  Error(file) for a file that is missing, truncated or malformed.
std::map<std::string, Tensor> load_safetensors(const std::filesystem::path&,
                                               const std::optional<Device>& = std::nullopt);

// The elements, row-major, as from_bytes() takes them.  Waits for the device.
std::vector<std::byte> to_bytes(const Tensor&);

// Writes a file whole or not at all: nothing is there under its name before commit(), and without commit()
// what was there before stays.
class WholeFile {
public:
    explicit WholeFile(std::filesystem::path); // throws Error(file) where the folder can't be written
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;
    void write(std::span<const std::byte>);
    void write(std::string_view);
    void commit();

private:
    [[noreturn]] void fail(const char* what) const;
    std::filesystem::path path_, temporary_;
    std::FILE* file_ = nullptr;
};

} // namespace reprise
