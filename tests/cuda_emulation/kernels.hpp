// The kernels that are compiled into the emulation, and running them.
#pragma once
#include <string>
#include <vector>

#include "cuda_emulation/kernel.hpp"

namespace cuda_emulation {

struct Kernel {
    std::string name;
    LaunchShape shape;
    KernelFunction function;
    bool cooperative; // its threads wait for each other
    std::uint64_t launches = 0;
};

Kernel* find_kernel(const std::string& name); // null: there is none
std::vector<const Kernel*> all_kernels();

// All blocks of a grid of one dimension, one after the other; false where the threads of one wait for what never comes.
bool run(Kernel&, unsigned blocks, const void* record, const void* constants);

} // namespace cuda_emulation
