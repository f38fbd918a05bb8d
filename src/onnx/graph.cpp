#include "onnx/graph.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace reprise::onnx {

namespace {

using Names = std::set<std::string>;

std::string describe(const proto::NodeProto& node)
{
    std::ostringstream text;
    text << (node.domain().empty() ? "" : node.domain() + ".") << node.op_type();
    if (!node.name().empty()) text << " (" << node.name() << ")";
    else if (node.output_size()) text << " (-> " << node.output(0) << ")";
    return text.str();
}

std::string canonical(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// Adds all names that a graph reads, also those of the graphs around it.
void add_uses(const proto::GraphProto& graph, Names& names)
{
    for (const auto& output : graph.output()) names.insert(output.name());
    for (const auto& node : graph.node()) {
        names.insert(node.input().begin(), node.input().end());
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g()) add_uses(attribute.g(), names);
            for (const auto& inner : attribute.graphs()) add_uses(inner, names);
        }
    }
}

Names uses_of(const proto::NodeProto& node)
{
    Names names(node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute())
        if (attribute.has_g()) add_uses(attribute.g(), names);
    return names;
}

// Notes with each node the names that no later node and no output reads.
void find_last_uses(Graph& graph)
{
    Names later(graph.outputs.begin(), graph.outputs.end());
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
        Names here = uses_of(*node->proto);
        here.insert(node->proto->output().begin(), node->proto->output().end());
        for (const std::string& name : here)
            if (later.insert(name).second) node->last_uses.push_back(name);
    }
}

// Adds the constants among the node's attributes to the problems where they can't be imported.
void check_attributes(const proto::NodeProto& node, Library& library)
{
    for (const auto& attribute : node.attribute()) {
        std::string why = attribute.has_t() ? why_not(attribute.t()) : "";
        if (attribute.has_sparse_tensor() || attribute.sparse_tensors_size())
            why = "sparse tensors are not imported";
        if (!why.empty())
            library.problems.push_back(describe(node) + ": its attribute (" + attribute.name() + "): " + why);
    }
}

void find_operator_of(Node& node, Library& library)
{
    const proto::NodeProto& from = *node.proto;
    const std::string domain = canonical(from.domain());
    const auto version = library.opsets.find(domain);
    node.opset = version == library.opsets.end() ? 0 : version->second;
    if (const auto found = library.functions.find({domain, from.op_type()});
        found != library.functions.end()) {
        node.function = found->second.get();
        return;
    }
    node.op = find_operator(domain, from.op_type());
    std::ostringstream problem;
    if (!node.op) problem << "there is no operator of this name";
    else if (!node.opset) problem << "the model does not say which version of its domain it uses";
    else if (node.opset < node.op->options.since || node.opset > node.op->options.until)
        problem << "its version in opset (" << node.opset << ") is not imported, only those from ("
                << node.op->options.since << ") to (" << node.op->options.until << ")";
    if (!problem.str().empty()) library.problems.push_back(describe(from) + ": " + problem.str());
}

Node prepare_node(const proto::NodeProto& from, Library& library)
{
    Node node;
    node.proto = &from;
    find_operator_of(node, library);
    check_attributes(from, library);
    for (const auto& attribute : from.attribute())
        if (attribute.has_g())
            node.graphs.emplace(attribute.name(),
                                std::make_shared<const Graph>(prepare(attribute.g(), library)));
    return node;
}

void prepare_nodes(const google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, Graph& graph,
                   Library& library)
{
    graph.nodes.reserve(static_cast<std::size_t>(nodes.size()));
    for (const auto& node : nodes) graph.nodes.push_back(prepare_node(node, library));
    find_last_uses(graph);
}

bool calls(const Graph& graph, const Function* wanted, std::set<const Function*>& seen)
{
    for (const Node& node : graph.nodes) {
        for (const auto& [name, inner] : node.graphs)
            if (calls(*inner, wanted, seen)) return true;
        if (node.function == wanted) return true;
        if (node.function && seen.insert(node.function).second && calls(node.function->body, wanted, seen))
            return true;
    }
    return false;
}

} // namespace

Graph prepare(const proto::GraphProto& from, Library& library,
              const std::function<bool(const proto::TensorProto&)>& skip)
{
    Graph graph;
    for (const auto& tensor : from.initializer()) {
        if (skip && skip(tensor)) continue;
        const std::string why = why_not(tensor);
        if (!why.empty()) library.problems.push_back("initializer (" + tensor.name() + "): " + why);
        else graph.constants.emplace(tensor.name(), Value(decode_tensor(tensor, library.external)));
    }
    for (const auto& tensor : from.sparse_initializer())
        library.problems.push_back("initializer (" + tensor.values().name() +
                                   "): sparse tensors are not imported");
    for (const auto& input : from.input()) graph.inputs.push_back(input.name());
    for (const auto& output : from.output()) graph.outputs.push_back(output.name());
    prepare_nodes(from.node(), graph, library);
    return graph;
}

void prepare_functions(const proto::ModelProto& model, Library& library)
{
    for (const auto& from : model.functions())
        library.functions[{canonical(from.domain()), from.name()}] = std::make_shared<Function>();
    const auto opsets = library.opsets;
    for (const auto& from : model.functions()) {
        Function& function = *library.functions.at({canonical(from.domain()), from.name()});
        for (const auto& import : from.opset_import())
            library.opsets[canonical(import.domain())] = import.version();
        function.body.inputs.assign(from.input().begin(), from.input().end());
        function.body.outputs.assign(from.output().begin(), from.output().end());
        for (const auto& attribute : from.attribute_proto()) function.defaults[attribute.name()] = &attribute;
        prepare_nodes(from.node(), function.body, library);
        library.opsets = opsets;
    }
    for (const auto& [name, function] : library.functions) {
        std::set<const Function*> seen;
        if (calls(function->body, function.get(), seen))
            library.problems.push_back("function (" + name.second + "): it calls itself");
    }
}

} // namespace reprise::onnx
