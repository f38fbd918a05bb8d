// What the kernels of convolutions are told of sizes.
#pragma once
#include "ops/lowering.hpp"

namespace reprise::kernels {

inline Dim image_of(const ops::View& v) { return v.sizes()[2] * v.sizes()[3] * v.sizes()[4]; } // elements

// Three each: D H W of x, of y, of the weight; stride, padding, dilation.
inline void add_windows(DimVector& ints, const ops::ConvProblem& p)
{
    for (const ops::View* v : {&p.x, &p.y, &p.weight})
        ints.insert(ints.end(), v->sizes().begin() + 2, v->sizes().end());
    for (const auto& sizes : {p.stride, p.padding, p.dilation})
        ints.insert(ints.end(), sizes.begin(), sizes.end());
}

} // namespace reprise::kernels
