// Matrix products in native code, computed in f32.
#pragma once
#include "device/native/elements.hpp"
#include "device/native/tiles.hpp"

namespace reprise::device::native {

// C[o][i] = A[o][i] B[o][i] for o < outers and i < inners.  Strides are in elements.  The columns of C are
// contiguous; C overlaps no input.
struct Product {
    std::int64_t outers = 1, inners = 1, m = 0, n = 0, k = 0;
    struct Operand {
        Elements elements{};
        std::int64_t outer = 0, inner = 0, row = 0, column = 0; // strides
    };
    Operand a{}, b{};
    Elements c{}, bias{}; // bias: [n], added to each row of the sums; may be absent
    std::int64_t c_outer = 0, c_inner = 0, c_row = 0; // strides
};

// The number of parts into which k is split where there are few elements of C: each is summed on its own, and the sums
// are added in order.  A function of sizes only, so that results don't depend on the number of threads.
std::int64_t parts_of(std::int64_t elements, std::int64_t chunks);

void multiply(const Tile&, const Product&);

} // namespace reprise::device::native
