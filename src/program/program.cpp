// Program calls: bind symbols to the inputs' sizes and addresses to the cells, then replay the recording once.
#include "program/program.hpp"

#include <algorithm>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

#include "execution/storage.hpp"
#include "ops/index_check.hpp"
#include "ops/random.hpp"
#include "plan/pipeline.hpp"
#include "shape/expression.hpp"

namespace reprise {

using execution::Executable;
using execution::Stored;
using graph::Value;

void Program::Impl::check_count(std::size_t inputs, std::size_t sizes) const
{
    if (inputs != signature.inputs().size())
        detail::fail(ErrorKind::argument, "program", "The program takes (", signature.inputs().size(),
                     ") inputs, not (", inputs, ").");
    if (sizes != signature.sizes().size())
        detail::fail(ErrorKind::argument, "program", "The program takes (", signature.sizes().size(),
                     ") sizes as numbers, not (", sizes, ").");
}

void Program::Impl::check_input(std::size_t i, const Value& v) const
{
    const Spec& spec = signature.inputs()[i];
    const graph::TensorType& type = v.type();
    if (type.dtype != spec.dtype)
        detail::fail(ErrorKind::dtype, "program", "Input (", i, ") is (", name_of(type.dtype),
                     ") but was recorded as (", name_of(spec.dtype), "): cast it.");
    if (type.shape.size() != spec.shape.size())
        detail::fail(ErrorKind::shape, "program", "Input (", i, ") has the shape (", to_string(type.shape),
                     ") but was recorded as (", to_string(spec.shape), ").");
    if (v.node->evaluator != context)
        detail::fail(ErrorKind::device, "program", "Input (", i, ") is on (", v.node->evaluator->name(),
                     ") but the program is for (", context->name(), ").");
}

void Program::Impl::Variant::assign_symbols(const std::vector<std::int64_t>& of_signature,
                                            std::vector<std::int64_t>& symbols, std::int64_t others) const
{
    symbols.assign(executable->symbols().size(), others);
    for (std::size_t i = 0; i < of_signature.size(); ++i)
        if (symbol_positions[i] != unused_symbol) symbols[symbol_positions[i]] = of_signature[i];
}

std::size_t Program::Impl::variant_at(const std::vector<std::int64_t>& sizes) const
{
    if (!memory_budget) return 0;
    std::uint64_t min_peak = 0;
    std::vector<std::int64_t> symbols;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        variants[i].assign_symbols(sizes, symbols, 0);
        const std::uint64_t peak = variants[i].executable->peak_bytes(symbols);
        if (peak <= *memory_budget) return i;
        min_peak = i == 0 ? peak : std::min(min_peak, peak);
    }
    std::string text;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        text += (i ? ", " : "") + signature.symbols()[i]->name + " = " + std::to_string(sizes[i]);
    detail::fail(ErrorKind::out_of_memory, "program", "At (", text, ") the program takes (", min_peak,
                 ") bytes at least, but its memory budget is (", *memory_budget,
                 "): call it at smaller sizes, or record it with a larger budget.");
}

// Chooses the variant for a call at these sizes.
void Program::Impl::choose(const std::vector<std::int64_t>& sizes)
{
    bound.choice = {};
    if (memory_budget) {
        const Choice* cached = choices.find(sizes);
        if (!cached) {
            Choice c{.variant = variant_at(sizes)};
            variants[c.variant].assign_symbols(sizes, bound.call.symbols, 0);
            c.outputs = variants[c.variant].executable->output_bytes(bound.call.symbols);
            cached = &choices.add(sizes, c, 8 * sizes.size() + 64);
        }
        bound.choice = *cached;
    }
    bound.executable = variants[bound.choice.variant].executable.get();
    variants[bound.choice.variant].assign_symbols(sizes, bound.call.symbols);
}

// Takes ordinals for the call's random ops from the generator and binds the seed and ordinal symbols.
ops::Ordinals Program::Impl::draw()
{
    const ops::Ordinals drawn = ops::take_ordinals(random_ops);
    const GeneratorState& first = drawn.first;
    const auto set = [&](const Dim& symbol, std::uint64_t v) {
        const auto& ids = bound.executable->symbols();
        const auto found = std::find(ids.begin(), ids.end(), shape::plain_symbol(symbol)->id);
        if (found != ids.end())
            bound.call.symbols[static_cast<std::size_t>(found - ids.begin())] = static_cast<std::int64_t>(v);
    };
    set(random.seed_low, first.seed & 0xFFFFFFFF);
    set(random.seed_high, first.seed >> 32);
    set(random.ordinal, first.ordinal);
    return drawn;
}

// Replays the chosen variant. All variants share one arena, which is trimmed so that the outputs fit into the budget
// too.
Executable::Outcome Program::Impl::replay()
{
    bound.drawn = random_ops ? draw() : ops::Ordinals();
    try {
        if (bound.choice.variant != used) bound.executable->take_arena(*variants[used].executable);
        used = bound.choice.variant;
        if (memory_budget) bound.executable->trim_arena(*memory_budget - bound.choice.outputs);
        const std::uint64_t placed = bound.executable->bytes_placed();
        Executable::Outcome outcome = bound.executable->replay(bound.call);
        context->count_placed(bound.executable->bytes_placed() - placed);
        context->submitted(outcome.ticket);
        return outcome;
    } catch (...) {
        if (random_ops) ops::give_back(bound.drawn); // unless others were taken since
        throw;
    }
}

Program::Impl::Undo Program::Impl::before_the_call() const
{
    Undo u;
    for (const Grad& g : grads) u.grads.push_back(g.owner->grad);
    for (const State& s : states) {
        const Value& v = s.cell->value;
        if (s.assigned && Stored::of(v).written != 0)
            u.state.emplace_back(v.node->storage[v.index], Stored::of(v).written);
    }
    return u;
}

// Keeps what Device::cancel() needs to undo the call, if it drops it.
void Program::Impl::keep(Undo u, device::Ticket call)
{
    while (!undos.empty() && context->device()->done(undos.front().call) &&
           !context->device()->dropped(undos.front().call))
        undos.pop_front();
    u.call = call;
    u.drawn = bound.drawn;
    undos.push_back(std::move(u));
    context->undo_if_dropped(call, weak_from_this());
}

void Program::Impl::undo(device::Ticket call)
{
    for (auto hook = hooks.rbegin(); hook != hooks.rend(); ++hook)
        if (hook->undo) hook->undo();
    const std::lock_guard lock(context->mutex());
    const auto found =
        std::find_if(undos.begin(), undos.end(), [&](const Undo& u) { return u.call == call; });
    if (found == undos.end()) return;
    if (random_ops) ops::give_back(found->drawn); // unless others were taken since
    for (const auto& [storage, written] : found->state)
        if (const auto held = storage.lock()) static_cast<const Stored&>(*held).written = written;
    for (std::size_t i = 0; i < grads.size(); ++i) grads[i].owner->grad = found->grads[i];
    undos.erase(found);
}

// From now on programs update the memory of assigned state in place.
void Program::Impl::mark_state_as_written()
{
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].assigned) bound.state[i]->written = 0;
}

void Program::Impl::Bound::clear()
{
    call.externals.clear();
    held.clear();
    shapes.clear();
    sizes.clear();
    state.clear();
    input.clear();
    external.clear();
    written.clear();
}

// Binds symbol values in the executable's order; counters are bound in draw().
void Program::Impl::bind_sizes(const std::vector<Tensor>& inputs, const DimVector& sizes)
{
    check_count(inputs.size(), sizes.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        bound.held.push_back(graph::read(inputs[i]));
        check_input(i, bound.held.back());
        bound.shapes.push_back(&bound.held.back().type().shape);
    }
    for (const Dim& d : sizes) bound.sizes.push_back(d.value());
    choose(signature.bind(bound.shapes, bound.sizes));
    bound.held.clear(); // held values would count as shared when state is written
}

// Runs each hook once per call. If the call fails, hooks are undone in reverse order; hooks without an undo count as
// run for the next call, which is treated as a retry.
class Program::Impl::Hooks {
public:
    explicit Hooks(Impl& p) : p_(p) { p.hooks_run.resize(p.hooks.size()); }
    ~Hooks()
    {
        for (std::size_t i = p_.hooks.size(); i-- > 0;) {
            if (succeeded_) p_.hooks_run[i] = false;
            if (!p_.hooks_run[i] || !p_.hooks[i].undo) continue;
            p_.hooks[i].undo();
            p_.hooks_run[i] = false;
        }
    }
    Hooks(const Hooks&) = delete;
    Hooks& operator=(const Hooks&) = delete;

    void run()
    {
        for (std::size_t i = 0; i < p_.hooks.size(); ++i) {
            if (p_.hooks_run[i]) continue;
            p_.hooks[i].run();
            p_.hooks_run[i] = true;
        }
    }
    void succeed() { succeeded_ = true; }

private:
    Impl& p_;
    bool succeeded_ = false;
};

Program::Impl::Entered::Entered(Impl& p, const char* by) : caller_(p.caller)
{
    if (caller_ == std::this_thread::get_id())
        detail::fail(
            ErrorKind::state, by,
            "A hook or host scalar of the program enters it again: do that before or after the call.");
    lock_ = std::unique_lock(p.mutex);
    caller_ = std::this_thread::get_id();
}

// Runs before the lock is taken, since the evaluation may wait.
void Program::Impl::compute_inputs(const std::vector<Tensor>& inputs)
{
    for (const Tensor& t : inputs) bound.held.push_back(graph::read(t));
    context->evaluate_pending(bound.held);
    bound.held.clear();
}

// Returns the input in row-major memory that holds no state written by this program; copies it if necessary.
const Stored& Program::Impl::bind_input(const Tensor& t)
{
    std::vector<Value>& held = bound.held;
    held.push_back(graph::read(t));
    if (!held.back().node->materialised()) context->evaluate_locked({&held.back(), 1});
    if (!Stored::of(held.back()).row_major()) held.back() = context->row_major(held.back());
    const device::Memory* memory = Stored::of(held.back()).memory.get();
    if (std::find(bound.written.begin(), bound.written.end(), memory) != bound.written.end())
        held.back() = context->copy_of(held.back());
    return Stored::of(held.back());
}

// Updates the cells of gradients, which may have been replaced or cleared since the last call.
void Program::Impl::find_grads()
{
    std::vector<const graph::Cell*> seen;
    for (State& s : states) {
        if (!s.owner) continue;
        if (!s.owner->grad) s.owner->grad = zeros_like(Tensor(s.owner)).cell();
        s.cell = s.owner->grad;
        if (std::find(seen.begin(), seen.end(), s.cell.get()) !=
            seen.end()) { // one tensor serves as two gradients
            s.cell = graph::make_tensor(s.cell->value).cell();
            s.owner->grad = s.cell;
        }
        seen.push_back(s.cell.get());
    }
}

// Binds state in row-major memory. Assigned state is written in place, so its memory must not be shared: it is copied
// first if a tensor, a view or the tape shares it. This code increments no reference counts, as the atomic operations
// would be slow for large numbers of state tensors.
const Stored& Program::Impl::bind_state(const State& s)
{
    Value& v = s.cell->value;
    if (v.node->evaluator != context)
        detail::fail(ErrorKind::device, "program", "A tensor that the program uses is now on (",
                     v.node->evaluator->name(), ") but the program is for (", context->name(), ").");
    if (v.type().dtype != s.dtype)
        detail::fail(ErrorKind::dtype, "program", "A tensor that the program uses is now of (",
                     name_of(v.type().dtype), ") but was of (", name_of(s.dtype),
                     ") when the program was recorded: record it anew.");
    if (!v.node->materialised()) context->evaluate_locked({&v, 1});
    if (!Stored::of(v).row_major()) {
        bound.held.push_back(context->row_major(v));
        if (!s.assigned) return Stored::of(bound.held.back());
        v = context->replaced(v, bound.held.back(), s.cell);
        bound.held.pop_back();
    }
    if (!s.assigned) return Stored::of(v);
    ++s.cell->version; // earlier views hold old values
    const bool shared = v.node.use_count() > 1 || v.node->storage[v.index].use_count() > 1 ||
                        Stored::of(v).memory.use_count() > 1;
    if (shared) v = context->replaced(v, context->copy_of(v), s.cell);
    return Stored::of(v);
}

Value Program::Impl::result_value(std::size_t result, const Executable::Outcome& outcome)
{
    const ops::View& view = bound.executable->compiled().results[result];
    const plan::PlanValue& value = bound.executable->compiled().plan.values[view.value];
    const auto& memory = value.place == plan::Place::external ? bound.external[value.slot]->memory
                                                              : bound.executable->output(outcome, view.value);
    const graph::TensorType type{recorded.results[result].type().dtype,
                                 bound.executable->result_shape(result)};
    const auto stored = std::make_shared<Stored>(memory, execution::bytes_of(view.dtype, type.shape),
                                                 bound.executable->result_layout(result));
    if (outcome.ticket != 0) stored->written = outcome.ticket;
    else if (value.place == plan::Place::external) stored->written = bound.external[value.slot]->written;
    return graph::leaf(type, context, stored, false);
}

// Binds all memory of a call, by external slot of the executable.
void Program::Impl::bind_memory(const std::vector<Tensor>& inputs)
{
    for (const State& s : states) {
        bound.state.push_back(&bind_state(s));
        context->require_computed(*bound.state.back());
        if (!s.assigned) continue;
        bound.written.push_back(bound.state.back()->memory.get());
    }
    for (const Tensor& t : inputs) bound.input.push_back(&bind_input(t));
    for (const Binding& b : externals) {
        bound.external.push_back(b.source == Source::input   ? bound.input[b.index]
                                 : b.source == Source::state ? bound.state[b.index]
                                                             : &Stored::of(constants[b.index]));
        const Stored& s = *bound.external.back();
        context->require_computed(s);
        bound.call.externals.push_back({s.memory->address, s.bytes});
    }
}

std::vector<Tensor> Program::Impl::take_checked(std::vector<Tensor>& out) const
{
    const auto first = out.end() - static_cast<std::ptrdiff_t>(index_checks.size());
    std::vector<Tensor> checked(first, out.end());
    out.erase(first, out.end());
    return checked;
}

std::vector<Tensor> Program::Impl::call(const std::vector<Tensor>& inputs, const DimVector& sizes)
{
    const Entered entered(*this, "program");
    if (autocast) autocast->check();
    graph::Suspend outside;
    std::vector<Tensor> out = run(inputs, sizes);
    const std::vector<Tensor> checked = take_checked(out);
    for (std::size_t i = 0; i < checked.size(); ++i) {
        std::vector<std::int64_t> indices = cast(checked[i], i64).to_vector<std::int64_t>();
        const std::int64_t size = indices.back();
        indices.pop_back();
        ops::require_indices_inside(index_checks[i], indices, size);
    }
    return out;
}

std::vector<Tensor> Program::Impl::run(const std::vector<Tensor>& inputs, const DimVector& sizes)
{
    struct Release {
        Bound& bound;
        ~Release() { bound.clear(); }
    } const release{bound};
    for (const program::Trace::ReadMode& m : modes) m.check();
    bind_sizes(inputs, sizes);
    // Hooks and host scalars are user code: they run before anything is bound, and without the device's lock.
    Hooks of_call(*this);
    of_call.run();
    bound.executable->query_host_scalars(bound.call.numbers);
    compute_inputs(inputs);
    context->make_room();

    std::lock_guard lock(context->mutex());
    find_grads();
    bind_memory(inputs);
    std::optional<Undo> undo;
    if (context->has_slices()) undo = before_the_call();
    const Executable::Outcome outcome = replay();
    of_call.succeed();
    mark_state_as_written();
    if (undo) keep(*std::move(undo), outcome.ticket);

    std::vector<Tensor> out;
    out.reserve(outputs.size());
    for (std::size_t i : outputs) out.push_back(graph::make_tensor(result_value(i, outcome)));
    for (const Grad& g : grads)
        g.owner->grad = g.result ? graph::make_tensor(result_value(*g.result, outcome)).cell() : nullptr;
    return out;
}

std::vector<Tensor> Program::call(const std::vector<Tensor>& inputs, const DimVector& sizes) const
{
    if (!impl_) detail::fail(ErrorKind::state, "program", "The program is empty: make one with record().");
    if (auto* trace = dynamic_cast<program::Trace*>(graph::current_tracer()))
        return impl_->append_to(*trace, inputs, sizes);
    return impl_->call(inputs, sizes);
}

} // namespace reprise
