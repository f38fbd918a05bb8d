// Devices that are the application's.
#pragma once
#include <memory>

#include "device/device.hpp"

namespace reprise::runtime {

// Nothing of the device is touched when the process ends: the application may have destroyed it by then.
void leave_at_the_end(const std::shared_ptr<device::Device>&);

} // namespace reprise::runtime
