// Text, dot and SVG output, statistics and memory use of a program.
#include <algorithm>
#include <sstream>

#include "plan/draw.hpp"
#include "program/program.hpp"

namespace reprise {

using execution::Executable;

namespace {

const std::shared_ptr<Program::Impl>& required(const std::shared_ptr<Program::Impl>& impl)
{
    if (!impl) detail::fail(ErrorKind::state, "program", "The program is empty: make one with record().");
    return impl;
}

// Returns the plan of the first variant, which drops least.
const plan::Plan& plan_of(const std::shared_ptr<Program::Impl>& impl)
{
    return required(impl)->variants.front().executable->compiled().plan;
}

// The executable that a call at these sizes would run, and the values of its symbols (0 for counters).
struct At {
    const Executable& executable;
    std::vector<std::int64_t> symbols;
};
At at(const Program::Impl& p, const std::vector<std::int64_t>& sizes)
{
    const auto& symbols = p.signature.symbols();
    if (symbols.size() != sizes.size())
        detail::fail(ErrorKind::argument, "program", "There are (", symbols.size(), ") symbols but (",
                     sizes.size(), ") sizes: give one for each, in the order in which text() lists them.");
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (const std::string fault = symbols[i]->fault(sizes[i]); !fault.empty())
            detail::fail(ErrorKind::argument, "program", fault);
    const Program::Impl::Variant& v = p.variants[p.variant_at(sizes)];
    std::vector<std::int64_t> values;
    v.assign_symbols(sizes, values, 0);
    return {*v.executable, std::move(values)};
}

void print_state(std::ostream& out, const Program::Impl& p)
{
    for (std::size_t slot = 0; slot < p.externals.size(); ++slot) {
        if (p.externals[slot].source != Program::Impl::Source::state) continue;
        const Program::Impl::State& s = p.states[p.externals[slot].index];
        const graph::TensorType& type = p.recorded.externals[slot].type();
        out << "state v" << p.variants.front().executable->compiled().external[slot] << "  "
            << name_of(type.dtype) << to_string(type.shape) << (s.assigned ? "  assigned" : "  read")
            << (s.owner ? ", a gradient" : "") << '\n';
    }
    if (p.random_ops) out << "random ops " << p.random_ops << " a call\n";
    if (!p.hooks.empty()) out << "hooks " << p.hooks.size() << " a call\n";
    for (std::size_t i = 0; i < p.outputs.size() - p.index_checks.size(); ++i) {
        const graph::TensorType& type = p.recorded.results[p.outputs[i]].type();
        out << "result " << i << "  " << name_of(type.dtype) << to_string(type.shape) << '\n';
    }
}

} // namespace

std::string Program::text() const
{
    const Impl& p = *required(impl_);
    std::ostringstream out;
    out << p.signature.text();
    print_state(out, p);
    for (std::size_t i = 0; i < p.variants.size(); ++i) {
        if (i) out << "where the memory budget requires less, set " << i << '\n';
        out << plan::print(p.variants[i].executable->compiled().plan);
    }
    return out.str();
}

std::string Program::dot() const { return plan::print_dot(plan_of(impl_)); }

std::string Program::svg(const std::vector<std::int64_t>& sizes) const
{
    const Impl& p = *required(impl_);
    const auto [executable, symbols] = at(p, sizes);
    const Executable::Placed placed = executable.placed(symbols);
    std::string title = "temporaries";
    for (std::size_t i = 0; i < sizes.size(); ++i)
        title += (i ? ", " : " at ") + p.signature.symbols()[i]->name + " = " + std::to_string(sizes[i]);
    return plan::draw_svg(executable.compiled().plan,
                          {placed.bytes, placed.offsets, placed.arena, placed.lower_bound, title});
}

std::size_t Program::launches() const { return plan_of(impl_).launches.size(); }

std::vector<LaunchTime> Program::times() const
{
    const Impl::Entered entered(*required(impl_), "times"); // calls change what is read here
    const Executable* ran = nullptr;                        // by the newest call
    Executable::Times newest;
    for (const Impl::Variant& v : impl_->variants)
        if (Executable::Times t = v.executable->times(); !t.begun.empty() && (!ran || t.call > newest.call)) {
            newest = std::move(t);
            ran = v.executable.get();
        }
    if (!ran) return {};
    const Executable& executable = *ran;
    const plan::Plan& plan = executable.compiled().plan;
    const auto& [begun, symbols, call] = newest;
    std::vector<LaunchTime> out;
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        const plan::PlanLaunch& l = plan.launches[i];
        LaunchTime& t = out.emplace_back(LaunchTime{.label = l.label, .begin = begun[i]});
        t.flops = static_cast<double>(executable.evaluated(l.flops, symbols));
        for (const plan::PlanOperand& o : l.operands)
            if (!o.absent)
                t.bytes += static_cast<double>(executable.evaluated(plan.values[o.value].elements, symbols)) *
                           static_cast<double>(size_of(plan.values[o.value].dtype));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const LaunchTime& a, const LaunchTime& b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i].end = i + 1 < out.size() ? out[i + 1].begin : begun.back();
    return out;
}

CallMemory Program::memory(const std::vector<std::int64_t>& sizes) const
{
    const Impl& p = *required(impl_);
    const auto [executable, symbols] = at(p, sizes);
    const Executable::Placed placed = executable.placed(symbols);
    const plan::Plan& plan = executable.compiled().plan;
    CallMemory m{.peak = placed.arena,
                 .lower_bound = plan::max_live_at_launch(plan, placed.bytes),
                 .outputs = executable.output_bytes(symbols)};
    for (std::size_t slot = 0; slot < p.externals.size(); ++slot)
        if (p.externals[slot].source != Impl::Source::input)
            m.state += placed.bytes[executable.compiled().external[slot]];
    return m;
}

std::vector<std::uint64_t> Program::memory_by_launch(const std::vector<std::int64_t>& sizes) const
{
    const auto [executable, symbols] = at(*required(impl_), sizes);
    return plan::live_at_launches(executable.compiled().plan, executable.placed(symbols).bytes);
}

std::uint64_t Program::arena_bytes(const std::vector<std::int64_t>& sizes) const
{
    const Impl& p = *required(impl_);
    const auto [executable, symbols] = at(p, sizes);
    return executable.arena_bytes(symbols);
}

} // namespace reprise
