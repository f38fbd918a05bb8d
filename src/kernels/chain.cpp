#include "kernels/chain.hpp"

#include <algorithm>

#include <reprise/error.hpp>

#include "device/embedded_kernels.hpp"
#include "ops/readers.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

using ops::View;
using Source = Chain::Source;

shape::Strides broadcast_strides(const View& v, const Shape& to)
{
    shape::Strides out(to.size(), Dim(0));
    const std::size_t missing = to.size() - v.sizes().size();
    for (std::size_t d = 0; d < v.sizes().size(); ++d)
        if (!same(v.sizes()[d], 1)) out[d + missing] = v.layout.strides[d]; // only a constant 1 is broadcast
    return out;
}

namespace {

shape::Collapsed collapsed(std::span<const View> inputs, const View& output)
{
    std::vector<shape::Strides> strides;
    for (const View& v : inputs)
        if (!v.number) strides.push_back(broadcast_strides(v, output.sizes()));
    return shape::collapse(output.sizes(), strides);
}

} // namespace

bool walks(std::span<const View> inputs, const View& output)
{
    return output.sizes().size() <= max_walk_rank || collapsed(inputs, output).sizes.size() <= max_walk_rank;
}

std::size_t Chain::memory_inputs() const
{
    return static_cast<std::size_t>(
        std::count_if(inputs.begin(), inputs.end(), [](const Input& i) { return !i.number; }));
}

bool Chain::flat(const Input& i) const
{
    return !i.number && same(i.strides, shape::contiguous_strides(sizes));
}

Chain chain_of(const graph::Op& op, std::span<const View> inputs, const View& output,
               std::vector<ops::LaunchOperand>& operands)
{
    Chain chain;
    Chain::Step step{&op, {}, output.dtype};
    operands.clear();
    for (const View& v : inputs) {
        step.sources.push_back({Source::From::input, static_cast<std::uint32_t>(chain.inputs.size())});
        Chain::Input& in = chain.inputs.emplace_back(Chain::Input{v.dtype, v.number});
        if (v.number) continue;
        in.operand = static_cast<std::uint32_t>(operands.size());
        operands.push_back({v, ops::Use::read});
    }
    shape::Collapsed c = collapsed(inputs, output);
    if (c.sizes.size() > max_walk_rank)
        detail::fail(ErrorKind::internal, op.name, "The strides of the inputs need (", c.sizes.size(),
                     ") dimensions after merging, more than the kernels' (", max_walk_rank, ").");
    chain.sizes = std::move(c.sizes);
    for (Chain::Input& in : chain.inputs)
        if (!in.number) in.strides = std::move(c.strides[in.operand]);
    chain.steps.push_back(std::move(step));
    chain.results = {0};
    operands.push_back({output, ops::Use::write});
    return chain;
}

Chain chain_of_copy(const View& from, const View& to, std::vector<ops::LaunchOperand>& operands)
{
    const bool to_bool = to.dtype == boolean && from.dtype != boolean;
    return chain_of(ops::row_op(to_bool ? "to_bool" : "cast"), {&from, 1}, to, operands);
}

DType dtype_of(const Chain& c, const Source& s)
{
    return s.from == Source::From::input ? c.inputs[s.index].dtype : c.steps[s.index].dtype;
}

bool computes_integers(const Chain& c, const Chain::Step& s)
{
    if (s.op->part || !ops::row_of(*s.op).takes_integers()) return false;
    for (const Source& from : s.sources)
        if (const DType t = dtype_of(c, from); t != boolean) return !is_floating(t);
    return !is_floating(s.dtype);
}

namespace {
bool uses_dtype(const Chain& c, DType dtype)
{
    const auto is_dtype = [dtype](const auto& v) { return v.dtype == dtype; };
    return std::any_of(c.inputs.begin(), c.inputs.end(), is_dtype) ||
           std::any_of(c.steps.begin(), c.steps.end(), is_dtype);
}
} // namespace

bool computes_doubles(const Chain& c) { return uses_dtype(c, f64); }
bool computes_longs(const Chain& c) { return uses_dtype(c, i64) && !uses_dtype(c, f64); }

// A row has an f64 kernel if all functions that its formula calls have f64 versions (cmake/RepriseShaders.cmake).
bool serves_doubles(const graph::Op& op)
{
    if (!op.row) return op.view || op.doubles || op.decompose;
    return has_kernel(kernel_name(op) + "_f64");
}

bool has_kernel(const std::string& name) { return device::embedded_kernel(name) != nullptr; }

std::string part_name(const graph::Op& op)
{
    return ops::row_of(op).name + (op.part ? "_d" + std::to_string(op.part - 1) : std::string("_fwd"));
}
std::string kernel_name(const graph::Op& op) { return "elementwise_" + part_name(op); }

bool reads_own_elements(const Chain& c, std::size_t operand)
{
    bool is_read = false;
    for (const Chain::Input& in : c.inputs) {
        if (in.number || in.product || in.operand != operand) continue;
        if (!c.flat(in)) return false;
        is_read = true;
    }
    return is_read;
}

bool in_place(const Chain& c, std::span<const ops::LaunchOperand> operands)
{
    const std::size_t inputs = c.memory_inputs();
    for (std::size_t i = 0; i < inputs; ++i)
        if (!reads_own_elements(c, i)) return false;
    for (const ops::LaunchOperand& o : operands)
        if (size_of(o.dtype) != size_of(operands[inputs].dtype)) return false;
    return true;
}

std::string label_of(const Chain& c)
{
    std::string out;
    for (const Chain::Step& s : c.steps) {
        const bool copies = s.op == &ops::row_op("cast") && dtype_of(c, s.sources.front()) == s.dtype;
        if (!copies) out += (out.empty() ? "" : "+") + std::string(s.op->name);
    }
    return out;
}

Dim groups_of(const Chain& c)
{
    constexpr std::int64_t elements_per_workgroup = 512;
    return ceil_div(shape::element_count(c.sizes), elements_per_workgroup);
}

} // namespace reprise::kernels
