// What the steps of optimizers share: kernels over a parameter, its gradient and its moments that write the
// parameter and the moments in place, with numbers of one element each (a learning rate) that the host may
// know.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <reprise/ops/updates.hpp>

#include "graph/node.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// A node's inputs are of each parameter param, grad and its moments, then the numbers; its outputs of each parameter param
// and the moments.
struct StepNames {
    std::span<const char* const> moments; // the last ones may be absent
    std::span<const char* const> numbers;
    std::size_t least = 0; // moments
};
std::vector<std::vector<Tensor>> apply_step(
    const graph::Op&, const StepNames&, const std::vector<StepOf>&,
    std::initializer_list<std::reference_wrapper<const StepNumber>> numbers,
    graph::Attributes); // with "parameters": how many
graph::TensorTypes infer_step(const graph::Op&, const graph::InputTypes&, const graph::Attributes&,
                              const StepNames&);
template <const StepNames& names>
graph::TensorTypes infer_step(const graph::Op& op, const graph::InputTypes& in, const graph::Attributes& a)
{
    return infer_step(op, in, a, names);
}
std::size_t moments_of(const graph::Node&); // of each parameter
std::size_t moments_of(const ReferenceArguments&);

// A launch for each parameter.  Record: operands param, grad, places of moments, numbers, param', places of moments';
// floats numbers; ints first workgroup, count.  Specialization constants: members, a bit for each number that is read
// from memory, `flags`.
struct StepLaunch {
    static constexpr std::size_t absent =
        static_cast<std::size_t>(-1); // a place that the kernel does not touch
    std::vector<std::size_t> places;  // of the kernel's moments: the node's
    std::vector<std::uint32_t> flags;
};
void launch_step(Lowering&, const graph::Node&, const StepLaunch&);

// The formula for one element: changes p and its moments m, which follow each other.  g is the gradient,
// negated where the attribute "maximize" says so, plus `decay` times p.
using StepFormula = std::function<void(double& p, double g, double* m)>;
std::vector<double> step_numbers(const ReferenceArguments&);
void reference_step(const ReferenceArguments&, double decay, const StepFormula&);

} // namespace reprise::ops
