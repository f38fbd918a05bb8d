// The memory use of a device, and limits for it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/device.hpp>

namespace reprise {

// Reads a device's memory counters.  The device always counts, so trackers cost nothing, and all trackers of one
// device return the same values.
class MemoryTracker {
public:
    // Tracks default_device().
    MemoryTracker() : device_(default_device()) {}
    // Tracks the given device.
    explicit MemoryTracker(Device device) : device_(std::move(device)) {}

    std::uint64_t current() const; // bytes allocated now: tensors, states and arenas of programs
    std::uint64_t peak() const;    // the largest current() since the start or the last reset_peak()
    void reset_peak() const;       // sets the peak to current(), for all trackers of the device

    // Returns the bytes that checkpoints save at present: the size of the values that backward passes will read
    // but that checkpoints did not store, in all existing graphs of eager code.
    std::uint64_t saved() const;
    // Returns saved() for the checkpoints of one layer (CheckpointOptions::layer); 0 for an unknown layer.
    std::uint64_t saved(const std::string& layer) const;
    // Returns saved() for each layer that has checkpoints in such graphs.
    std::map<std::string, std::uint64_t> saved_by_layer() const;
    std::vector<std::string> layers() const; // the ids of these layers, ascending

private:
    Device device_;
};

// Limits the bytes that one evaluation of eager code on the device may hold besides its inputs: temporaries,
// workspaces and results, including values that backward passes will read.  No value means no limit, which is
// the default.  To stay within the limit, values are dropped and recomputed, as in a program
// (RecordOptions::memory_budget); planning takes longer.  Read a loss after backward(): a loss that is read
// before is a separate evaluation, which stores all values that the backward pass reads.  Where no plan fits, the
// evaluation throws Error(out_of_memory) with the smallest number of bytes that was found, and changes nothing.
void set_memory_budget(std::optional<std::uint64_t> bytes, const Device& = default_device());
// Returns the limit that was set; no value where there is none.
std::optional<std::uint64_t> memory_budget(const Device& = default_device());

} // namespace reprise
