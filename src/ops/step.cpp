#include "ops/step.hpp"

#include <string>

#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

void check_step(const char* op, std::span<const graph::TensorType> in, const StepInputs& names)
{
    require_floating(op, in[0].dtype);
    for (std::size_t i = 1; i < names.tensors.size(); ++i) {
        const graph::TensorType& t = in[i];
        const auto sentence = [&] {
            return std::string("The ") + names.tensors[i] + " is " + name_of(t.dtype) + to_string(t.shape) +
                   " but the " + names.tensors[0] + " is " + name_of(in[0].dtype) + to_string(in[0].shape) +
                   ": both must be alike.";
        };
        if (t.dtype != in[0].dtype) detail::fail(ErrorKind::dtype, op, sentence());
        if (t.shape.size() != in[0].shape.size()) detail::fail(ErrorKind::shape, op, sentence());
        for (std::size_t d = 0; d < t.shape.size(); ++d)
            shape::require_equal(op, t.shape[d], in[0].shape[d], sentence);
    }
    for (std::size_t i = 0; i < names.numbers.size(); ++i) {
        const graph::TensorType& t = in[names.tensors.size() + i];
        if (!is_floating(t.dtype) || shape::element_count(t.shape) != 1)
            detail::fail(ErrorKind::shape, op, "The ", names.numbers[i], " is ", name_of(t.dtype),
                         to_string(t.shape), ": give one number of dtype f32.");
    }
}

void launch_step(Lowering& l, const graph::Node& n, const StepLaunch& step)
{
    require_f32_kernel(n.op->name, n.outputs[0].dtype);
    const Dim count = shape::element_count(n.outputs[0].shape);
    const LaunchOperand nothing{.view = {}, .use = Use::read, .absent = true};
    LaunchSpec spec{.kernel = n.op->name,
                    .constants = {1, 0},
                    .operands = {},
                    .floats = {},
                    .ints = {0, count},
                    .groups = ceil_div(count, 4096),
                    .in_place = true,
                    .batches = true};
    for (const std::size_t i : step.tensors) {
        if (i == StepLaunch::absent) spec.operands.push_back(nothing);
        else spec.operands.push_back({l.contiguous(l.input(i)), Use::read});
    }
    for (std::size_t k = 0; k < step.numbers.size(); ++k) {
        Scalar number;
        if (l.scalar(step.numbers[k], number)) {
            spec.operands.push_back(nothing);
        } else {
            View v = l.input(step.numbers[k]);
            if (v.dtype != f32) {
                const View cast = l.temporary(f32, v.sizes());
                l.copy(v, cast);
                v = cast;
            }
            spec.operands.push_back({v, Use::read});
            spec.constants[1] |= 1u << k;
        }
        spec.floats.push_back(number);
    }
    for (const std::size_t i : step.outputs) {
        if (i == StepLaunch::absent) spec.operands.push_back(nothing);
        else spec.operands.push_back({l.output(i), Use::write});
    }
    spec.floats.insert(spec.floats.end(), step.constants.begin(), step.constants.end());
    spec.constants.insert(spec.constants.end(), step.flags.begin(), step.flags.end());
    if (!l.texels()) return l.launch(std::move(spec));
    LaunchSpec texels = spec;
    texels.kernel += "_texel";
    texels.texels = true;
    l.launch(std::move(texels), std::move(spec));
}

} // namespace reprise::ops
