// Calls: symbols from the inputs' sizes, addresses from the cells, one replay.
#include "program/program.hpp"

#include <algorithm>

#include <reprise/ops.hpp>
#include <reprise/random.hpp>

#include "plan/pipeline.hpp"
#include "program/storage.hpp"
#include "shape/expression.hpp"

namespace reprise {

using graph::Value;
using program::Stored;

namespace {

// The symbol, where the size is nothing but one.
const shape::Symbol* plain_symbol(const Dim& d)
{
    const auto terms = shape::terms_of(d);
    if (terms.size() != 1 || shape::constant_of(d) != 0 || terms[0].coefficient != 1) return nullptr;
    const shape::Atom* atom = shape::linear_atom(terms[0]);
    return atom && atom->kind == shape::AtomKind::symbol ? atom->symbol.get() : nullptr;
}

device::Operand operand_of(const Value& v)
{
    const Stored& s = Stored::of(v);
    return {s.memory->address, program::bytes_of(v.type())};
}

} // namespace

// Symbol values in the executable's order.
std::vector<std::int64_t> Program::Impl::bind(const std::vector<Tensor>& inputs) const
{
    if (inputs.size() != specs.size())
        detail::fail(ErrorKind::argument, "program", "The program takes (", specs.size(), ") inputs, not (",
                     inputs.size(), ").");
    const auto& ids = executable->symbols();
    std::vector<std::int64_t> values(ids.size(), -1);
    const auto value_of = [&](std::uint32_t id) -> std::int64_t& {
        return values.at(static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin()));
    };
    const auto set = [&](const Dim& d, std::int64_t v) { // a symbol that the program may not ask for
        const std::uint32_t id = plain_symbol(d)->id;
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) value_of(id) = v;
    };
    const GeneratorState g = generator_state();
    set(random.seed_low, static_cast<std::int64_t>(g.seed & 0xFFFFFFFF));
    set(random.seed_high, static_cast<std::int64_t>(g.seed >> 32));
    set(random.ordinal, static_cast<std::int64_t>(g.ordinal));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Shape& want = specs[i].shape;
        const Shape found = inputs[i].shape();
        if (inputs[i].dtype() != specs[i].dtype)
            detail::fail(ErrorKind::dtype, "program", "Input (", i, ") is (", name_of(inputs[i].dtype()),
                         ") but was recorded as (", name_of(specs[i].dtype), "): cast it.");
        if (found.size() != want.size())
            detail::fail(ErrorKind::shape, "program", "Input (", i, ") has the shape (", to_string(found),
                         ") but was recorded as (", to_string(want), ").");
        for (std::size_t d = 0; d < want.size(); ++d)
            if (const shape::Symbol* s = plain_symbol(want[d])) {
                std::int64_t& v = value_of(s->id);
                const std::int64_t size = found[d].value();
                if (v >= 0 && v != size)
                    detail::fail(ErrorKind::shape, "program", "The size (", s->name, ") is (", v,
                                 ") by an earlier input but (", size, ") by dimension (", d, ") of input (",
                                 i, "): give inputs of one size.");
                v = size;
            }
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t d = 0; d < specs[i].shape.size(); ++d) {
            const std::int64_t want =
                specs[i].shape[d].evaluate([&](std::uint32_t id) { return value_of(id); });
            if (const std::int64_t size = inputs[i].shape()[d].value(); size != want)
                detail::fail(ErrorKind::shape, "program", "Dimension (", d, ") of input (", i, ") is (", size,
                             ") but the program was recorded with (", specs[i].shape[d], ") = (", want, ").");
        }
    return values;
}

void Program::Impl::check_guards(const std::vector<std::int64_t>& symbols) const
{
    const auto& ids = executable->symbols();
    const auto value = [&](std::uint32_t id) {
        return symbols[static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())];
    };
    for (const shape::Guard& g : guards)
        if (const auto a = g.a.evaluate(value), b = g.b.evaluate(value); a != b)
            detail::fail(ErrorKind::shape, "program", "(", g.a, ") is (", a, ") but must be (", b, ") = (",
                         g.b, ") at this call. ", g.reason);
}

// In row-major memory that no state which this program writes lies in.
Value Program::Impl::input_value(const Tensor& t, const std::vector<const device::Memory*>& written) const
{
    const Value v = graph::read(t);
    if (v.node->evaluator != context)
        detail::fail(ErrorKind::device, "program", "An input is on (", v.node->evaluator->name(),
                     ") but the program is for (", context->name(), ").");
    context->evaluate({&v, 1});
    const Value whole = context->row_major(v);
    const device::Memory* memory = Stored::of(whole).memory.get();
    return std::find(written.begin(), written.end(), memory) == written.end() ? whole
                                                                              : context->copy_of(whole);
}

// A gradient that the program adds to may have been replaced or cleared since the last call.
void Program::Impl::find_grads()
{
    for (State& s : states) {
        if (!s.owner) continue;
        if (!s.owner->grad) s.owner->grad = zeros_like(Tensor(s.owner)).cell();
        s.cell = s.owner->grad;
    }
}

// State is written in place: its memory must be row-major, and its own where it is assigned.
void Program::Impl::own(const State& s) const
{
    Value& v = s.cell->value;
    context->evaluate({&v, 1});
    if (!program::is_row_major(Stored::of(v), v.type()))
        v = context->replaced(v, context->row_major(v), s.cell);
    if (!s.assigned) return;
    const bool shared =
        v.node.use_count() > 1 || v.node->storage[0].use_count() > 1 || Stored::of(v).memory.use_count() > 1;
    if (shared) v = context->replaced(v, context->copy_of(v), s.cell);
}

Value Program::Impl::result_value(std::size_t result, const program::Executable::Outcome& outcome,
                                  const std::vector<std::shared_ptr<device::Memory>>& external)
{
    const ops::View& view = executable->compiled().results[result].view;
    const plan::PlanValue& value = executable->compiled().plan.values[view.value];
    auto stored = std::make_shared<Stored>();
    stored->memory =
        value.place == plan::Place::external ? external[value.slot] : outcome.outputs[view.value];
    Shape sizes;
    for (const Dim& d : view.layout.sizes) sizes.push_back(executable->evaluated(d));
    for (const Dim& d : view.layout.strides) stored->strides.push_back(executable->evaluated(d));
    stored->offset = executable->evaluated(view.layout.offset);
    return graph::leaf({view.dtype, sizes}, context, stored, false);
}

std::vector<Tensor> Program::Impl::call(const std::vector<Tensor>& inputs)
{
    std::lock_guard lock(context->mutex());
    program::Suspend outside;
    program::Executable::Call c;
    c.symbols = bind(inputs);
    check_guards(c.symbols);
    find_grads();
    std::vector<const device::Memory*> written;
    for (const State& s : states) {
        own(s);
        if (s.assigned) written.push_back(Stored::of(s.cell->value).memory.get());
    }
    std::vector<Value> held; // alive until the call is submitted
    for (const Tensor& t : inputs) held.push_back(input_value(t, written));
    std::vector<std::shared_ptr<device::Memory>> external;
    for (const Binding& b : externals) {
        const Value& v = b.source == Source::input   ? held[b.index]
                         : b.source == Source::state ? states[b.index].cell->value
                                                     : constants[b.index];
        c.externals.push_back(operand_of(v));
        external.push_back(Stored::of(v).memory);
    }
    if (!std::exchange(hooks_have_run, true))
        for (const auto& hook : hooks) hook();
    const program::Executable::Outcome outcome = executable->replay(c);
    hooks_have_run = false;
    if (random_ops) {
        GeneratorState g = generator_state();
        g.ordinal += random_ops;
        set_generator_state(g);
    }
    std::vector<Tensor> out;
    for (std::size_t i : outputs) out.push_back(graph::make_tensor(result_value(i, outcome, external)));
    for (const KeptGrad& g : kept_grads)
        g.owner->grad = graph::make_tensor(result_value(g.result, outcome, external)).cell();
    for (const auto& owner : cleared_grads) owner->grad = nullptr;
    return out;
}

namespace {

const std::shared_ptr<Program::Impl>& required(const std::shared_ptr<Program::Impl>& impl)
{
    if (!impl) detail::fail(ErrorKind::state, "program", "The program is empty: make one with record().");
    return impl;
}

const plan::Plan& plan_of(const std::shared_ptr<Program::Impl>& impl)
{
    return required(impl)->executable->compiled().plan;
}

} // namespace

std::vector<Tensor> Program::call(const std::vector<Tensor>& inputs) const
{
    required(impl_);
    if (is_recording())
        detail::fail(ErrorKind::unsupported, "program",
                     "A program can't be called while another is recorded: call its function.");
    return impl_->call(inputs);
}

std::string Program::text() const { return plan::print(plan_of(impl_)); }
std::string Program::dot() const { return plan::print_dot(plan_of(impl_)); }
std::size_t Program::launches() const { return plan_of(impl_).launches.size(); }
std::vector<std::pair<std::string, double>> Program::times() const
{
    std::vector<std::pair<std::string, double>> out;
    const plan::Plan& plan = plan_of(impl_);
    const std::vector<double> begun = impl_->executable->times();
    for (std::size_t i = 0; i < begun.size(); ++i) out.emplace_back(plan.launches[i].label, begun[i]);
    return out;
}
std::uint64_t Program::arena_bytes(const std::vector<std::int64_t>& sizes) const
{
    return required(impl_)->executable->arena_bytes(sizes);
}

} // namespace reprise
