// A GPU for tests, simulated on the host: it runs the SPIR-V of kernels lane by lane, and checks each access.
//
// A submission throws Error(internal), which names the kernel with its constants, the workgroup and the lane, if a lane
//   - accesses memory outside of the operand that the address was computed from, or in a way that the launch does not
//     declare, or with another alignment than the instruction promises;
//   - accesses a word of shared memory that another one writes, without a barrier between, or that no lane has written;
//   - accesses memory of the device that another lane of the launch writes;
//   - waits at a barrier that not all lanes reach;
//   - divides an integer by 0, or shifts one by its width or more.
// It has no slab, no texels and no cooperative matrices.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "counts.hpp"
#include "device/device.hpp"
#include "launch.hpp"

namespace reprise::simulator {

// What was counted for the launches of one kernel (Options::counts).
struct Counted {
    std::string kernel; // its name
    std::vector<std::uint32_t> constants;
    std::uint64_t launches = 0, groups = 0; // groups: of all launches, including those that were not sampled
    KernelCounts counts;
};

class Simulator : public device::Device {
public:
    // Ascending by name and constants.
    virtual std::vector<const Counted*> counted() const = 0;
    virtual void clear_counts() = 0;
};

std::shared_ptr<Simulator> make_simulator(const Options& = {});

} // namespace reprise::simulator
