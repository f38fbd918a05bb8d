// A device that accepts everything and computes nothing, to test plans without a driver.  Its addresses are fictitious,
// its tickets are done immediately, and downloads return zeros.
#pragma once
#include "device/device.hpp"

namespace reprise::device {

struct NullOptions {
    // The device that plans are made for: "lavapipe" with a slab and its views, "native", which is lavapipe with native
    // code, "swiftshader", "gpu", or "null".
    std::string imitate = "null";
    std::uint64_t memory_bytes = std::uint64_t{64} << 30;
};

std::shared_ptr<Device> make_null_device(const NullOptions& = {});
Capabilities null_capabilities(const NullOptions&);

} // namespace reprise::device
