// The device that specifies: host memory and Kernel::host, run at submit() one launch after the other, in
// an order within each epoch that a seeded generator shuffles.  It checks what a GPU would not: that
// launches touch live memory only, that what they declare as read keeps its bytes, and that nothing writes
// beside an allocation.
#pragma once
#include "device/device.hpp"

namespace reprise::device {

struct ReferenceOptions {
    std::uint64_t seed = 1;
    bool shuffle = true;
    bool check_reads = true;    // hashes declared reads before and after each launch
    bool check_operands = true; // each lies within one live allocation
    bool poison = true;         // allocations hold NaN bytes (0xFF) when made and when freed
    std::uint64_t memory_limit = std::uint64_t{16} << 30;
};

std::shared_ptr<Device> make_reference_device(const ReferenceOptions& = {});
Capabilities reference_capabilities(const ReferenceOptions&);

} // namespace reprise::device
