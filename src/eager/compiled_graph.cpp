#include "eager/compiled_graph.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <reprise/error.hpp>

#include "execution/run_ahead.hpp"
#include "execution/storage.hpp"
#include "graph/ambient.hpp"
#include "graph/segment.hpp"
#include "shape/expression.hpp"

namespace reprise::eager {

using execution::Executable;
using execution::Stored;

namespace {

constexpr std::size_t max_symbols = 64;

std::vector<std::vector<std::int64_t>> sizes_of(const std::vector<DynamicValues>& all)
{
    std::vector<std::vector<std::int64_t>> out;
    for (const DynamicValues& f : all) out.push_back(f.sizes);
    return out;
}

} // namespace

// Builds a copy of the evaluation's graph in which sizes are expressions, and numbers that differed are host scalars.
class CompiledGraph::Builder {
public:
    Builder(CompiledGraph& p, const Evaluation& e, const DynamicValues& values, const DimVector& sizes)
        : p_(p), e_(e), values_(values), sizes_(sizes)
    {}

    plan::Request run(const device::Capabilities& capabilities)
    {
        const graph::Suspend outside;
        request_.capabilities = &capabilities;
        next_size_ = values_.attribute_sizes;
        for (const graph::Value* v : e_.externals) add_external(*v);
        next_size_ = 0;
        for (const graph::Node* n : e_.nodes) add(*n);
        segments_.close();
        for (const graph::Value& v : e_.results)
            request_.results.push_back({nodes_[v.node->mark.index], v.index});
        return request_;
    }
    shape::GuardSink& sink() { return guards_; }
    const std::vector<shape::Guard>& guards() const { return guards_.guards(); }
    const std::array<Dim, draws.size()>& draw_symbols() const { return draws_; }
    // Calls f for each output with the op, the symbolic shape and the shape in this evaluation.
    template <class F> void each_shape(const F& f) const
    {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            for (std::size_t o = 0; o < nodes_[i]->outputs.size(); ++o)
                f(*nodes_[i]->op, nodes_[i]->outputs[o].shape, e_.nodes[i]->outputs[o].shape);
    }

    // -- the visitor of visit_attribute() --
    void word(std::uint64_t) {}
    void size(Dim& d) { d = sizes_[next_size_++]; }
    void number(double&) { is_dynamic_ = p_.number_is_dynamic_[next_number_++]; }
    void source(std::shared_ptr<const graph::HostScalar>&) {}
    void kernel(std::shared_ptr<const graph::UserKernel>& k) { p_.kept_.push_back(k); }
    void host_call(std::shared_ptr<const graph::HostCall>& c) { p_.kept_.push_back(c); }
    void drawn(std::size_t draw, Dim& d) { d = draws_[draw] + Dim(d.value() - values_.drawn[draw]); }

private:
    void add_external(const graph::Value& v)
    {
        auto node = std::make_shared<graph::Node>();
        Shape shape(v.type().shape.size());
        for (Dim& d : shape) size(d);
        node->id = ++last_id_;
        node->outputs = {{v.type().dtype, std::move(shape)}};
        node->evaluator = v.node->evaluator;
        plan::Request::External external{{node, 0}, {}, 0};
        if (const Stored& s = Stored::of(v); !s.row_major()) {
            external.strides.resize(s.layout->strides.size());
            for (Dim& d : external.strides) size(d);
            size(external.offset);
        }
        request_.externals.push_back(std::move(external));
    }

    void add(const graph::Node& n)
    {
        auto node = std::make_shared<graph::Node>();
        for (const graph::Value& v : n.inputs)
            node->inputs.push_back(v.node->materialised()
                                       ? request_.externals[e_.slot_of(v)].value
                                       : graph::Value{nodes_[v.node->mark.index], v.index});
        node->op = n.op;
        node->attributes = attributes(n);
        node->outputs = n.op->infer(*n.op, graph::InputTypes(node->inputs), node->attributes);
        node->id = ++last_id_;
        node->evaluator = n.evaluator;
        if (n.segment) {
            node->segment = segments_.of(graph::made_in(n));
            segments_.copied(n, *node);
        }
        request_.nodes.push_back(node.get());
        nodes_.push_back(std::move(node));
    }

    graph::Attributes attributes(const graph::Node& n)
    {
        graph::Attributes out = n.attributes;
        const bool dynamic = is_dynamic_number(n);
        out.transform([&](const char* name, graph::Attribute& a) {
            is_dynamic_ = false;
            visit_attribute(name, a, dynamic, *this);
            if (is_dynamic_)
                a = std::shared_ptr<const graph::HostScalar>(std::make_shared<graph::HostScalar>(
                    graph::HostScalar{[given = p_.call_numbers_, at = next_number_ - 1] {
                        return std::bit_cast<double>((*given)[at]);
                    }}));
        });
        return out;
    }

    CompiledGraph& p_;
    const Evaluation& e_;
    const DynamicValues& values_;
    const DimVector& sizes_;
    std::size_t next_size_ = 0, next_number_ = 0;
    bool is_dynamic_ = false; // whether the last visited attribute is a number that differed
    std::array<Dim, draws.size()> draws_ = {symbol("seed_low"), symbol("seed_high"), symbol("ordinal")};
    std::vector<std::shared_ptr<const graph::Node>> nodes_;
    graph::SegmentCopies segments_;
    std::uint64_t last_id_ = 0;
    shape::GuardList guards_;
    plan::Request request_;
};

CompiledGraph::CompiledGraph(const Evaluation& e, const std::vector<DynamicValues>& all,
                             const std::shared_ptr<device::Device>& device)
{
    DynamicDims dims = infer_dynamic_dims(sizes_of(all), all.back().attribute_sizes);
    if (dims.symbols.size() > max_symbols)
        detail::fail(ErrorKind::shape, "evaluation", "(", dims.symbols.size(),
                     ") sizes differ independently, but a plan has at most (", max_symbols, ") symbols.");
    symbols_ = std::move(dims.symbols);
    sizes_ = all.back().sizes;
    find_dynamic_numbers(all);
    Builder builder(*this, e, all.back(), dims.sizes);
    plan::Request request;
    { // the scope ends before plan::compile(), so that a condition of the planner throws instead of becoming a guard
        const shape::GuardScope guarding(builder.sink());
        request = builder.run(device->capabilities());
    }
    compile_checks(dims.sizes, builder.guards());
    for (const DynamicValues& f : all)
        if (!fits(f))
            detail::fail(ErrorKind::shape, "evaluation",
                         "No rule was found that gives the sizes of all evaluations.");
    shape::Values values;
    for (std::size_t s = 0; s < symbols_.size(); ++s) values.emplace(symbols_[s].id, symbol_values_[s]);
    builder.each_shape([&](const graph::Op& op, const Shape& rule, const Shape& is) {
        for (std::size_t d = 0; d < is.size(); ++d)
            if (const Dim value = shape::substitute(rule.at(d), values); !same(value, is[d]))
                detail::fail(ErrorKind::shape, op.name, "The size (", is[d],
                             ") differs from what its shape rule gives, (", value, ").");
    });
    executable_ = std::make_unique<Executable>(plan::compile(request), device, Executable::Purpose::eager);
    bind_symbols(builder.draw_symbols());
    executable_->record(execution::RunAhead::max_calls, false, false);
}

void CompiledGraph::find_dynamic_numbers(const std::vector<DynamicValues>& all)
{
    numbers_ = all.back().numbers;
    for (std::size_t i = 0; i < numbers_.size(); ++i)
        number_is_dynamic_.push_back(std::any_of(
            all.begin(), all.end(), [&](const DynamicValues& f) { return f.numbers[i] != numbers_[i]; }));
}

void CompiledGraph::compile_checks(const DimVector& sizes, const std::vector<shape::Guard>& guards)
{
    for (const DynamicDims::Symbol& s : symbols_) program_.symbol_slot(s.id);
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (!sizes[i].is_constant()) {
            dynamic_sizes_.push_back(i);
            slots_.push_back(program_.add(sizes[i]));
        }
    for (const shape::Guard& g : guards)
        conditions_.push_back({g.relation, program_.add(g.a), program_.add(g.b)});
}

void CompiledGraph::bind_symbols(const std::array<Dim, draws.size()>& drawn)
{
    std::vector<std::uint32_t> symbol_ids, counters;
    for (const DynamicDims::Symbol& s : symbols_) symbol_ids.push_back(s.id);
    for (const Dim& d : drawn) counters.push_back(d.symbols().front());
    symbol_ids.insert(symbol_ids.end(), counters.begin(), counters.end());
    for (const std::uint32_t id : executable_->symbols()) {
        const auto at = std::find(symbol_ids.begin(), symbol_ids.end(), id);
        if (at == symbol_ids.end())
            detail::fail(ErrorKind::internal, "evaluation", "A size is a symbol that no call gives.");
        symbol_positions_.push_back(static_cast<std::size_t>(at - symbol_ids.begin()));
    }
    executable_->set_counters(counters);
}

bool CompiledGraph::fits(const DynamicValues& f)
{
    if (f.sizes.size() != sizes_.size() || f.numbers.size() != numbers_.size()) return false;
    std::size_t from = 0;
    const auto equal_up_to = [&](std::size_t to) {
        const auto at = static_cast<std::ptrdiff_t>(from), end = static_cast<std::ptrdiff_t>(to);
        from = to + 1;
        return std::equal(sizes_.begin() + at, sizes_.begin() + end, f.sizes.begin() + at);
    };
    for (const std::size_t i : dynamic_sizes_)
        if (!equal_up_to(i)) return false;
    if (!equal_up_to(sizes_.size())) return false;
    for (std::size_t i = 0; i < numbers_.size(); ++i)
        if (!number_is_dynamic_[i] && f.numbers[i] != numbers_[i]) return false;
    symbol_values_.clear();
    for (const DynamicDims::Symbol& s : symbols_) symbol_values_.push_back(f.sizes[s.position]);
    try {
        program_.evaluate(symbol_values_, values_);
    } catch (const Error&) { // a value is out of a symbol's range, or an expression can't be evaluated
        return false;
    }
    for (std::size_t i = 0; i < dynamic_sizes_.size(); ++i)
        if (values_[slots_[i]] != f.sizes[dynamic_sizes_[i]]) return false;
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& c) {
        return shape::holds(c.relation, values_[c.a], values_[c.b]);
    });
}

Executable::Outcome CompiledGraph::run(const DynamicValues& f, Executable::Call& call)
{
    was_run_ = true;
    *call_numbers_ = f.numbers;
    executable_->query_host_scalars(call.numbers);
    call.symbols.clear();
    for (const std::size_t at : symbol_positions_)
        call.symbols.push_back(at < symbol_values_.size() ? symbol_values_[at]
                                                          : f.drawn[at - symbol_values_.size()]);
    return executable_->replay_once(call);
}

} // namespace reprise::eager
