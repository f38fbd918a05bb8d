// Saving tensors to files and loading them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>
#include <reprise/whole_file.hpp>

namespace reprise {

// Options of save_safetensors().
struct SaveOptions {
    // Where the tensors have more bytes than this, they are written to several files, each with at most so
    // many unless one tensor alone has more: model-00001-of-00003.safetensors and so on for
    // model.safetensors, and last their index, model.safetensors.index.json.
    std::uint64_t max_shard_bytes = std::numeric_limits<std::uint64_t>::max();
    // Texts about the model for each file: {{"format", "pt"}} is what Hugging Face's transformers needs.
    std::map<std::string, std::string> metadata{};
};

// Writes tensors of any dtype to a file in the safetensors format, which the Python package of that name
// reads.  The data goes to a temporary file in the same folder, which is then renamed, so that an existing
// file does not change after a failure.  Waits for the values.  Throws Error(file) where the file cannot be
// written; Error(argument) for an undefined tensor, or for a text that is no UTF-8.
void save_safetensors(const std::filesystem::path&, const std::map<std::string, Tensor>&,
                      const SaveOptions& = {});
// Writes the same to a stream.  Throws Error(file) where the stream fails.
void save_safetensors(std::ostream&, const std::map<std::string, Tensor>&);
// Reads a safetensors file, the index of several, or a folder with either, as ModelFile does: its tensors by
// name, on default_device() unless a device is given.  Throws Error(file) for a file that is missing,
// truncated, malformed or of another format, such as a .pt file of torch.save(); Error(unsupported) for a
// dtype that the device does not have.
std::map<std::string, Tensor> load_safetensors(const std::filesystem::path&,
                                               const std::optional<Device>& = std::nullopt);
// Reads the same from a stream, which may contain more data after it.
std::map<std::string, Tensor> load_safetensors(std::istream&, const std::optional<Device>& = std::nullopt);

// ---- NumPy's files: numpy.save() and numpy.savez() write them, numpy.load() reads them ----
// Writes an array (.npy).  Throws Error(dtype) for bf16, which NumPy does not have; Error(file) where the file can't be
// written; Error(argument) for an undefined tensor.  The file is written as by save_safetensors().
void save_npy(const std::filesystem::path&, const Tensor&);
// Reads an array, in either order of elements and either order of bytes, on default_device() unless a device is given.
// Throws Error(file) for a file that is missing, truncated or malformed; Error(dtype) for elements of a type that the
// library does not have, such as u16 or texts; Error(unsupported) for a dtype that the device does not have.
Tensor load_npy(const std::filesystem::path&, const std::optional<Device>& = std::nullopt);
// Writes arrays by name (.npz), stored or compressed.  Errors as of save_npy(); Error(file) for 4 GiB and more.
void save_npz(const std::filesystem::path&, const std::map<std::string, Tensor>&, bool compressed = false);
// Reads all arrays of an archive, stored or compressed.  Errors as of load_npy().
std::map<std::string, Tensor> load_npz(const std::filesystem::path&,
                                       const std::optional<Device>& = std::nullopt);

// ---- modules, optimizers, schedules, state dicts, tensors: save(net, path); load(net, path) ----
// ---- each also to and from a stream: save(net, stream); load(net, stream) ----
// Saves an object's state_dict() as a safetensors file.
template <class T>
requires requires(const T& object) { object.state_dict(); }
void save(const T& object, const std::filesystem::path& path) { save_safetensors(path, object.state_dict()); }
// The same to a stream.
template <class T>
requires requires(const T& object) { object.state_dict(); }
void save(const T& object, std::ostream& stream) { save_safetensors(stream, object.state_dict()); }
// The same for a shared pointer to an object.
template <class T> void save(const std::shared_ptr<T>& object, const std::filesystem::path& path)
{
    save(*object, path);
}
// The same for a shared pointer to an object.
template <class T> void save(const std::shared_ptr<T>& object, std::ostream& stream)
{
    save(*object, stream);
}
// Saves one tensor, under the name "tensor".
void save(const Tensor&, const std::filesystem::path&);
void save(const Tensor&, std::ostream&); // the same
// Saves tensors by name, as save_safetensors().
void save(const std::map<std::string, Tensor>&, const std::filesystem::path&);
void save(const std::map<std::string, Tensor>&, std::ostream&); // the same
// Saves a list of tensors, under the names "0", "1" and so on.
void save(const std::vector<Tensor>&, const std::filesystem::path&);
void save(const std::vector<Tensor>&, std::ostream&); // the same
// The same for tensors in braces.
void save(std::initializer_list<Tensor>, const std::filesystem::path&);
void save(std::initializer_list<Tensor>, std::ostream&); // the same

namespace detail {
// Calls f() and adds the name of the file to its errors.
void of_file(const std::filesystem::path&, const std::function<void()>& f);
} // namespace detail

// Loads a file that save() wrote, by the object's load_state_dict(), onto the devices of the object's
// parameters.  Errors are those of load_safetensors() and load_state_dict(), and name the file; the object
// does not change then.
template <class T>
requires requires(T& object, const std::map<std::string, Tensor>& values) { object.load_state_dict(values); }
void load(T& object, const std::filesystem::path& path)
{
    const auto values = load_safetensors(path);
    detail::of_file(path, [&] { object.load_state_dict(values); });
}
// The same from a stream.
template <class T>
requires requires(T& object, const std::map<std::string, Tensor>& values) { object.load_state_dict(values); }
void load(T& object, std::istream& stream) { object.load_state_dict(load_safetensors(stream)); }
// The same for a shared pointer to an object.
template <class T> void load(const std::shared_ptr<T>& object, const std::filesystem::path& path)
{
    load(*object, path);
}
// The same for a shared pointer to an object.
template <class T> void load(const std::shared_ptr<T>& object, std::istream& stream)
{
    load(*object, stream);
}
// Sets the handle to a new tensor on default_device().  Throws Error(file) where the file does not have
// exactly one tensor.
void load(Tensor&, const std::filesystem::path&);
void load(Tensor&, std::istream&); // the same
// Replaces the map by the file's tensors, on default_device().
void load(std::map<std::string, Tensor>&, const std::filesystem::path&);
void load(std::map<std::string, Tensor>&, std::istream&); // the same
// Replaces the list by the file's tensors, on default_device().  Throws Error(file) where the file was not
// saved from a list.
void load(std::vector<Tensor>&, const std::filesystem::path&);
void load(std::vector<Tensor>&, std::istream&); // the same

} // namespace reprise
