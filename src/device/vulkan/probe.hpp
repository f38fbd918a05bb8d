// Runs small kernels that some drivers compile wrongly (workarounds.hpp).
#pragma once
#include <string>
#include <vector>

namespace reprise::device {
class Device;
}

namespace reprise::device::vulkan {

struct PhysicalDevice;

// Returns a sentence for each fault that was found.  Drivers that are not known to have one are not probed.
std::vector<std::string> probe(Device&, const PhysicalDevice&);

} // namespace reprise::device::vulkan
