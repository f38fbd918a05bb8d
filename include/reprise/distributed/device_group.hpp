// Several devices of one process that train together.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/distributed/world.hpp>

namespace reprise::distributed {

// Devices of this process, of any vendors.  Each is the rank of a world, with a thread of its own:
//
//     distributed::DeviceGroup group({Device("vulkan:0"), Device("vulkan:1"), Device("cuda:0")});
//     group.run([&](const World& world, const Device&) {
//         Net net; // on this rank's device
//         nn::DistributedDataParallel ddp(net, world);
//         ...
//         const auto [begin, end] = group.part(batch.x.size(0).value(), world.rank());
//         step(batch.x.narrow(0, begin, end - begin), ...);
//     });
//
// Gradients are summed in f32 in the order of the group.  Each rank's part of a batch has the size of its share, so
// that fast devices get more; with the same shares a run repeats to the same bits.
class DeviceGroup {
public:
    // Throws Error(argument) for no devices and for one that comes twice; Error(unsupported) for two of CUDA, which
    // need a process each.
    explicit DeviceGroup(std::vector<Device> devices);

    const std::vector<Device>& devices() const { return devices_; } // by rank
    int size() const { return static_cast<int>(devices_.size()); }  // number of devices

    // Calls f(world, device) for each rank at the same time, on a new thread whose default_device() is that device, and
    // returns when all calls have.  Each thread has a random generator of its own, which begins in the state of this
    // thread's; afterwards that has the state of rank 0's.  Each run is a new world.  Rethrows the first exception:
    // when a rank throws, it is gone for the others.  Error(state) while a function is recorded.
    void run(const std::function<void(const World&, const Device&)>& f) const;

    // Measures the speed of the devices and sets the shares to it.  Calls f(device), which computes some samples, waits
    // for them and returns how many they are, on all devices at the same time, in the threads of run(): once for
    // warm-up, then repeatedly for this time.  Random numbers that f draws are drawn again afterwards.  Throws what f
    // does; Error(argument) if it returns less than 1.
    void measure(const std::function<std::int64_t(const Device&)>& f,
                 std::chrono::milliseconds time = std::chrono::seconds(1));
    // Sets the shares, to repeat a run.  Throws Error(argument) unless there is a positive number for each device.
    void set_shares(std::vector<double> shares);
    // Returns the shares by rank.  Their sum is 1; at first all are alike.
    const std::vector<double>& shares() const { return shares_; }

    // Rows begin to end - 1 of a batch.
    struct Part {
        std::int64_t begin = 0; // the first row
        std::int64_t end = 0;   // the row after the last one
    };
    // Returns the part of a batch that a rank computes, at least one row if there are as many rows as ranks.  Throws
    // Error(argument) for a negative number of rows and a rank that does not exist.
    Part part(std::int64_t rows, int rank) const;

    // Returns a line for each device: its name, share and, after measure(), speed in samples per second.
    std::string description() const;

private:
    std::vector<Device> devices_;
    std::vector<double> shares_, speeds_;
};

} // namespace reprise::distributed
