// Sizes of convolutions.
#pragma once
#include <array>

#include "ops/lowering.hpp"
#include "ops/records.hpp"

namespace reprise::kernels {

inline Dim image_of(const ops::View& v) { return v.sizes()[2] * v.sizes()[3] * v.sizes()[4]; } // elements

inline std::array<Dim, 3> image_sizes(const ops::View& v)
{
    return {v.sizes()[2], v.sizes()[3], v.sizes()[4]};
}
inline ops::records::Windows windows_of(const ops::ConvProblem& p)
{
    return {.in_size = image_sizes(p.x),
            .out_size = image_sizes(p.y),
            .kernel = image_sizes(p.weight),
            .stride = p.stride,
            .padding = p.padding,
            .dilation = p.dilation};
}

} // namespace reprise::kernels
