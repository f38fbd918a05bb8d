#include "ops/lowering.hpp"

#include "shape/rules.hpp"

namespace reprise::ops {

bool View::contiguous() const
{
    const shape::Strides want = shape::contiguous_strides(layout.sizes);
    for (std::size_t i = 0; i < want.size(); ++i)
        if (layout.sizes[i] != Dim(1) && layout.strides[i] != want[i]) return false;
    return true;
}

} // namespace reprise::ops
