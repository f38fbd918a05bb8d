// The devices of this process, by the names that users write: "cuda:0", "vulkan:0", "vulkan:1", "reference", "null".
// "cuda" means the first usable CUDA device, "vulkan" the best usable Vulkan device.  Vulkan devices are ordered
// discrete, integrated, virtual, CPU (lavapipe before SwiftShader).
#pragma once
#include "device/device.hpp"
#include "device/options.hpp"

namespace reprise::device {

// Lists all devices, best first, the reference and the null device last.  A machine without Vulkan, or CUDA, has one
// entry that says why.  Drivers are queried once per process, and again after reset().
std::vector<Listed> enumerate();

// The id of the best usable device: the first CUDA device, else the best Vulkan device, else "reference".
std::string default_id();

// Returns the same object for the same name as long as it lives, or until reset().  The options apply only when the
// device is created.  Throws Error(device), with all available names, for an unknown name.
std::shared_ptr<Device> open(const std::string& id, const DeviceOptions& = {});

// Makes the next open() create a new device, for use after a device was lost.  Holders of the old device keep it.
// Throws Error(device) for an unknown name.
void reset(const std::string& id);

} // namespace reprise::device
