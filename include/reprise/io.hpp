// Tensors in files.
#pragma once
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
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
// On default_device() unless one is given.  Error(file) for a file that is missing, truncated, malformed
// or of another format, such as a .pt of torch.save().
std::map<std::string, Tensor> load_safetensors(const std::filesystem::path&,
                                               const std::optional<Device>& = std::nullopt);

// ---- modules, optimizers, schedules, state dicts, tensors: save(net, "net.safetensors"); load(net, "net.safetensors") ----
// A file of safetensors with the entries of state_dict(), or with one tensor called "tensor".
template <class T>
requires requires(const T& object) { object.state_dict(); }
void save(const T& object, const std::filesystem::path& path) { save_safetensors(path, object.state_dict()); }
template <class T> void save(const std::shared_ptr<T>& object, const std::filesystem::path& path)
{
    save(*object, path);
}
void save(const Tensor&, const std::filesystem::path&);
void save(const std::map<std::string, Tensor>&, const std::filesystem::path&);

namespace detail {
// f(), whose errors name the file.
void of_file(const std::filesystem::path&, const std::function<void()>& f);
} // namespace detail

// Takes over what save() wrote, by load_state_dict(): all or, with an Error that names the file, nothing.  On the devices
// that the object's parameters are on.
template <class T>
requires requires(T& object, const std::map<std::string, Tensor>& values) { object.load_state_dict(values); }
void load(T& object, const std::filesystem::path& path)
{
    const auto values = load_safetensors(path);
    detail::of_file(path, [&] { object.load_state_dict(values); });
}
template <class T> void load(const std::shared_ptr<T>& object, const std::filesystem::path& path)
{
    load(*object, path);
}
// The handle gets a new tensor, on default_device().  Error(file) where the file has not one tensor alone.
void load(Tensor&, const std::filesystem::path&);
void load(std::map<std::string, Tensor>&, const std::filesystem::path&);

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
