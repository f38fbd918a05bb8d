// The threads of a block that wait for each other, as fibers of the calling thread.
#pragma once
#include <functional>

namespace cuda_emulation {

// Runs `thread` once for each of `threads`, with threadIdx set; forwards or backwards, so that what a missing barrier
// leaves to chance differs.  False where they can't all go on: one ended, or waits elsewhere, while others wait for it.
bool run_block(unsigned threads, bool backwards, const std::function<void()>& thread);

} // namespace cuda_emulation
