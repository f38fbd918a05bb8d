// Where a device's memory goes.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/device.hpp>

namespace reprise {

// A look at what a device counts all the time: making one costs nothing, and all of a device see the same figures.
class MemoryTracker {
public:
    MemoryTracker() : device_(default_device()) {}
    // Of the given device; without one of default_device().
    explicit MemoryTracker(Device device) : device_(std::move(device)) {}

    std::uint64_t current() const; // bytes allocated now: tensors, states and arenas of programs
    std::uint64_t peak() const;    // the most since the start or the last reset_peak()
    void reset_peak() const;       // for all trackers of the device: the peak is current() then

    // Bytes of values that backward passes will read and that checkpoints have not kept, of all graphs of eager code
    // that are alive.  With a layer's id (CheckpointOptions) of its checkpoints only; 0 where there are none, such as
    // for an id that was never given.
    std::uint64_t saved() const;
    std::uint64_t saved(const std::string& layer) const;         // of one layer's checkpoints
    std::map<std::string, std::uint64_t> saved_by_layer() const; // of layers whose graphs are alive
    std::vector<std::string> layers() const;                     // the same, ascending

private:
    Device device_;
};

// The most bytes that one evaluation of eager code on the device may hold beside what it reads: temporaries, workspaces and
// what it leaves (what was asked for, and what backward passes will read).  No value: no limit, as at the start.  Values
// are then dropped and made again as in a program (RecordOptions::memory_budget), and planning takes longer.  A loss that
// is read before backward() is an evaluation of its own, which leaves all that the backward pass reads: read it afterwards.
// An evaluation that no plan fits throws Error(out_of_memory) with the least that was found, and leaves all as it was.
void set_memory_budget(std::optional<std::uint64_t> bytes, const Device& = default_device());
// What was set; no value: no limit.
std::optional<std::uint64_t> memory_budget(const Device& = default_device());

} // namespace reprise
