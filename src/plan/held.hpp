// How a device's memory holds values.
#pragma once
#include <reprise/dtype.hpp>

#include "device/device.hpp"

namespace reprise::plan {

// Where kernels compute, i64 has 32 bits.
inline DType held_as(DType t, const device::Capabilities& caps)
{
    return t == i64 && !caps.host_kernels ? i32 : t;
}

} // namespace reprise::plan
