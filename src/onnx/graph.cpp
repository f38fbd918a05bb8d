#include "onnx/graph.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include <reprise/error.hpp>

namespace reprise::onnx {

namespace {

using Names = std::set<std::string>;

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

// Adds the constants and types among the node's attributes to the problems where they can't be imported.
void check_attributes(const Node& prepared, Library& library)
{
    const proto::NodeProto& node = *prepared.proto;
    const std::set<std::string> types{"to", "dtype", "output_dtype"}; // numbers of element types; 0 is none
    for (const auto& attribute : node.attribute()) {
        std::string why = attribute.has_t() ? why_not(attribute.t()) : "";
        const bool text = attribute.name() == "value_string" || attribute.name() == "value_strings";
        if (text && node.op_type() == "Constant") why = "the library has no tensors of strings";
        if (prepared.op && types.count(attribute.name()) && attribute.i() &&
            !find_element_type(static_cast<int>(attribute.i())))
            why = "the library has no tensors of the type " +
                  std::string(element_type_name(static_cast<int>(attribute.i())));
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
    if (const auto found = library.functions.find(key_of(domain, from.op_type(), from.overload()));
        found != library.functions.end()) {
        node.function = found->second.get();
        return;
    }
    if (from.overload().empty()) node.op = find_operator(domain, from.op_type());
    std::ostringstream problem;
    if (!node.op) problem << "there is no operator of this name";
    else if (!node.opset) problem << "the model does not say which version of its domain it uses";
    else if (node.opset < node.op->options.since || node.opset > node.op->options.until)
        problem << "its version in opset (" << node.opset << ") is not imported, only those from ("
                << node.op->options.since << ") to (" << node.op->options.until << ")";
    if (!problem.str().empty()) library.problems.push_back(describe(from) + ": " + problem.str());
}

Node prepare_node(const proto::NodeProto& from, const Known& known, Library& library)
{
    Node node;
    node.proto = &from;
    find_operator_of(node, library);
    check_attributes(node, library);
    for (const std::string& name : from.input())
        if (!name.empty() && !known.has(name))
            library.problems.push_back(describe(from) + ": it reads (" + name +
                                       "), which nothing before it computes");
    for (const auto& attribute : from.attribute())
        if (attribute.has_g())
            node.graphs.emplace(attribute.name(),
                                std::make_shared<const Graph>(prepare(attribute.g(), library, {}, &known)));
    return node;
}

template <class T> Value list_of(const T& values, DType dtype, std::vector<std::int64_t> shape)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(values.size()) * size_of(dtype));
    std::copy_n(reinterpret_cast<const std::byte*>(values.data()), bytes.size(), bytes.begin());
    return Value(std::make_shared<Constant>(element_type_of(dtype), std::move(shape), std::move(bytes)));
}

// The value of a node Constant, which is decoded once; nullopt for other nodes and for values that can't be imported
// or are attributes of the function.
std::optional<Value> constant_of(const proto::NodeProto& node, Library& library)
{
    if (node.op_type() != "Constant" || !canonical(node.domain()).empty() || node.output_size() != 1 ||
        node.attribute_size() != 1 || library.functions.count(key_of("", "Constant", node.overload())))
        return std::nullopt;
    const auto& a = node.attribute(0);
    if (!a.ref_attr_name().empty()) return std::nullopt;
    if (a.name() == "value" && a.has_t() && why_not(a.t()).empty())
        return Value(decode_tensor(a.t(), library.external));
    if (a.name() == "value_float") return list_of(std::vector<float>{a.f()}, f32, {});
    if (a.name() == "value_floats") return list_of(a.floats(), f32, {a.floats_size()});
    if (a.name() == "value_int") return Value::scalar(Dim(std::int64_t{a.i()}));
    if (a.name() == "value_ints")
        return Value::sizes(DimVector(std::vector<std::int64_t>(a.ints().begin(), a.ints().end())));
    return std::nullopt;
}

void prepare_nodes(const google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, Known& known,
                   Graph& graph, Library& library)
{
    graph.nodes.reserve(static_cast<std::size_t>(nodes.size()));
    for (const auto& node : nodes) {
        if (std::optional<Value> value = constant_of(node, library)) graph.constants[node.output(0)] = *value;
        else graph.nodes.push_back(prepare_node(node, known, library));
        known.names.insert(node.output().begin(), node.output().end());
    }
    for (const std::string& name : graph.outputs)
        if (!known.has(name)) library.problems.push_back("output (" + name + "): nothing computes it");
    find_last_uses(graph);
}

// Counts the nodes that a call of each function runs, with those of the functions that it calls.
class Expansion {
public:
    explicit Expansion(const proto::ModelProto& model)
    {
        for (const auto& f : model.functions()) functions_[key_of(f.domain(), f.name(), f.overload())] = &f;
    }
    std::uint64_t count(const google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, int depth)
    {
        constexpr int deepest = 100;
        constexpr std::uint64_t most = 1 << 24;
        if (depth > deepest) fail("they call each other to a depth of more than (", deepest, ")");
        std::uint64_t sum = 0;
        for (const auto& node : nodes) {
            ++sum;
            const auto called = functions_.find(key_of(node.domain(), node.op_type(), node.overload()));
            if (called != functions_.end()) sum += count_function(*called->second, depth + 1);
            for (const auto& attribute : node.attribute())
                if (attribute.has_g()) sum += count(attribute.g().node(), depth);
            if (sum > most) fail("their calls have more than (", most, ") nodes");
        }
        return sum;
    }

private:
    template <class... Parts> [[noreturn]] static void fail(const Parts&... parts)
    {
        detail::fail(ErrorKind::file, "onnx::Model", "The functions of the model can't be run: ", parts...,
                     ".");
    }
    std::uint64_t count_function(const proto::FunctionProto& function, int depth)
    {
        const auto [place, first] = known_.try_emplace(&function, Count{0, depth});
        if (!first && (place->second.open || depth <= place->second.depth)) return place->second.nodes;
        place->second = {place->second.nodes, depth, true};
        const std::uint64_t nodes = count(function.node(), depth);
        known_.at(&function) = {nodes, depth, false};
        return nodes;
    }
    struct Count {
        std::uint64_t nodes;
        int depth;         // the deepest call that was counted
        bool open = false; // while its own nodes are counted, so that it calls itself
    };
    std::map<FunctionKey, const proto::FunctionProto*> functions_;
    std::map<const proto::FunctionProto*, Count> known_;
};

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

std::string describe(const proto::NodeProto& node)
{
    std::ostringstream text;
    text << (node.domain().empty() ? "" : node.domain() + ".") << node.op_type();
    if (!node.name().empty()) text << " (" << node.name() << ")";
    else if (node.output_size()) text << " (-> " << node.output(0) << ")";
    return text.str();
}

FunctionKey key_of(const std::string& domain, const std::string& name, const std::string& overload)
{
    return {canonical(domain), name, overload};
}

Graph prepare(const proto::GraphProto& from, Library& library,
              const std::function<bool(const proto::TensorProto&)>& skip, const Known* outer)
{
    Graph graph;
    Known known{outer};
    for (const auto& tensor : from.initializer()) {
        known.names.insert(tensor.name());
        if (skip && skip(tensor)) continue;
        const std::string why = why_not(tensor);
        if (!why.empty()) library.problems.push_back("initializer (" + tensor.name() + "): " + why);
        else graph.constants.emplace(tensor.name(), Value(decode_tensor(tensor, library.external)));
    }
    for (const auto& tensor : from.sparse_initializer()) {
        known.names.insert(tensor.values().name());
        library.problems.push_back("initializer (" + tensor.values().name() +
                                   "): sparse tensors are not imported");
    }
    for (const auto& input : from.input()) graph.inputs.push_back(input.name());
    known.names.insert(graph.inputs.begin(), graph.inputs.end());
    for (const auto& output : from.output()) graph.outputs.push_back(output.name());
    prepare_nodes(from.node(), known, graph, library);
    return graph;
}

void check_functions(const proto::ModelProto& model)
{
    Expansion expansion(model);
    expansion.count(model.graph().node(), 0);
    for (const auto& function : model.functions()) expansion.count(function.node(), 1);
}

void prepare_functions(const proto::ModelProto& model, Library& library)
{
    for (const auto& from : model.functions())
        if (!library.functions
                 .try_emplace(key_of(from.domain(), from.name(), from.overload()),
                              std::make_shared<Function>())
                 .second)
            library.problems.push_back("function (" + from.name() +
                                       "): there are two of this domain and overload");
    const auto opsets = library.opsets;
    std::set<const Function*> ready;
    for (const auto& from : model.functions()) {
        Function& function = *library.functions.at(key_of(from.domain(), from.name(), from.overload()));
        if (!ready.insert(&function).second) continue;
        for (const auto& import : from.opset_import())
            library.opsets[canonical(import.domain())] = import.version();
        function.body.inputs.assign(from.input().begin(), from.input().end());
        function.body.outputs.assign(from.output().begin(), from.output().end());
        for (const auto& attribute : from.attribute_proto()) function.defaults[attribute.name()] = &attribute;
        Known known{nullptr, {from.input().begin(), from.input().end()}};
        prepare_nodes(from.node(), known, function.body, library);
        library.opsets = opsets;
    }
    for (const auto& [name, function] : library.functions) {
        std::set<const Function*> seen;
        if (calls(function->body, function.get(), seen))
            library.problems.push_back("function (" + name[1] + "): it calls itself");
    }
}

} // namespace reprise::onnx
