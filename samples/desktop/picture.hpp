// Pictures in files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <vulkan/vulkan.h>

namespace desktop {

// A picture of numbers from 0 to 1: red, green and blue of each pixel, rows from top to bottom.
struct Picture {
    std::int64_t width = 0, height = 0;
    std::vector<float> rgb;
};

// Reads a PNG, or a JPEG, and scales it down until neither side is above `longest`.  Throws std::runtime_error.
Picture read_picture(const std::filesystem::path&, std::int64_t longest);
// The built-in picture: a sunset behind mountains and a lake.
Picture sunset(std::int64_t side);

// Writes pixels of four bytes, red or blue first, as an opaque PNG.
void write_png(const std::filesystem::path&, const std::byte* pixels, VkExtent2D, bool blue_first);

} // namespace desktop
