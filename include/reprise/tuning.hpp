// Measures which variants of the library's kernels are fastest on a device.  Not part of reprise.hpp: `reprise tune`
// does it for all programs of a user.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <reprise/device.hpp>

namespace reprise {

// What tune() found.
struct TuningReport {
    // A problem, computed by each variant that its kernel has.
    struct Row {
        std::string problem; // "matmul f32 1024 x 256 x 2048": rows, inner size, columns
        double small_ms = 0; // its time with tiles of 64 x 64 elements
        double large_ms = 0; // with tiles of 128 x 128
        bool equal = true;   // whether both gave the same bits
    };
    std::vector<Row> rows; // empty: the device's kernels have one variant each
    std::string chosen;    // sentences
};

// Called before each problem with the number of problems that are done, how many there are, and the problem's name; at
// the end with an empty name.
using TuningProgress = std::function<void(std::size_t, std::size_t, const std::string&)>;

// Times the variants of matrix products on the device and compares their results bit by bit.  The choice is stored in
// the folder of set_cache_directory(), for the device's name, its driver and this version of the kernels.  Plans that
// this process makes later use it, and those of processes that begin later.  It never changes a result: the variants
// give the same bits, and one that did not is not chosen.  It takes seconds on a GPU and up to 0.1 GiB of its memory.
// Errors: those of record() and of calls; argument if there is no cache folder; std::exception if the choice can't be
// stored.
TuningReport tune(const Device&, const TuningProgress& progress = {});

} // namespace reprise
