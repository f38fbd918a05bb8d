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
        std::string problem;               // "matmul f32 1024 x 1024 x 512"
        double small_ms = 0, large_ms = 0; // a launch with tiles of 64 x 64 elements, and with 128 x 128
        bool equal = true;                 // whether both gave the same bits
    };
    std::vector<Row> rows; // empty: the device's kernels have one variant each
    std::string chosen;    // a sentence
};

// Times the variants of matrix products on the device and compares their results bit by bit.  The choice is stored in
// the folder of set_cache_directory(), for the device's name, its driver and this version of the kernels; plans that
// any process makes later use it.  It never changes a result: a variant that gave other bits is not chosen.  It takes
// seconds on a GPU and up to 0.5 GiB of its memory.
//
// `progress` is called before each problem with its number, how many there are, and its name.  Errors: those of
// record() and of calls; std::exception if the choice can't be stored.
using TuningProgress = std::function<void(std::size_t, std::size_t, const std::string&)>;
TuningReport tune(const Device&, const TuningProgress& progress = {});

} // namespace reprise
