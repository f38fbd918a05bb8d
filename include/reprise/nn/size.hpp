// Sizes of windows.
#pragma once
#include <cstddef>

#include <reprise/ops/window_sizes.hpp>

namespace reprise::nn {

template <std::size_t N> using Sizes = WindowSizes<N>;

} // namespace reprise::nn
