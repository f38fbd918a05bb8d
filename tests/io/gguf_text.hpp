// Builds GGUF files as text.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gguf_text {

template <class T> std::string le(T value)
{
    std::string out(sizeof(T), '\0');
    std::memcpy(out.data(), &value, sizeof(T));
    return out;
}

inline std::string text(const std::string& content) { return le<std::uint64_t>(content.size()) + content; }

// The types of values by their numbers.
namespace type {
enum : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, list, u64, i64, f64 };
} // namespace type

inline std::string value(const std::string& key, std::uint32_t type, const std::string& content)
{
    return text(key) + le(type) + content;
}

inline std::string list_of(std::uint32_t type, std::uint64_t count, const std::string& content)
{
    return le(type) + le(count) + content;
}

// Sizes begin with the innermost one.
inline std::string entry(const std::string& name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
                         std::uint64_t offset)
{
    std::string out = text(name) + le(static_cast<std::uint32_t>(sizes.size()));
    for (const std::uint64_t size : sizes) out += le(size);
    return out + le(type) + le(offset);
}

struct Options {
    std::uint32_t version = 3;
    std::size_t alignment = 32;
};

inline std::string file(const std::vector<std::string>& values, const std::vector<std::string>& tensors,
                        const std::string& data, const Options& options = {})
{
    std::string out =
        "GGUF" + le(options.version) + le<std::uint64_t>(tensors.size()) + le<std::uint64_t>(values.size());
    for (const std::string& v : values) out += v;
    for (const std::string& t : tensors) out += t;
    out.resize((out.size() + options.alignment - 1) / options.alignment * options.alignment, '\0');
    return out + data;
}

} // namespace gguf_text
