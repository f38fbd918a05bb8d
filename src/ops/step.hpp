// Functions shared by the optimizer steps: kernels that read a parameter, its gradient and its moments and write the
// parameter and the moments in place, each in its own dtype.  Their numbers, such as the learning rate, are tensors of
// one element whose value the host may have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include <reprise/ops/updates.hpp>

#include "graph/node.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// The inputs of a node are param, grad, the moments and, with the attribute "low", low of each parameter, then the
// numbers, of which `skip` is the last; its outputs are param, the moments and low of each parameter.
struct StepNames {
    std::span<const char* const> moments; // the last ones may be absent
    std::span<const char* const> numbers; // without skip
    std::size_t min_moments = 0;
    std::uint32_t non_negative = 0; // bit i is set where moment i is never negative, as an average of squares
};
struct StepCommon { // of all steps
    const StepNumber& skip;
    bool maximize, stochastic_rounding;
};
std::vector<std::vector<Tensor>> apply_step(
    const graph::Op&, const StepNames&, const std::vector<StepOf>&,
    std::initializer_list<std::reference_wrapper<const StepNumber>> numbers, const StepCommon&,
    const graph::Attributes::List& more = {}); // the step's own attributes
graph::TensorTypes infer_step(const graph::Op&, const graph::InputTypes&, const graph::Attributes&,
                              const StepNames&);
std::size_t moments_of(const graph::Node&); // number of moments per parameter
std::size_t moments_of(const ReferenceArguments&);

// The numbers as operands, which are null where the host has the value.
struct StepNumbers {
    std::vector<LaunchOperand> operands;
    std::vector<Scalar> floats;
    std::uint32_t in_memory = 0; // one bit per number
};
// Returns the numbers from input `first` on, for kernels that compute in the dtype `wide`: f32 or f64.
StepNumbers numbers_of(Lowering&, const graph::Node&, std::size_t first, DType wide);

// One launch per parameter, with the record and the specialization constants of shaders/common/step.glsl, then `flags`.
// The operands are param, grad, slots of moments, numbers, param', slots of moments', low, low'; the floats are the
// numbers.
struct StepLaunch {
    static constexpr auto absent = static_cast<std::size_t>(-1); // a slot that the kernel does not access
    std::vector<std::size_t> moments; // for each of the kernel's slots the index of the node's moment
    std::vector<std::uint32_t> flags;
};
void launch_step(Lowering&, const graph::Node&, const StepNames&, const StepLaunch&);

// The formula for one element updates p and the array m of its moments.  g is the gradient, negated if the attribute
// "maximize" is set, plus `decay` times p.  Where the last number is nonzero, the outputs are the inputs.
using StepFormula = std::function<void(double& p, double g, double* m)>;
std::vector<double> step_numbers(const ReferenceArguments&);
void reference_step(const ReferenceArguments&, const StepNames&, double decay, const StepFormula&);

} // namespace reprise::ops
