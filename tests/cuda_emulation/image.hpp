// What the emulated NVRTC makes and the emulated driver loads: a shared library behind its size.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>

namespace cuda_emulation {

constexpr char image_mark[8] = {'r', 'p', 'i', 'm', 'a', 'g', 'e', '1'};

inline std::string image_of(const std::string& library)
{
    const std::uint64_t bytes = library.size();
    std::string image(image_mark, sizeof image_mark);
    image.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    return image + library;
}

// Empty for any other image.
inline std::string library_of(const void* image)
{
    const auto* from = static_cast<const char*>(image);
    if (std::memcmp(from, image_mark, sizeof image_mark) != 0) return {};
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, from + sizeof image_mark, sizeof bytes);
    return {from + sizeof image_mark + sizeof bytes, bytes};
}

} // namespace cuda_emulation
