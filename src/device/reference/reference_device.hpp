// The device that specifies: host memory and Kernel::host, run at submit() one launch after the other, in
// an order within each epoch that a seeded generator shuffles.  It checks what a GPU would not: that
// launches touch live memory only, that what they declare as read keeps its bytes, and that nothing writes
// beside an allocation.
#pragma once
#include "device/device.hpp"

namespace reprise::device {

std::shared_ptr<Device> make_reference_device(std::uint64_t seed = 1);
Capabilities reference_capabilities();

} // namespace reprise::device
