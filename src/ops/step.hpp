// What the steps of optimizers share: kernels over a parameter, its gradient and its moments that write the
// parameter and the moments in place, with numbers of one element each (a learning rate) that the host may
// know.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/node.hpp"
#include "ops/lowering.hpp"

namespace reprise::ops {

// A step's inputs by name, in the node's order: first tensors of one type, then numbers.
struct StepInputs {
    std::vector<const char*> tensors, numbers;
};
void check_step(const char* op, std::span<const graph::TensorType>, const StepInputs&);

// One launch.  Record: operands tensors, numbers, outputs; floats numbers, constants; ints first workgroup, count.
// Specialization constants: members, a bit for each number that is read from memory, `flags`.  An index of `absent`
// is a place that the kernel does not touch.
struct StepLaunch {
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);
    std::vector<std::size_t> tensors, numbers, outputs; // of the node
    std::vector<double> constants;
    std::vector<std::uint32_t> flags;
};
void launch_step(Lowering&, const graph::Node&, const StepLaunch&);

} // namespace reprise::ops
