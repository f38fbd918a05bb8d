// Measures what drivers do and do not say.
#pragma once
#include <string>
#include <vector>

namespace reprise::device {
class Device;
}

namespace reprise::device::vulkan {

struct PhysicalDevice;

struct ProbeResults {
    bool flushes_subnormals = false;
    bool fuses_fma = false;            // GLSL's fma() rounds once
    bool rounds_division = false;      // quotients and square roots are rounded correctly
    bool unpacks_subnormals = false;   // GLSL's unpackHalf2x16() keeps subnormal numbers
    std::vector<std::string> warnings; // a sentence for each fault, for Capabilities
};

// Runs shaders/probe.comp once, which takes a submission.
ProbeResults probe(Device&, const PhysicalDevice&);

} // namespace reprise::device::vulkan
