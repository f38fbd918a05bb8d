#include "ops/step.hpp"

#include <string>

#include <reprise/ops/creation.hpp>

#include "graph/cell.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

Tensor StepNumber::on(const Device& device) const
{
    return tensor_.defined() ? tensor_ : full({}, value_, {.device = device});
}

namespace ops {

std::vector<Tensor> apply_step(const graph::Op& op, const StepNames& names, const Tensor& param,
                               const Tensor& grad, const std::vector<Tensor>& moments,
                               std::initializer_list<std::reference_wrapper<const StepNumber>> numbers,
                               graph::Attributes attributes)
{
    if (moments.size() < names.least || moments.size() > names.moments.size())
        detail::fail(ErrorKind::argument, op.name, "There are (", moments.size(), ") moments: give ",
                     names.least, " to ", names.moments.size(), ".");
    graph::Operands inputs;
    inputs.reserve(2 + moments.size() + numbers.size());
    inputs.push_back(param);
    inputs.push_back(grad);
    for (const Tensor& m : moments) inputs.push_back(m);
    const Device device = param.device();
    for (const StepNumber& n : numbers) inputs.push_back(n.on(device));
    return graph::apply(op, inputs, std::move(attributes));
}

graph::TensorTypes infer_step(const graph::Op& op, const graph::InputTypes& in, const StepNames& names)
{
    require_floating(op.name, in[0].dtype);
    const std::size_t tensors = in.size() - names.numbers.size();
    for (std::size_t i = 1; i < tensors; ++i) {
        const graph::TensorType& t = in[i];
        const char* name = i == 1 ? "grad" : names.moments[i - 2];
        const auto sentence = [&] {
            return std::string("The ") + name + " is " + name_of(t.dtype) + to_string(t.shape) +
                   " but the param is " + name_of(in[0].dtype) + to_string(in[0].shape) +
                   ": both must be alike.";
        };
        if (t.dtype != in[0].dtype) detail::fail(ErrorKind::dtype, op.name, sentence());
        if (t.shape.size() != in[0].shape.size()) detail::fail(ErrorKind::shape, op.name, sentence());
        for (std::size_t d = 0; d < t.shape.size(); ++d)
            shape::require_equal(op.name, t.shape[d], in[0].shape[d], sentence);
    }
    for (std::size_t k = 0; k < names.numbers.size(); ++k) {
        const graph::TensorType& t = in[tensors + k];
        if (!is_floating(t.dtype) || shape::element_count(t.shape) != 1)
            detail::fail(ErrorKind::shape, op.name, "The ", names.numbers[k], " is ", name_of(t.dtype),
                         to_string(t.shape), ": give one number of dtype f32.");
    }
    return graph::TensorTypes(tensors - 1, in[0]);
}

std::size_t moments_of(const graph::Node& n) { return n.outputs.size() - 1; }

void launch_step(Lowering& l, const graph::Node& n, const StepLaunch& step)
{
    require_floating_kernel(n.op->name, n.outputs[0].dtype);
    const Dim count = shape::element_count(n.outputs[0].shape);
    const LaunchOperand nothing{.view = {}, .use = Use::read, .absent = true};
    LaunchSpec spec{
        .kernel = n.op->name,
        .constants = {1, 0},
        .operands = {{l.contiguous(l.input(0)), Use::read}, {l.contiguous(l.input(1)), Use::read}},
        .floats = {},
        .ints = {0, count},
        .groups = ceil_div(count, 4096),
        .in_place = true,
        .batches = true};
    for (const std::size_t i : step.places)
        spec.operands.push_back(
            i == StepLaunch::absent ? nothing : LaunchOperand{l.contiguous(l.input(2 + i)), Use::read});
    const std::size_t first = 2 + moments_of(n);
    for (std::size_t k = 0; first + k < n.inputs.size(); ++k) {
        Scalar number;
        if (l.scalar(first + k, number)) {
            spec.operands.push_back(nothing);
        } else {
            View v = l.input(first + k);
            const DType wide = n.outputs[0].dtype == f64 ? f64 : f32;
            if (v.dtype != wide) {
                const View cast = l.temporary(wide, v.sizes());
                l.copy(v, cast);
                v = cast;
            }
            spec.operands.push_back({v, Use::read});
            spec.constants[1] |= 1u << k;
        }
        spec.floats.push_back(number);
    }
    spec.operands.push_back({l.output(0), Use::write});
    for (const std::size_t i : step.places)
        spec.operands.push_back(i == StepLaunch::absent ? nothing
                                                        : LaunchOperand{l.output(1 + i), Use::write});
    spec.constants.insert(spec.constants.end(), step.flags.begin(), step.flags.end());
    if (!l.texels()) return l.launch(std::move(spec));
    LaunchSpec texels = spec;
    texels.kernel += "_texel";
    texels.texels = true;
    l.launch(std::move(texels), std::move(spec));
}

std::vector<double> step_numbers(const ReferenceArguments& a)
{
    std::vector<double> out;
    for (std::size_t i = a.outputs.size() + 1; i < a.inputs.size(); ++i) out.push_back(a.inputs[i].at(0));
    return out;
}

void reference_step(const ReferenceArguments& a, const StepFormula& formula)
{
    const std::size_t moments = a.outputs.size() - 1;
    std::vector<double> m(moments);
    for (std::int64_t i = 0, count = a.outputs[0].count(); i < count; ++i) {
        double p = a.inputs[0].at(i);
        for (std::size_t k = 0; k < moments; ++k) m[k] = a.inputs[2 + k].at(i);
        formula(p, a.inputs[1].at(i), m.data());
        a.outputs[0].put(i, p);
        for (std::size_t k = 0; k < moments; ++k) a.outputs[1 + k].put(i, m[k]);
    }
}

} // namespace ops
} // namespace reprise
