#include "ops/step.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <reprise/ops/creation.hpp>

#include "graph/cell.hpp"
#include "ops/dynamic8.hpp"
#include "ops/launch_where.hpp"
#include "ops/random.hpp"
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
    std::initializer_list<std::reference_wrapper<const StepNumber>> numbers, const StepCommon& common,
    const graph::Attributes::List& more)
{
    if (of.empty()) return {};
    const std::size_t moments = of[0].moments.size();
    const bool low = of[0].low.defined();
    if (moments < names.min_moments || moments > names.moments.size())
        detail::fail(ErrorKind::argument, op.name, "There are (", moments, ") moments: give ",
                     names.min_moments, " to ", names.moments.size(), ".");
    std::vector<Tensor> inputs;
    inputs.reserve(of.size() * (3 + moments) + numbers.size() + 1);
    for (const StepOf& s : of) {
        if (s.moments.size() != moments)
            detail::fail(ErrorKind::argument, op.name, "One parameter has (", moments, ") moments, another (",
                         s.moments.size(), "): give each equally many.");
        inputs.push_back(s.param);
        inputs.push_back(s.grad);
        for (const Tensor& m : s.moments) inputs.push_back(m);
        if (s.low.defined() != low)
            detail::fail(ErrorKind::argument, op.name,
                         "One parameter has a master copy, another has none: update them separately.");
        if (low) inputs.push_back(s.low);
    }
    const Device device = of[0].param.device();
    for (const StepNumber& n : numbers) inputs.push_back(n.on(device));
    inputs.push_back(common.skip.on(device));
    graph::Attributes attributes;
    if (common.stochastic_rounding) {
        const graph::RandomState r = next_random(of.size()); // as if they were updated one by one
        attributes = random_attributes(r);
    }
    attributes = attributes.with("parameters", static_cast<std::int64_t>(of.size()))
                     .with("maximize", std::int64_t{common.maximize})
                     .with("stochastic", std::int64_t{common.stochastic_rounding})
                     .with("low", std::int64_t{low});
    for (const auto& [name, attribute] : more) attributes = attributes.with(name, attribute);
    const std::vector<Tensor> flat = graph::apply(op, inputs, std::move(attributes));
    std::vector<std::vector<Tensor>> out;
    const auto each = static_cast<std::ptrdiff_t>(1 + moments + (low ? 1 : 0));
    for (auto from = flat.begin(); from != flat.end(); from += each) out.emplace_back(from, from + each);
    return out;
}

namespace {

std::size_t parameters_of(const graph::Attributes& a)
{
    return static_cast<std::size_t>(a.integer("parameters"));
}

// Outputs for each parameter; there is one more input for each.
std::size_t outputs_of(const graph::Attributes& a, std::size_t all) { return all / parameters_of(a); }
bool has_low(const graph::Attributes& a) { return a.integer("low") != 0; }
bool is_stochastic(const graph::Attributes& a) { return a.integer("stochastic") != 0; }

Shape shape_of_blocks(const Shape& param)
{
    return {ceil_div(shape::element_count(param), block_elements) * block_bytes};
}

// Checks the types of the gradient, the moments and low of one parameter.
void check_types(const graph::Op& op, const InputTypes& in, const StepNames& names, std::size_t first,
                 std::size_t end, bool low)
{
    const graph::TensorType& param = in[first];
    require_floating(op.name, param.dtype);
    if (low) {
        const graph::TensorType& t = in[--end];
        const auto sentence = [&] {
            return std::string("The parameter is ") + name_of(t.dtype) + to_string(t.shape) +
                   " but its master copy is " + name_of(param.dtype) + to_string(param.shape) +
                   ": give one of f16 or bf16 and one of f32.";
        };
        if ((t.dtype != f16 && t.dtype != bf16) || param.dtype != f32)
            detail::fail(ErrorKind::dtype, op.name, sentence());
        shape::require_same(op.name, t.shape, param.shape, sentence);
    }
    for (std::size_t i = first + 1; i < end; ++i) {
        const graph::TensorType& t = in[i];
        const bool is_moment = i > first + 1, in_blocks = is_moment && t.dtype == u8 && param.dtype != f64;
        const char* name = is_moment ? names.moments[i - first - 2] : "grad";
        const Shape& shape = in_blocks ? shape_of_blocks(param.shape) : param.shape;
        const auto sentence = [&] {
            return std::string("The ") + name + " is " + name_of(t.dtype) + to_string(t.shape) +
                   " but the param is " + name_of(param.dtype) + to_string(param.shape) +
                   (in_blocks ? ": give a result of eight_bit_moment()." : ": both must be alike.");
        };
        if (!in_blocks && (!is_floating(t.dtype) || (t.dtype == f64) != (param.dtype == f64)))
            detail::fail(ErrorKind::dtype, op.name, sentence());
        if (is_moment && t.dtype != in[first + 2].dtype)
            detail::fail(ErrorKind::dtype, op.name, "The ", name, " is ", name_of(t.dtype), " but the ",
                         names.moments[0], " is ", name_of(in[first + 2].dtype), ": both must be alike.");
        shape::require_same(op.name, t.shape, shape, sentence);
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
        check_types(op, in, names, first, first + each, has_low(a));
        out.push_back(in[first]);
        for (std::size_t i = 2; i < each; ++i) out.push_back(in[first + i]);
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

std::size_t moments_of(const graph::Node& n)
{
    return outputs_of(n.attributes, n.outputs.size()) - (has_low(n.attributes) ? 2 : 1);
}
std::size_t moments_of(const ReferenceArguments& a)
{
    return outputs_of(a.attributes, a.outputs.size()) - (has_low(a.attributes) ? 2 : 1);
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

// A parameter of a node, with the indices of its first input and output.
struct Place {
    std::int64_t index;
    std::size_t in, out;
};

void launch_one(Lowering& l, const graph::Node& n, const StepNames& names, const StepLaunch& step,
                const StepNumbers& numbers, const Place& at)
{
    const graph::TensorType& type = n.outputs[at.out];
    require_floating_kernel(n.op->name, type.dtype);
    const View param = l.contiguous(l.input(at.in)), grad = l.contiguous(l.input(at.in + 1));
    const DType moments = moments_of(n) != 0 ? n.outputs[at.out + 1].dtype : f32;
    const bool stochastic = is_stochastic(n.attributes) && (type.dtype == bf16 || moments == bf16);
    const Dim count = shape::element_count(type.shape);
    const bool low = has_low(n.attributes);
    const std::size_t low_out = at.out + 1 + moments_of(n);
    const LaunchOperand nothing{View(), Use::read, true};
    LaunchSpec spec{.kernel = n.op->name,
                    .constants = {1, numbers.in_memory, static_cast<std::uint32_t>(type.dtype),
                                  static_cast<std::uint32_t>(grad.dtype), static_cast<std::uint32_t>(moments),
                                  stochastic, names.non_negative << 1,
                                  low ? static_cast<std::uint32_t>(n.outputs[low_out].dtype) : 0},
                    .operands = {{param, Use::read}, {grad, Use::read}},
                    .floats = numbers.floats,
                    .ints = {0, count},
                    .groups = ceil_div(count, 4096),
                    .words = stochastic,
                    .in_place = true,
                    .batches = true,
                    .converts = {{1, 3}}}; // grad: GRAD
    if (stochastic) {
        for (const char* seed : {"seed_low", "seed_high"}) spec.ints.push_back(n.attributes.get<Dim>(seed));
        add_words(spec.ints, n.attributes.get<Dim>("ordinal") + at.index);
    }
    for (const std::size_t i : step.moments)
        spec.operands.push_back(i == StepLaunch::absent
                                    ? nothing
                                    : LaunchOperand{l.contiguous(l.input(at.in + 2 + i)), Use::read});
    spec.operands.insert(spec.operands.end(), numbers.operands.begin(), numbers.operands.end());
    spec.operands.push_back({l.output(at.out), Use::write});
    for (const std::size_t i : step.moments)
        spec.operands.push_back(
            i == StepLaunch::absent ? nothing : LaunchOperand{l.output(at.out + 1 + i), Use::write});
    spec.operands.push_back(low ? LaunchOperand{l.contiguous(l.input(at.in + 2 + moments_of(n))), Use::read}
                                : nothing);
    spec.operands.push_back(low ? LaunchOperand{l.output(low_out), Use::write} : nothing);
    spec.constants.insert(spec.constants.end(), step.flags.begin(), step.flags.end());
    launch_with_texels(l, 1, std::move(spec));
}

} // namespace

void launch_step(Lowering& l, const graph::Node& n, const StepNames& names, const StepLaunch& step)
{
    const std::size_t parameters = parameters_of(n.attributes);
    const std::size_t each = outputs_of(n.attributes, n.outputs.size());
    const std::size_t first = parameters * (each + 1); // index of the first number
    std::map<DType, StepNumbers> numbers;              // by the dtype that kernels read
    for (std::size_t p = 0; p < parameters; ++p) {
        const std::size_t out = p * each;
        const DType wide = n.outputs[out].dtype == f64 ? f64 : f32;
        auto found = numbers.find(wide);
        if (found == numbers.end()) found = numbers.emplace(wide, numbers_of(l, n, first, wide)).first;
        launch_one(l, n, names, step, found->second, {static_cast<std::int64_t>(p), p * (each + 1), out});
        for (std::size_t i = 0; i < each; ++i) l.written(out + i);
    }
}

std::vector<double> step_numbers(const ReferenceArguments& a)
{
    std::vector<double> out;
    for (std::size_t i = a.outputs.size() + parameters_of(a.attributes); i < a.inputs.size(); ++i)
        out.push_back(a.inputs[i].at(0));
    return out;
}

namespace {

// Reads and writes a moment of a parameter, which may be in blocks of 8 bits.
class ReferenceMoment {
public:
    ReferenceMoment(const HostTensor& from, const HostTensor& to, std::int64_t count, bool is_signed)
        : to_(to), is_signed_(is_signed), values_(static_cast<std::size_t>(count))
    {
        for (std::int64_t i = 0; i < count; ++i)
            values_[static_cast<std::size_t>(i)] = to.dtype == u8 ? decoded(from, i) : from.at(i);
    }
    double& operator[](std::int64_t i) { return values_[static_cast<std::size_t>(i)]; }
    bool in_blocks() const { return to_.dtype == u8; }

    // Stores blocks; other moments are stored element by element.
    void store_blocks() const
    {
        const auto count = static_cast<std::int64_t>(values_.size());
        for (std::int64_t first = 0; first < count; first += block_elements) {
            native::uint largest = 0;
            for (std::int64_t i = first; i < std::min(first + block_elements, count); ++i)
                largest = std::max(largest, native::rp_bits(std::fabs(value(i))));
            const std::int64_t at = first / block_elements * block_bytes;
            for (std::int64_t b = 0; b < 4; ++b) to_.set_whole(at + b, largest >> (8 * b) & 255U);
            for (std::int64_t i = 0; i < block_elements; ++i)
                to_.set_whole(at + 4 + i, first + i < count
                                              ? native::rp_dynamic8_code(
                                                    value(first + i), native::rp_value(largest), is_signed_)
                                              : 0);
        }
    }

private:
    float value(std::int64_t i) const { return static_cast<float>(values_[static_cast<std::size_t>(i)]); }
    double decoded(const HostTensor& from, std::int64_t i) const
    {
        const std::int64_t at = i / block_elements * block_bytes;
        native::uint scale = 0;
        for (std::int64_t b = 0; b < 4; ++b)
            scale |= static_cast<native::uint>(from.get_whole(from.offset(at + b))) << (8 * b);
        const auto code = static_cast<native::uint>(from.get_whole(from.offset(at + 4 + i % block_elements)));
        return native::rp_dynamic8_value(code, native::rp_value(scale), is_signed_);
    }

    const HostTensor& to_;
    bool is_signed_;
    std::vector<double> values_;
};

void copy_all(const HostTensor& from, const HostTensor& to)
{
    for (std::int64_t i = 0, count = to.count(); i < count; ++i) to.copy(to.offset(i), from, from.offset(i));
}

// Stores element i of a parameter (slot 0) or of a moment (from 1 on), as common/step_results.glsl does.
void put_result(const ReferenceArguments& a, const HostTensor& to, std::int64_t index, std::uint32_t slot,
                std::int64_t i, double value)
{
    const auto v = static_cast<float>(value);
    if (!is_stochastic(a.attributes) || to.dtype != bf16 || !std::isfinite(v)) return to.put(i, value);
    const native::uint word = RandomWords(a, index).of(i, slot);
    to.put(i, native::rp_value((native::rp_bits(v) + (word >> 16)) & 0xFFFF0000U));
}

} // namespace

void reference_step(const ReferenceArguments& a, const StepNames& names, double decay,
                    const StepFormula& formula)
{
    const bool maximize = a.attributes.integer("maximize") != 0, skip = a.inputs.back().at(0) != 0;
    const bool low = has_low(a.attributes);
    const std::size_t moments = moments_of(a), each = outputs_of(a.attributes, a.outputs.size());
    std::int64_t index = 0;
    for (std::size_t out = 0, in = 0; out < a.outputs.size(); out += each, in += each + 1, ++index) {
        if (skip) {
            for (std::size_t k = 0; k < each; ++k)
                copy_all(a.inputs[k == 0 ? in : in + 1 + k], a.outputs[out + k]);
            continue;
        }
        const std::int64_t count = a.outputs[out].count();
        std::vector<ReferenceMoment> state;
        for (std::size_t k = 0; k < moments; ++k)
            state.emplace_back(a.inputs[in + 2 + k], a.outputs[out + 1 + k], count,
                               (names.non_negative >> k & 1U) == 0);
        std::vector<double> m(moments);
        for (std::int64_t i = 0; i < count; ++i) {
            double p = a.inputs[in].at(i), g = a.inputs[in + 1].at(i);
            if (low) { // an element that has been assigned replaces the master copy
                const HostTensor& t = a.inputs[in + each];
                if (t.at(i) != rounded_to(t.dtype, p)) p = t.at(i);
            }
            for (std::size_t k = 0; k < moments; ++k) m[k] = state[k][i];
            if (maximize) g = -g;
            if (decay != 0) g += decay * p;
            formula(p, g, m.data());
            put_result(a, a.outputs[out], index, 0, i, p);
            if (low) a.outputs[out + each - 1].put(i, a.outputs[out].at(i));
            for (std::size_t k = 0; k < moments; ++k) {
                state[k][i] = m[k];
                if (!state[k].in_blocks())
                    put_result(a, a.outputs[out + 1 + k], index, static_cast<std::uint32_t>(k + 1), i, m[k]);
            }
        }
        for (const ReferenceMoment& moment : state)
            if (moment.in_blocks()) moment.store_blocks();
    }
}

} // namespace ops

Tensor eight_bit_moment(const Shape& shape, const Device& device)
{
    return zeros(ops::shape_of_blocks(shape), {.dtype = u8, .device = device});
}

} // namespace reprise
