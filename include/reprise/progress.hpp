// How far a recording has come.
#pragma once
#include <cstddef>

namespace reprise {

// What record() does, in this order.  With a memory budget it plans and chooses kernels many times, and creates
// pipelines for each of its plans.
enum class RecordStage {
    plan,      // passes over the recorded ops
    kernels,   // chooses a kernel for each launch, and compiles those of fused chains
    pipelines, // the driver compiles kernels that the device has not run before (Vulkan)
};

// A report to RecordOptions::progress.  Kernels and pipelines begin with done = 0 and end with done = total.
struct RecordProgress {
    RecordStage stage = RecordStage::plan; // what record() is doing
    std::size_t done = 0;                  // launches or pipelines that are finished
    std::size_t total = 0;                 // their number; 0 for `plan`
};

} // namespace reprise
