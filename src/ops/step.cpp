#include "ops/step.hpp"

#include <map>
#include <string>

#include <reprise/ops/creation.hpp>

#include "graph/cell.hpp"
#include "ops/launch_where.hpp"
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

std::vector<std::vector<Tensor>> apply_step(
    const graph::Op& op, const StepNames& names, const std::vector<StepOf>& of,
    std::initializer_list<std::reference_wrapper<const StepNumber>> numbers, const StepNumber& skip,
    graph::Attributes attributes)
{
    if (of.empty()) return {};
    const std::size_t moments = of[0].moments.size();
    if (moments < names.min_moments || moments > names.moments.size())
        detail::fail(ErrorKind::argument, op.name, "There are (", moments, ") moments: give ",
                     names.min_moments, " to ", names.moments.size(), ".");
    std::vector<Tensor> inputs;
    inputs.reserve(of.size() * (2 + moments) + numbers.size() + 1);
    for (const StepOf& s : of) {
        if (s.moments.size() != moments)
            detail::fail(ErrorKind::argument, op.name, "One parameter has (", moments, ") moments, another (",
                         s.moments.size(), "): give each equally many.");
        inputs.push_back(s.param);
        inputs.push_back(s.grad);
        for (const Tensor& m : s.moments) inputs.push_back(m);
    }
    const Device device = of[0].param.device();
    for (const StepNumber& n : numbers) inputs.push_back(n.on(device));
    inputs.push_back(skip.on(device));
    const std::vector<Tensor> flat = graph::apply(op, inputs, std::move(attributes));
    std::vector<std::vector<Tensor>> out;
    for (auto from = flat.begin(); from != flat.end(); from += static_cast<std::ptrdiff_t>(1 + moments))
        out.emplace_back(from, from + static_cast<std::ptrdiff_t>(1 + moments));
    return out;
}

namespace {

std::size_t parameters_of(const graph::Attributes& a)
{
    return static_cast<std::size_t>(a.integer("parameters"));
}

// Checks that param, grad and the moments of one parameter have the same type.
void check_types(const graph::Op& op, const InputTypes& in, const StepNames& names, std::size_t first,
                 std::size_t end)
{
    const graph::TensorType& param = in[first];
    require_floating(op.name, param.dtype);
    for (std::size_t i = first + 1; i < end; ++i) {
        const graph::TensorType& t = in[i];
        const char* name = i == first + 1 ? "grad" : names.moments[i - first - 2];
        const auto sentence = [&] {
            return std::string("The ") + name + " is " + name_of(t.dtype) + to_string(t.shape) +
                   " but the param is " + name_of(param.dtype) + to_string(param.shape) +
                   ": both must be alike.";
        };
        if (t.dtype != param.dtype) detail::fail(ErrorKind::dtype, op.name, sentence());
        shape::require_same(op.name, t.shape, param.shape, sentence);
    }
}

} // namespace

graph::TensorTypes infer_step(const graph::Op& op, const InputTypes& in, const graph::Attributes& a,
                              const StepNames& names)
{
    const std::size_t tensors = in.size() - names.numbers.size() - 1, each = tensors / parameters_of(a);
    graph::TensorTypes out;
    out.reserve(tensors);
    for (std::size_t first = 0; first < tensors; first += each) {
        check_types(op, in, names, first, first + each);
        for (std::size_t i = 1; i < each; ++i) out.push_back(in[first]);
    }
    for (std::size_t k = 0; k <= names.numbers.size(); ++k) {
        const graph::TensorType& t = in[tensors + k];
        if (!is_floating(t.dtype) || !same(shape::element_count(t.shape), 1))
            detail::fail(ErrorKind::shape, op.name, "The ",
                         k < names.numbers.size() ? names.numbers[k] : "skip", " is ", name_of(t.dtype),
                         to_string(t.shape), ": give one number of dtype f32.");
    }
    return out;
}

std::size_t moments_of(const graph::Node& n) { return n.outputs.size() / parameters_of(n.attributes) - 1; }
std::size_t moments_of(const ReferenceArguments& a)
{
    return a.outputs.size() / parameters_of(a.attributes) - 1;
}

StepNumbers numbers_of(Lowering& l, const graph::Node& n, std::size_t first, DType wide)
{
    StepNumbers out;
    for (std::size_t k = 0; first + k < n.inputs.size(); ++k) {
        Scalar number;
        if (l.scalar(first + k, number)) {
            out.operands.push_back({View(), Use::read, true});
        } else {
            View v = l.input(first + k);
            if (v.dtype != wide) {
                const View cast = l.temporary(wide, v.sizes());
                l.copy(v, cast);
                v = cast;
            }
            out.operands.push_back({v, Use::read});
            out.in_memory |= 1u << k;
        }
        out.floats.push_back(number);
    }
    return out;
}

namespace {

// `in` and `out` are the indices of the parameter's first input and output.
void launch_one(Lowering& l, const graph::Node& n, const StepLaunch& step, const StepNumbers& numbers,
                std::size_t in, std::size_t out)
{
    const graph::TensorType& type = n.outputs[out];
    require_floating_kernel(n.op->name, type.dtype);
    const Dim count = shape::element_count(type.shape);
    const LaunchOperand nothing{View(), Use::read, true};
    LaunchSpec spec{
        .kernel = n.op->name,
        .constants = {1, numbers.in_memory},
        .operands = {{l.contiguous(l.input(in)), Use::read}, {l.contiguous(l.input(in + 1)), Use::read}},
        .floats = numbers.floats,
        .ints = {0, count},
        .groups = ceil_div(count, 4096),
        .in_place = true,
        .batches = true};
    for (const std::size_t i : step.moments)
        spec.operands.push_back(
            i == StepLaunch::absent ? nothing : LaunchOperand{l.contiguous(l.input(in + 2 + i)), Use::read});
    spec.operands.insert(spec.operands.end(), numbers.operands.begin(), numbers.operands.end());
    spec.operands.push_back({l.output(out), Use::write});
    for (const std::size_t i : step.moments)
        spec.operands.push_back(i == StepLaunch::absent ? nothing
                                                        : LaunchOperand{l.output(out + 1 + i), Use::write});
    spec.constants.insert(spec.constants.end(), step.flags.begin(), step.flags.end());
    launch_with_texels(l, 1, std::move(spec));
}

} // namespace

void launch_step(Lowering& l, const graph::Node& n, const StepLaunch& step)
{
    const std::size_t parameters = parameters_of(n.attributes), moments = moments_of(n);
    const std::size_t first = parameters * (2 + moments); // index of the first number
    std::map<DType, StepNumbers> numbers;                 // by the dtype that kernels read
    for (std::size_t p = 0; p < parameters; ++p) {
        const std::size_t out = p * (1 + moments);
        const DType wide = n.outputs[out].dtype == f64 ? f64 : f32;
        auto found = numbers.find(wide);
        if (found == numbers.end()) found = numbers.emplace(wide, numbers_of(l, n, first, wide)).first;
        launch_one(l, n, step, found->second, p * (2 + moments), out);
        for (std::size_t i = 0; i <= moments; ++i) l.written(out + i);
    }
}

std::vector<double> step_numbers(const ReferenceArguments& a)
{
    std::vector<double> out;
    for (std::size_t i = a.outputs.size() + parameters_of(a.attributes); i < a.inputs.size(); ++i)
        out.push_back(a.inputs[i].at(0));
    return out;
}

void reference_step(const ReferenceArguments& a, double decay, const StepFormula& formula)
{
    const bool maximize = a.attributes.integer("maximize") != 0, skip = a.inputs.back().at(0) != 0;
    const std::size_t moments = moments_of(a);
    std::vector<double> m(moments);
    for (std::size_t first = 0, in = 0; first < a.outputs.size(); first += 1 + moments, in += 2 + moments)
        for (std::int64_t i = 0, count = a.outputs[first].count(); i < count; ++i) {
            double p = a.inputs[in].at(i);
            for (std::size_t k = 0; k < moments; ++k) m[k] = a.inputs[in + 2 + k].at(i);
            double g = a.inputs[in + 1].at(i);
            if (maximize) g = -g;
            if (decay != 0) g += decay * p;
            if (!skip) formula(p, g, m.data());
            a.outputs[first].put(i, p);
            for (std::size_t k = 0; k < moments; ++k) a.outputs[first + 1 + k].put(i, m[k]);
        }
}

} // namespace ops
} // namespace reprise
