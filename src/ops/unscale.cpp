// unscale: multiplies gradients by a number, with one launch for each, and notes which are not finite.
#include <algorithm>
#include <cmath>

#include <reprise/ops/reductions.hpp>
#include <reprise/ops/updates.hpp>

#include "graph/cell.hpp"
#include "ops/launch_where.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/step.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr std::int64_t elements_of_group = 4096; // as in common/step.glsl

// At least one, so that there is a flag.
Dim groups_of(const graph::TensorType& t)
{
    return max(1, ceil_div(shape::element_count(t.shape), elements_of_group));
}

// The inputs are the gradients, then the factor; the outputs the products, then a flag for each workgroup.
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    TensorTypes out;
    Dim groups = 0;
    for (std::size_t i = 0; i + 1 < in.size(); ++i) {
        require_floating(op.name, in[i].dtype);
        out.push_back(in[i]);
        groups += groups_of(in[i]);
    }
    const graph::TensorType& factor = in[in.size() - 1];
    if (!is_floating(factor.dtype) || !same(shape::element_count(factor.shape), 1))
        detail::fail(ErrorKind::shape, op.name, "The factor is ", name_of(factor.dtype),
                     to_string(factor.shape), ": give one number of dtype f32.");
    out.push_back({f32, {groups}});
    return out;
}

void lower(Lowering& l, const Node& n)
{
    const std::size_t count = n.outputs.size() - 1;
    StepNumbers in_f32, in_f64;
    View flags = l.output(count);
    for (std::size_t i = 0; i < count; ++i) {
        const graph::TensorType& type = n.outputs[i];
        require_floating_kernel(n.op->name, type.dtype);
        const bool f64s = type.dtype == f64;
        StepNumbers& numbers = f64s ? in_f64 : in_f32;
        if (numbers.operands.empty()) numbers = numbers_of(l, n, count, f64s ? f64 : f32);
        const Dim groups = groups_of(type);
        const auto dtype = static_cast<std::uint32_t>(type.dtype);
        flags.layout.sizes = {groups};
        launch_with_texels(l, 1,
                           {.kernel = n.op->name,
                            .constants = {1, numbers.in_memory, dtype, dtype}, // PARAM: of the product; GRAD
                            .operands = {{l.contiguous(l.input(i)), Use::read},
                                         numbers.operands[0],
                                         {l.output(i), Use::write},
                                         {flags, Use::write}},
                            .floats = numbers.floats,
                            .ints = {0, shape::element_count(type.shape)},
                            .groups = groups,
                            .in_place = true,
                            .batches = true,
                            .disjoint = true,
                            .converts = {{0, 3}}}); // the gradient: GRAD
        flags.layout.offset += groups;
        l.written(i);
    }
}

void reference(const ReferenceArguments& a)
{
    const std::size_t count = a.outputs.size() - 1;
    const double factor = a.inputs[count].at(0);
    std::int64_t flag = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t elements = a.outputs[i].count();
        const std::int64_t flags =
            std::max<std::int64_t>(1, (elements + elements_of_group - 1) / elements_of_group);
        for (std::int64_t k = 0; k < flags; ++k) a.outputs[count].put(flag + k, 0);
        for (std::int64_t k = 0; k < elements; ++k) {
            const double g = a.inputs[i].at(k);
            if (!std::isfinite(g)) a.outputs[count].put(flag + k / elements_of_group, 1);
            a.outputs[i].put(k, g * factor);
        }
        flag += flags;
    }
}

} // namespace

const Op unscale_op{.name = "unscale",
                    .infer = infer,
                    .lower = lower,
                    .reference = reference,
                    .narrow = true,
                    .doubles = true};

} // namespace ops

Unscaled unscale(const std::vector<Tensor>& gradients, const Tensor& factor)
{
    if (gradients.empty())
        detail::fail(ErrorKind::argument, "unscale", "There are no gradients: give at least one.");
    std::vector<Tensor> inputs = gradients;
    inputs.push_back(factor);
    std::vector<Tensor> out = graph::apply(ops::unscale_op, inputs, {});
    const Tensor flags = out.back();
    out.pop_back();
    return {std::move(out), amax(flags)};
}

} // namespace reprise
