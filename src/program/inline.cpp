// Inlining: a program that is called during another recording. Its recorded graph is appended to the outer graph with
// the caller's sizes substituted for its symbols. The original function is not run again, as objects that it refers to
// may no longer exist. State is read and assigned through the outer recording, random ops take its next ordinals,
// guards are decided again or added to its guards, and host scalars are queried at the call's position among the hooks.
// The results are those of separate calls.
#include <unordered_map>

#include <reprise/ops/creation.hpp>

#include "graph/segment.hpp"
#include "program/program.hpp"

namespace reprise {

using graph::Node;
using graph::Value;

namespace {

class Inliner {
public:
    Inliner(program::Trace& trace, shape::Values values) : trace_(trace), values_(std::move(values)) {}

    void bind(const Value& placeholder, Value value)
    {
        values_of_[placeholder.node.get()] = {std::move(value)};
    }

    void append(const std::vector<Value>& results)
    {
        for (const Node* n : graph::pending(results))
            if (n->trace && !values_of_.count(n)) append(*n);
        segments_.close();
    }

    Value at(const Value& v) const
    {
        const auto found = values_of_.find(v.node.get());
        if (found != values_of_.end()) return found->second.at(v.index);
        if (v.node->trace)
            detail::fail(ErrorKind::internal, "program", "A value of the recorded program is not bound.");
        return v; // computed, or pending, outside of any recording
    }

private:
    void append(const Node& n)
    {
        std::vector<Value> inputs;
        for (const Value& v : n.inputs) inputs.push_back(at(v));
        const graph::Scoped segment(graph::current_segment(), segments_.of(graph::made_in(n)).get());
        const auto node =
            graph::append(*n.op, std::move(inputs), attributes(n.attributes), trace_.evaluator(), false);
        segments_.copied(n, *node);
        auto& list = values_of_[&n];
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i) list.push_back({node, i});
    }

    graph::Attributes attributes(const graph::Attributes& from)
    {
        graph::Attributes to = from;
        to.transform([&](const char*, graph::Attribute& a) {
            if (Dim* d = std::get_if<Dim>(&a)) *d = shape::substitute(*d, values_);
            if (auto* s = std::get_if<Shape>(&a))
                for (Dim& d : *s) d = shape::substitute(d, values_);
            if (auto* s = std::get_if<std::shared_ptr<const graph::HostScalar>>(&a)) *s = sampled(*s);
        });
        return to;
    }

    // Samples the host scalar after the hooks that precede this call, since a later hook may change its inputs.
    std::shared_ptr<const graph::HostScalar> sampled(const std::shared_ptr<const graph::HostScalar>& scalar)
    {
        auto& sample = scalars_[scalar.get()];
        if (sample) return sample;
        const auto number = std::make_shared<double>(0);
        trace_.on_each_call({[scalar, number] { *number = scalar->value(); }, [] {}});
        return sample = std::make_shared<graph::HostScalar>(graph::HostScalar{[number] { return *number; }});
    }

    program::Trace& trace_;
    shape::Values values_;
    std::unordered_map<const Node*, std::vector<Value>> values_of_;
    graph::SegmentCopies segments_{graph::current_segment()}; // within the segment of the call
    std::unordered_map<const graph::HostScalar*, std::shared_ptr<const graph::HostScalar>> scalars_;
};

// Returns the value of state at the call. A gradient that the outer function has cleared starts from zero, as in a
// call.
Value state_at_call(const Program::Impl::State& s)
{
    if (!s.owner) return graph::read(Tensor(s.cell));
    const std::shared_ptr<graph::Cell> cell = graph::grad_to_add_to(Tensor(s.owner));
    return graph::read(cell ? Tensor(cell) : zeros_like(Tensor(s.owner)));
}

} // namespace

std::vector<Tensor> Program::Impl::append_to(program::Trace& trace, const std::vector<Tensor>& inputs,
                                             const DimVector& sizes) const
{
    check_count(inputs.size(), sizes.size());
    if (trace.evaluator() != context)
        detail::fail(ErrorKind::device, "program", "The program is for (", context->name(),
                     ") but the one that is recorded around it for (", trace.evaluator()->name(), ").");
    for (const program::Trace::ReadMode& m : modes) {
        m.check();
        trace.read_mode(m.mode);
    }
    if (autocast) {
        autocast->check();
        if (const graph::Autocast& state = graph::ambient().autocast; state.set_in != trace.id())
            trace.read_autocast(state);
    }
    std::vector<Value> given;
    std::vector<const Shape*> shapes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        given.push_back(graph::read(inputs[i]));
        check_input(i, given.back());
    }
    for (const Value& v : given) shapes.push_back(&v.type().shape);
    shape::Values values = signature.bind_symbolic(shapes, sizes);
    for (std::uint64_t i = 0; i < random_ops; ++i) {
        const graph::RandomState next = trace.next_random();
        if (i > 0) continue;
        values.emplace(random.seed_low.symbols().front(), next.seed_low);
        values.emplace(random.seed_high.symbols().front(), next.seed_high);
        values.emplace(random.ordinal.symbols().front(), next.ordinal);
    }
    for (const auto& hook : hooks) trace.on_each_call(hook);

    Inliner inliner(trace, std::move(values));
    for (std::size_t slot = 0; slot < externals.size(); ++slot) {
        const Binding& b = externals[slot];
        if (b.source == Source::input) inliner.bind(recorded.externals[slot], given[b.index]);
        if (b.source != Source::state) continue;
        inliner.bind(recorded.externals[slot], state_at_call(states[b.index]));
    }
    inliner.append(recorded.results);

    const auto result = [&](std::size_t i) {
        return graph::make_tensor(graph::leaf_alias(inliner.at(recorded.results[i]), false, nullptr));
    };
    for (const plan::Request::Assignment& a : recorded.assignments) {
        const State& s = states[externals[a.to].index];
        if (s.owner) graph::set_grad_of(Tensor(s.owner), result(a.from).cell());
        else Tensor(s.cell).assign(result(a.from));
    }
    std::vector<Tensor> out;
    for (const std::size_t i : outputs) out.push_back(result(i));
    const std::vector<Tensor> checked = take_checked(out);
    for (std::size_t i = 0; i < checked.size(); ++i)
        trace.check_indices(index_checks[i], graph::read(checked[i]));
    for (const Grad& g : grads)
        graph::set_grad_of(Tensor(g.owner), g.result ? result(*g.result).cell() : nullptr);
    return out;
}

} // namespace reprise
