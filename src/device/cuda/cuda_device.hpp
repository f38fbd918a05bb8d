// NVIDIA GPUs, used through the CUDA driver API.
#pragma once
#include "device/device.hpp"
#include "device/options.hpp"

namespace reprise::device::cuda {

// Lists the devices in the driver's order, "cuda:0" first.  A machine without the driver, or a build without CUDA, has
// one entry named "cuda" that says so.
std::vector<Listed> find_devices();

std::string product_library(); // "cuBLASLt 13.0.2"; empty: there is none

std::shared_ptr<Device> open_device(std::size_t number, const DeviceOptions&);

} // namespace reprise::device::cuda
