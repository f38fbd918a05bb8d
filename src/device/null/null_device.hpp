// A device that accepts everything and computes nothing: plans are tested on it without a driver.  Its
// addresses are made up, its tickets are done at once, downloads give zeros.
#pragma once
#include "device/device.hpp"

namespace reprise::device {

struct NullOptions {
    // What plans shall believe: "lavapipe" with a slab and its views, "swiftshader", "gpu", or "null".
    std::string imitate = "null";
    std::uint64_t memory_bytes = std::uint64_t{64} << 30;
};

std::shared_ptr<Device> make_null_device(const NullOptions& = {});
Capabilities null_capabilities(const NullOptions&);

} // namespace reprise::device
