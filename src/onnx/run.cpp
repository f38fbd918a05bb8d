// Runs graphs node by node.
#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include <reprise/error.hpp>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

Values call_function(const Node& node, const Device& device, const Scope& caller, Values inputs)
{
    auto attributes = node.function->defaults;
    for (const auto& attribute : node.proto->attribute())
        if (const auto* given = caller.resolved(attribute)) attributes[attribute.name()] = given;
    Scope scope{&caller, nullptr, {}, &attributes};
    return run_graph(node.function->body, device, scope, std::move(inputs));
}

// The results of an operator with the types that they have in the file.
Values finished(const Operator& op, const Call& call, Values results)
{
    const Typed typed = op.options.typed;
    if (typed == Typed::by_dtype || !call.has(0) || call.value(0).is_sequence()) return results;
    const ElementType& type = call.type(0);
    if (type.native) return results;
    const std::size_t count =
        typed == Typed::first ? std::min<std::size_t>(results.size(), 1) : results.size();
    for (std::size_t i = 0; i < count; ++i) {
        Value& result = results[i];
        if (!result.present() || result.is_sequence() || !result.type().native) continue;
        if (result.type().held != type.held || result.integers()) continue;
        const Tensor x = result.tensor(call.device);
        result = Value(typed == Typed::arithmetic ? wrapped(x, type) : x, &type);
    }
    return results;
}

bool all_on_host(const Call& call)
{
    const auto on_host = [](const Value& v) { return !v.present() || v.integers(); };
    return std::all_of(call.values().begin(), call.values().end(), on_host);
}

Values run_operator(const Operator& op, Call& call)
{
    if (op.options.on_host && all_on_host(call))
        if (std::optional<Value> result = op.options.on_host(call)) return {*std::move(result)};
    if (const auto* one = std::get_if<Value (*)(Call&)>(&op.run)) return finished(op, call, {(*one)(call)});
    return finished(op, call, std::get<Values (*)(Call&)>(op.run)(call));
}

[[noreturn]] void fail_node(const proto::NodeProto& node, ErrorKind kind, const char* why)
{
    detail::fail(kind, "onnx::Model", "The node ", describe(node), " can't be computed: ", why);
}

Values run_node(const Node& node, const Device& device, const Scope& scope)
{
    Values inputs;
    for (const std::string& name : node.proto->input()) {
        const Value* found = name.empty() ? nullptr : scope.find(name);
        if (!found && !name.empty())
            detail::fail(ErrorKind::file, "onnx::Model", "The node ", describe(*node.proto), " reads (", name,
                         "), which nothing before it computes.");
        inputs.push_back(found ? *found : Value());
    }
    if (node.function) return call_function(node, device, scope, std::move(inputs));
    Call call(node, device, scope, std::move(inputs));
    try {
        return run_operator(*node.op, call);
    } catch (const Error& error) {
        fail_node(*node.proto, error.kind(), error.what());
    } catch (const std::bad_alloc&) {
        fail_node(*node.proto, ErrorKind::out_of_memory, "The host lacks memory for it.");
    } catch (const std::logic_error&) { // of at(), and of vectors that are too long
        fail_node(*node.proto, ErrorKind::argument,
                  "It has too few or too many numbers in an input or attribute.");
    }
}

} // namespace

const proto::AttributeProto* Scope::resolved(const proto::AttributeProto& given) const
{
    if (given.ref_attr_name().empty()) return &given;
    const Scope* function = this;
    while (function && !function->attributes) function = function->outer;
    if (!function) return nullptr;
    const auto found = function->attributes->find(given.ref_attr_name());
    return found == function->attributes->end() ? nullptr : found->second;
}

const Value* Scope::find(const std::string& name) const
{
    if (const auto found = values.find(name); found != values.end()) return &found->second;
    if (graph)
        if (const auto found = graph->constants.find(name); found != graph->constants.end())
            return &found->second;
    return outer && !attributes ? outer->find(name) : nullptr;
}

Values run_graph(const Graph& graph, const Device& device, Scope& scope, Values inputs)
{
    scope.graph = &graph;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        if (i < inputs.size()) scope.values[graph.inputs[i]] = std::move(inputs[i]);
        else if (!graph.constants.count(graph.inputs[i])) scope.values[graph.inputs[i]] = Value();
    for (const Node& node : graph.nodes) {
        Values results = run_node(node, device, scope);
        for (int i = 0; i < node.proto->output_size(); ++i) {
            const std::string& name = node.proto->output(i);
            const auto at = static_cast<std::size_t>(i);
            if (!name.empty()) scope.values[name] = at < results.size() ? std::move(results[at]) : Value();
        }
        for (const std::string& name : node.last_uses) scope.values.erase(name);
    }
    Values outputs;
    for (const std::string& name : graph.outputs) {
        const Value* found = scope.find(name);
        outputs.push_back(found ? *found : Value());
    }
    return outputs;
}

} // namespace reprise::onnx
