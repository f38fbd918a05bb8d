// record() runs a function once on placeholders and builds a Program from the trace.
#include <algorithm>
#include <atomic>
#include <set>
#include <unordered_map>

#include "base/log.hpp"
#include "execution/budget.hpp"
#include "graph/segment.hpp"
#include "kernels/code_cache.hpp"
#include "program/program.hpp"

namespace reprise {

using eager::Context;
using execution::Executable;
using graph::Value;
using program::Trace;

namespace {

// Builds the request for the compiler from a trace.
class Builder {
public:
    Builder(Program::Impl& p, const Trace& trace, const RecordOptions& options)
        : p_(p), trace_(trace), options_(options)
    {}

    plan::Request build(const std::vector<Value>& placeholders, const std::vector<Value>& outputs)
    {
        request_.capabilities = &p_.context->device()->capabilities();
        request_.fuse = options_.fuse;
        request_.progress = {options_.stop, options_.progress};
        for (std::size_t i = 0; i < placeholders.size(); ++i)
            bind(placeholders[i], {Program::Impl::Source::input, i});
        for (const Trace::State& s : trace_.states()) {
            bind(s.placeholder, {Program::Impl::Source::state, p_.states.size()});
            p_.states.push_back({s.cell, s.assigned, s.owner, s.placeholder.type().dtype});
        }
        for (const Value& v : outputs) p_.outputs.push_back(add_result(v));
        add_assignments();
        add_grads();
        collect_nodes();
        return std::move(request_);
    }

private:
    void bind(const Value& v, Program::Impl::Binding b)
    {
        bound_[v.node.get()] = request_.externals.size();
        request_.externals.push_back({v, {}, 0});
        p_.externals.push_back(b);
    }

    std::size_t add_result(const Value& v)
    {
        request_.results.push_back(v);
        return request_.results.size() - 1;
    }

    void add_assignments()
    {
        for (const Trace::State& s : trace_.states()) {
            if (!s.assigned) continue;
            request_.assignments.push_back({static_cast<std::uint32_t>(bound_.at(s.placeholder.node.get())),
                                            static_cast<std::uint32_t>(add_result(s.current))});
        }
    }

    void add_grads()
    {
        for (const Trace::Grad& g : trace_.grads()) {
            p_.grads.push_back({g.owner});
            if (g.value && options_.keep_grads)
                p_.grads.back().result = add_result(graph::read(Tensor(g.value)));
        }
    }

    // Collects the pending nodes that the results depend on; values that are already computed become constants of the
    // program.
    void collect_nodes()
    {
        for (const graph::Node* n : graph::pending(request_.results)) {
            if (bound_.count(n)) continue;
            if (!n->op)
                detail::fail(ErrorKind::state, "record",
                             "A tensor of another recording is used in this one: return it from its "
                             "own function.");
            if (n->evaluator != p_.context)
                detail::fail(ErrorKind::device, n->op->name, "A tensor of the function is on (",
                             n->evaluator->name(), ") but the program is for (", p_.context->name(), ").");
            request_.nodes.push_back(n);
            for (const Value& v : n->inputs)
                if (v.node->materialised()) add_constant(v);
        }
        for (const Value& v : request_.results)
            if (v.node->materialised()) add_constant(v);
    }

    void add_constant(const Value& v)
    {
        if (bound_.count(v.node.get()) || !constants_.insert({v.node.get(), v.index}).second) return;
        const Value row_major_value = p_.context->row_major(v);
        request_.externals.push_back({v, {}, 0});
        p_.externals.push_back({Program::Impl::Source::constant, p_.constants.size()});
        p_.constants.push_back(row_major_value);
    }

    Program::Impl& p_;
    const Trace& trace_;
    const RecordOptions& options_;
    plan::Request request_;
    std::unordered_map<const graph::Node*, std::size_t> bound_;        // external slot, by node
    std::set<std::pair<const graph::Node*, std::uint32_t>> constants_; // values: node and output index
};

std::vector<std::uint32_t> counters(const Program::Impl& p)
{
    std::vector<std::uint32_t> ids;
    for (const Dim* d : {&p.random.seed_low, &p.random.seed_high, &p.random.ordinal})
        ids.push_back(d->symbols().front());
    return ids;
}

// Returns the executable's symbol index for each symbol of the signature. Any other symbol of it must be a counter.
std::vector<std::size_t> symbol_positions(const Program::Impl& p, const Executable& e)
{
    const std::vector<std::uint32_t>& wanted = e.symbols();
    const std::vector<std::uint32_t> drawn = counters(p);
    std::vector<std::size_t> positions(p.signature.symbols().size(), Program::Impl::unused_symbol);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::size_t index = p.signature.find(wanted[i]);
        if (index < positions.size()) positions[index] = i;
        else if (std::find(drawn.begin(), drawn.end(), wanted[i]) == drawn.end())
            detail::fail(ErrorKind::argument, "record", "A size of the function is the symbol (",
                         e.symbol_name(i),
                         ") that no call would give: let a size of a spec be it alone, or take it as an "
                         "argument of the function.");
    }
    return positions;
}

std::vector<std::unique_ptr<Executable>> executables(const Program::Impl& p, const plan::Request& request)
{
    if (p.memory_budget)
        return execution::within_budget(request,
                                        {.bytes = *p.memory_budget,
                                         .sizes = p.signature.symbols(),
                                         .caller = "record",
                                         .check = [&](const Executable& e) { symbol_positions(p, e); }},
                                        p.context->device(), Executable::Purpose::program);
    std::vector<std::unique_ptr<Executable>> one;
    one.push_back(std::make_unique<Executable>(plan::compile(request), p.context->device(),
                                               Executable::Purpose::program));
    return one;
}

} // namespace

Program record_function(const TracedFunction& f, const std::vector<Spec>& specs, const RecordOptions& options,
                        const DimVector& sizes)
{
    static std::atomic<std::uint32_t> next{1};
    if (graph::current_tracer())
        detail::fail(ErrorKind::state, "record",
                     "A function is being recorded already on this thread: finish it first.");
    const detail::Stopwatch watch;
    auto p = std::make_shared<Program::Impl>();
    p->context = options.device.value_or(default_device()).context();
    Trace trace(p->context, next++);
    std::vector<Value> placeholders, outputs;
    plan::Request request;
    {
        const graph::Scoped tracing(graph::current_tracer(), &trace);
        const graph::Scoped no_segment(graph::current_segment(), nullptr);
        shape::GuardScope guarding(trace.guards());
        std::vector<Tensor> inputs;
        for (const Spec& s : specs) {
            p->context->accept("record", nullptr, s.dtype);
            for (const Dim& d : s.shape)
                if (d.is_constant() && d.value() < 0)
                    detail::fail(ErrorKind::argument, "record", "The spec of input (", inputs.size(),
                                 ") has the size (", d,
                                 "): a size that each call chooses is a symbol, as in symbol(\"batch\").");
            placeholders.push_back(graph::leaf({s.dtype, s.shape}, p->context, nullptr, false));
            inputs.push_back(graph::make_tensor(placeholders.back()));
        }
        for (const Tensor& t : f(inputs)) outputs.push_back(graph::read(t));
        for (const auto& [check, indices] : trace.index_checks()) {
            p->index_checks.push_back(check);
            outputs.push_back(indices);
        }
        Builder builder(*p, trace, options);
        request = builder.build(placeholders, outputs);
    }
    p->signature = program::Signature(specs, sizes, trace.guards().guards());
    p->modes = trace.modes();
    p->autocast = trace.autocast();
    p->hooks = trace.hooks();
    p->random = trace.random_symbols();
    p->random_ops = trace.random_ops();
    for (const plan::Request::External& e : request.externals) p->recorded.externals.push_back(e.value);
    p->recorded.results = request.results;
    p->recorded.assignments = request.assignments;
    p->memory_budget = options.memory_budget;
    for (auto& e : executables(*p, request)) {
        p->context->count_plan(e->compiled().plan);
        std::vector<std::size_t> positions = symbol_positions(*p, *e);
        e->set_counters(counters(*p));
        for (const std::size_t i : p->outputs) e->make_readable(i);
        e->record(options.slots, options.timestamps, true, request.progress);
        p->variants.push_back({std::move(e), std::move(positions)});
    }
    trace.succeed();
    const std::size_t launches = p->variants.front().executable->compiled().plan.launches.size();
    detail::log(LogLevel::info, "Recorded a program on ", p->context->name(), " in ", watch,
                ". Launches: ", launches, ".");
    return Program(std::move(p));
}

void set_cache_directory(const std::filesystem::path& folder) { kernels::set_code_cache(folder); }

bool is_recording() { return graph::current_tracer() != nullptr; }
std::uint32_t recording_id() { return is_recording() ? graph::current_tracer()->id() : 0; }

void on_each_call(std::function<void()> f, std::function<void()> undo)
{
    if (auto* trace = dynamic_cast<Trace*>(graph::current_tracer()))
        trace->on_each_call({std::move(f), std::move(undo)});
    else f();
}

outside_recording::outside_recording() : suspended_(std::exchange(graph::current_tracer(), nullptr)) {}
outside_recording::~outside_recording() { graph::current_tracer() = static_cast<graph::Tracer*>(suspended_); }

} // namespace reprise
