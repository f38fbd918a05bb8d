// NCCL: collectives between the memories of CUDA devices.
#pragma once
#include <reprise/device.hpp>
#include <reprise/distributed/world.hpp>

namespace reprise::distributed {

// Lets NCCL 2.14 or newer run the collectives of the world on this device, a CUDA device that no other rank has.  Data
// then goes from device to device, and not through the host.  All ranks call it, before the first collective of the
// world.  The library (libnccl.so.2) is loaded at run time.  Sums are those of NCCL: the same devices and network give
// the same bits at each run, but not in the order of ranks; minima and maxima of NaN are as NCCL takes them.
//
// Throws on all ranks Error(unsupported) where one of them has no CUDA device or no NCCL, which it names (the world may
// then be used without NCCL), and Error(distributed) if NCCL can't connect them, such as two ranks on one card.
// Error(state) after a collective, or a second time.
void use_nccl(const World&, const Device&);

} // namespace reprise::distributed
