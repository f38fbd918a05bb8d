// Work of the host on all of its cores.
#pragma once
#include <cstddef>
#include <functional>

namespace reprise::detail {

// The number of threads that parallel_for() uses, at most: one for each core, but no more than max(LP_NUM_THREADS, 1),
// the variable with which users limit lavapipe; 1 if the process may start none.  It is read at the first call.
std::size_t parallel_threads();

// Calls body(0) to body(count - 1), each once, on the calling thread and others, and returns when all have ended.  If
// some throw, the rest is left out, and the first exception is rethrown.  Calls from several threads take turns.  The
// body runs in the default floating-point environment, and must not call parallel_for().
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

} // namespace reprise::detail
