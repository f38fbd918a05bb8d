// A kernel that a user wrote, as a node has it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace reprise {
struct KernelOptions; // autograd/kernel.hpp
}

namespace reprise::graph {

// Of one call.
struct UserKernel {
    std::shared_ptr<const KernelOptions> options;
    std::string name;                                        // of the code
    std::shared_ptr<const std::vector<std::uint32_t>> words; // null on the reference device
    std::vector<double> floats;
};

} // namespace reprise::graph
