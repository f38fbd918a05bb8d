// Ways to join rows of one place: embedding.cpp, shaders/embedding_vjp.comp.
#pragma once
#include <cstdint>

namespace reprise::ops {

enum class RowReduction : std::uint8_t { sum, product, largest, least };

} // namespace reprise::ops
