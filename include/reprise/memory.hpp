// Where a device's memory goes.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <reprise/device.hpp>

namespace reprise {

// A look at what a device counts all the time: making one costs nothing, and all of a device see the same figures.
class MemoryTracker {
public:
    MemoryTracker() : device_(default_device()) {}
    explicit MemoryTracker(Device device) : device_(std::move(device)) {}

    std::uint64_t current() const; // bytes allocated now: tensors, states and arenas of programs
    std::uint64_t peak() const;    // the most since the start or the last reset_peak()
    void reset_peak() const;

    // Bytes of values that backward passes will read and that checkpoints have not kept, of all graphs of eager code
    // that are alive.  With a layer's id (CheckpointOptions) of its checkpoints only: Error(argument) where no
    // checkpoint of this device had it yet.
    std::uint64_t saved() const;
    std::uint64_t saved(const std::string& layer) const;
    std::vector<std::string> layers() const; // ascending

private:
    Device device_;
};

} // namespace reprise
