#pragma once
#include <cstdint>
#include <string_view>

namespace reprise::kernels {

// FNV-1a with 64 bits, for names of files and kernels: the same on every platform.
class Hash {
public:
    void add(std::string_view text)
    {
        for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
        value_ = (value_ ^ 0xFFu) * 0x100000001B3u; // separates texts
    }
    void add(std::uint64_t number)
    {
        for (int i = 0; i < 8; ++i) value_ = (value_ ^ (number >> (8 * i) & 0xFFu)) * 0x100000001B3u;
    }
    std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0xCBF29CE484222325u;
};

} // namespace reprise::kernels
