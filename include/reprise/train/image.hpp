// Tensors as PNG images.
#pragma once
#include <filesystem>
#include <string>

#include <reprise/tensor.hpp>

namespace reprise::train {

// Returns a PNG of an image [height, width] or [channels, height, width], with 1 (grey), 3 (red, green, blue) or 4
// channels (and alpha); [n, channels, height, width] are n images in rows of 8, with 2 pixels of zeros around each.
// Elements are u8, or floating from 0 to 1: others are clamped, NaN is 0.  Waits for the elements.  Throws
// Error(argument) for an undefined tensor, Error(dtype) for other dtypes, and Error(shape) for other shapes, images
// without elements and pictures of 1 GiB or more.
std::string to_png(const Tensor& image);
// Writes the PNG to a file, in full or, with Error(file), not at all.
void save_png(const std::filesystem::path&, const Tensor& image);

} // namespace reprise::train
