// The device that defines correct results.  It uses host memory and runs Kernel::host at submit(), one launch after the
// other; a seeded generator shuffles the order within each epoch.  It checks what a GPU would not: that launches access
// live memory only, that operands declared as read are unchanged, and that nothing is written outside of an allocation.
#pragma once
#include "device/device.hpp"

namespace reprise::device {

std::shared_ptr<Device> make_reference_device(std::uint64_t seed = 1);
Capabilities reference_capabilities();

} // namespace reprise::device
