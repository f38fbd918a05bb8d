// The devices of this process, by the names that users write: "cuda:0", "vulkan:0", "vulkan:1", "reference", "null".
// "cuda" is the first CUDA device, "vulkan" the best Vulkan device: discrete, integrated, virtual, CPU (lavapipe before
// SwiftShader).
#pragma once
#include "device/device.hpp"
#include "device/options.hpp"

namespace reprise::device {

// Best first, the reference and the null device last.  A machine without Vulkan, or CUDA, has one entry that says why.
// Drivers are asked once in a process; reset() asks anew.
std::vector<Listed> enumerate();

// The best device that there is: "cuda:0", else "vulkan:0", or "reference" where neither serves.
std::string default_id();

// The same object for the same name as long as it lives, or until reset(); options count when it is made.
// Throws Error(device) with all the names there are for one that is not among them.
std::shared_ptr<Device> open(const std::string& id, const DeviceOptions& = {});

// The next open() makes a new device: after a device was lost.  Who holds the old one keeps it.  Throws
// Error(device) for a name that is not among them.
void reset(const std::string& id);

} // namespace reprise::device
