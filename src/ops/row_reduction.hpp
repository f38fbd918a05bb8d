// How rows with the same index are combined, by embedding.cpp and shaders/embedding_vjp.comp.
#pragma once
#include <cstdint>

namespace reprise::ops {

enum class RowReduction : std::uint8_t { sum, product, largest, smallest };

} // namespace reprise::ops
