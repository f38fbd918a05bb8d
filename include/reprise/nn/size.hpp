// Sizes of windows, one for each of an image's dimensions.
#pragma once
#include <cstddef>

#include <reprise/ops/window_sizes.hpp>

namespace reprise::nn {

// N numbers, outermost dimension first: {3, 5}, or 3 for all of them.
template <std::size_t N> using Sizes = WindowSizes<N>;

} // namespace reprise::nn
