#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/onnx.hpp>
#include <reprise/ops.hpp>
#include <reprise/path_text.hpp>
#include <reprise/program.hpp>

#include "onnx/call.hpp"
#include "onnx/file.hpp"
#include "onnx/testing.hpp"

namespace reprise::onnx {

namespace {

constexpr const char* of_model = "onnx::Model";

// A module for the part of names before a dot.
class Branch : public nn::Module {
public:
    Variable leaf(const std::string& name, const Tensor& value, bool parameter)
    {
        return parameter ? register_parameter(name, value) : register_buffer(name, value);
    }
    void branch(const std::string& name, const std::shared_ptr<Branch>& child)
    {
        register_module(name, child);
    }
    std::string name() const override { return "Module"; }
};

// Registers tensors under their names, whose dots separate modules.  A name that modules do not allow, as it has two
// dots in a row or begins as another name does, and one of more than 64 dots gets _ for its dots.
class Names {
public:
    using AddLeaf = std::function<Variable(const std::string&, const Tensor&, bool parameter)>;
    using AddBranch = std::function<void(const std::string&, const std::shared_ptr<Branch>&)>;
    Names(AddLeaf leaf, AddBranch branch) : leaf_(std::move(leaf)), branch_(std::move(branch)) {}

    Variable add(const std::string& name, const Tensor& value, bool parameter)
    {
        constexpr std::ptrdiff_t deepest = 64; // modules in each other
        if (std::count(name.begin(), name.end(), '.') > deepest) return add_leaf(name, value, parameter);
        const auto dot = name.find('.');
        const std::string first = name.substr(0, dot), rest = dot == name.npos ? "" : name.substr(dot + 1);
        if (first.empty() || rest.empty() || leaves_.count(first)) return add_leaf(name, value, parameter);
        auto& child = children_[first];
        if (!child) {
            const auto module = std::make_shared<Branch>();
            branch_(first, module);
            child = std::make_unique<Names>([module](const auto&... given) { return module->leaf(given...); },
                                            [module](const auto&... given) { module->branch(given...); });
        }
        return child->add(rest, value, parameter);
    }

private:
    Variable add_leaf(std::string name, const Tensor& value, bool parameter)
    {
        std::replace(name.begin(), name.end(), '.', '_');
        while (name.empty() || leaves_.count(name) || children_.count(name)) name += '_';
        leaves_.insert(name);
        return leaf_(name, value, parameter);
    }
    AddLeaf leaf_;
    AddBranch branch_;
    std::set<std::string> leaves_;
    std::map<std::string, std::unique_ptr<Names>> children_;
};

Port port_of(const proto::ValueInfoProto& info, Library& library)
{
    Port port;
    port.name = info.name();
    const bool other =
        info.type().has_sequence_type() || info.type().has_map_type() || info.type().has_sparse_tensor_type();
    if (other)
        library.problems.push_back(
            "value (" + info.name() +
            "): a module takes and returns tensors only, no sequence, map or sparse tensor");
    port.optional = info.type().has_optional_type();
    if (!info.type().has_tensor_type()) return port;
    const auto& tensor = info.type().tensor_type();
    port.type = element_type_name(tensor.elem_type());
    const ElementType* type = find_element_type(tensor.elem_type());
    if (type) port.dtype = type->held;
    else if (tensor.elem_type() != proto::TensorProto::UNDEFINED)
        library.problems.push_back("value (" + info.name() + "): the library has no tensors of the type (" +
                                   port.type + ")");
    port.has_shape = tensor.has_shape();
    for (const auto& size : tensor.shape().dim())
        if (size.has_dim_value()) port.shape.emplace_back(std::int64_t{size.dim_value()});
        else if (size.has_dim_param() && !size.dim_param().empty()) port.shape.emplace_back(size.dim_param());
        else port.shape.emplace_back(std::monostate());
    return port;
}

using InputBits = std::uint32_t OperatorOptions::*;

// Finds the names of values that nodes read as the inputs that the bits of their operators name, also in graphs of
// nodes and in functions.
class ReadAs {
public:
    ReadAs(InputBits bits, const proto::ModelProto& model) : bits_(bits)
    {
        for (const auto& f : model.functions()) functions_[key_of(f.domain(), f.name(), f.overload())] = &f;
    }
    std::set<std::string> names(const google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes)
    {
        std::set<std::string> found;
        for (const auto& node : nodes) {
            const auto function = functions_.find(key_of(node.domain(), node.op_type(), node.overload()));
            if (function != functions_.end()) add_function(found, node, *function->second);
            else if (const Operator* op = find_operator(node.domain(), node.op_type()))
                for (int i = 0; i < std::min(node.input_size(), 32); ++i)
                    if (op->options.*bits_ >> i & 1) found.insert(node.input(i));
            for (const auto& attribute : node.attribute())
                if (attribute.has_g()) add_graph(found, node, attribute.g());
        }
        return found;
    }

private:
    void add_function(std::set<std::string>& found, const proto::NodeProto& node,
                      const proto::FunctionProto& function)
    {
        const auto [inner, first] = known_.try_emplace(&function);
        if (first) inner->second = names(function.node()); // a function that calls itself is refused later
        for (int i = 0; i < std::min(node.input_size(), function.input_size()); ++i)
            if (inner->second.count(function.input(i))) found.insert(node.input(i));
    }
    // The graph sees the names around it; the inputs of a loop's body are those of the loop.
    void add_graph(std::set<std::string>& found, const proto::NodeProto& node, const proto::GraphProto& graph)
    {
        const std::set<std::string> inner = names(graph.node());
        found.insert(inner.begin(), inner.end());
        for (int i = 0; i < std::min(node.input_size(), graph.input_size()); ++i)
            if (inner.count(graph.input(i).name())) found.insert(node.input(i));
    }
    InputBits bits_;
    std::map<FunctionKey, const proto::FunctionProto*> functions_;
    std::map<const proto::FunctionProto*, std::set<std::string>> known_;
};

[[noreturn]] void lacks_memory(const std::string& file)
{
    detail::fail(ErrorKind::out_of_memory, of_model, "The host lacks memory for the model (", file, ").");
}

// Calls f; a lack of memory of the host is an Error.
template <class F> void within_memory(const std::string& file, const F& f)
{
    try {
        f();
    } catch (const std::bad_alloc&) {
        lacks_memory(file);
    } catch (const std::length_error&) { // of containers
        lacks_memory(file);
    }
}

bool may_be_variable(const proto::TensorProto& tensor)
{
    const ElementType* type = find_element_type(tensor.data_type());
    return type && type->is_floating() && type->native;
}

} // namespace

struct Model::Impl {
    std::shared_ptr<proto::ModelProto> proto; // the nodes of the graphs
    std::string file;
    Library library;
    Graph graph;
    std::vector<Port> inputs, outputs;
    std::vector<const ElementType*> input_types; // null: any
    std::map<std::string, Variable> variables;   // parameters and buffers by the names of the file
    std::optional<Device> device;                // of the options

    Device device_for(const std::vector<Tensor>& given) const
    {
        for (const Tensor& input : given)
            if (input.defined()) return input.device();
        for (const auto& [name, variable] : variables) return variable.device();
        return device.value_or(default_device());
    }
    void prepare_all(const std::function<bool(const proto::TensorProto&)>& is_variable)
    {
        read_opsets(*proto, library);
        prepare_functions(*proto, library);
        graph = prepare(proto->graph(), library, is_variable);
        for (const auto& info : proto->graph().input()) {
            const bool is_constant = graph.constants.count(info.name());
            if (is_variable && !is_constant && is_initializer(info.name())) continue;
            inputs.push_back(port_of(info, library));
            inputs.back().optional |= is_constant;
            input_types.push_back(info.type().has_tensor_type()
                                      ? find_element_type(info.type().tensor_type().elem_type())
                                      : nullptr);
        }
        graph.inputs.clear();
        for (const Port& port : inputs) graph.inputs.push_back(port.name);
        for (const auto& info : proto->graph().output()) outputs.push_back(port_of(info, library));
        check_problems(library, file);
    }
    bool is_initializer(const std::string& name) const
    {
        const auto& all = proto->graph().initializer();
        return std::any_of(all.begin(), all.end(), [&](const auto& t) { return t.name() == name; });
    }
    void check_input(const Port& port, const Tensor& x) const;
};

void Model::Impl::check_input(const Port& port, const Tensor& x) const
{
    if (!x.defined()) return;
    if (!port.type.empty() && x.dtype() != port.dtype)
        detail::fail(ErrorKind::dtype, of_model, "The input (", port.name, ") has the dtype (", x.dtype(),
                     "), but the model takes (", port.dtype, "): convert it by to().");
    if (!port.has_shape) return;
    bool fits = static_cast<std::size_t>(x.dim()) == port.shape.size();
    for (std::size_t i = 0; fits && i < port.shape.size(); ++i) {
        const Dim size = x.size(static_cast<std::int64_t>(i));
        const auto* number = std::get_if<std::int64_t>(&port.shape[i]);
        if (number && size.is_constant()) fits = size.value() == *number;
    }
    if (!fits)
        detail::fail(ErrorKind::shape, of_model, "The input (", port.name, ") has the shape (",
                     to_string(x.shape()), "), which is not that of the model: see inputs().");
}

Model::Model(const std::filesystem::path& path, const LoadOptions& options)
{
    within_memory(path_text(path), [&] {
        const auto impl = std::make_shared<Impl>();
        impl->proto = read_model(path);
        impl->file = path_text(path);
        impl->library.external = external_data_in(path.parent_path());
        load(impl, options);
    });
}

Model::Model(std::span<const std::byte> bytes, const LoadOptions& options)
{
    within_memory("in memory", [&] {
        const auto impl = std::make_shared<Impl>();
        impl->file = "in memory";
        impl->proto = parse_model(bytes, impl->file);
        load(impl, options);
    });
}

Model::~Model() = default;

void Model::load(const std::shared_ptr<Impl>& impl, const LoadOptions& options)
{
    impl->device = options.device;
    auto& initializers = *impl->proto->mutable_graph()->mutable_initializer();
    check_functions(*impl->proto);
    const auto& nodes = impl->proto->graph().node();
    const auto constants = ReadAs(&OperatorOptions::constants, *impl->proto).names(nodes);
    const auto statistics = ReadAs(&OperatorOptions::statistics, *impl->proto).names(nodes);
    // Options of operators, and numbers without dimensions, such as epsilons, are constants unless the caller trains
    // them.
    const auto trained = [&](const proto::TensorProto& t) {
        if (options.trainable)
            return options.trainable(t.name(),
                                     Shape(std::vector<std::int64_t>(t.dims().begin(), t.dims().end())));
        return t.dims_size() > 0 && !constants.count(t.name()) && !statistics.count(t.name());
    };
    const auto is_variable = [&](const proto::TensorProto& t) {
        if (!may_be_variable(t)) return false;
        return (t.dims_size() > 0 && !constants.count(t.name())) || trained(t);
    };
    impl->prepare_all(is_variable);
    Names names(
        [this](const auto& name, const Tensor& value, bool parameter) {
            return parameter ? register_parameter(name, value) : register_buffer(name, value);
        },
        [this](const auto& name, const auto& module) { register_module(name, module); });
    const Device device = options.device.value_or(default_device());
    for (auto& tensor : initializers) {
        if (is_variable(tensor)) {
            const auto constant = decode_tensor(tensor, impl->library.external);
            const Variable variable = names.add(tensor.name(), constant->tensor(device), trained(tensor));
            impl->variables[tensor.name()] = variable;
        }
        tensor.clear_raw_data();
    }
    impl_ = impl;
}

const std::vector<Port>& Model::inputs() const { return impl_->inputs; }

const std::vector<Port>& Model::outputs() const { return impl_->outputs; }

std::int64_t Model::opset() const
{
    const auto found = impl_->library.opsets.find("");
    return found == impl_->library.opsets.end() ? 0 : found->second;
}

std::vector<Spec> Model::input_specs(const std::map<std::string, Dim>& symbols) const
{
    std::map<std::string, Dim> known = symbols;
    std::vector<Spec> specs;
    for (const Port& port : impl_->inputs) {
        if (port.optional) continue;
        Shape shape;
        for (const PortSize& size : port.shape) {
            if (const auto* number = std::get_if<std::int64_t>(&size)) shape.emplace_back(*number);
            else if (const auto* name = std::get_if<std::string>(&size)) {
                if (!known.count(*name)) known.emplace(*name, symbol(*name, {.min = 1}));
                shape.push_back(known.at(*name));
            } else {
                shape.push_back(symbol(port.name + "_" + std::to_string(shape.size()), {.min = 1}));
            }
        }
        specs.push_back(spec(shape, port.dtype));
    }
    return specs;
}

std::vector<Tensor> Model::forward(std::vector<Tensor> inputs)
{
    const Impl& model = *impl_;
    if (inputs.size() > model.inputs.size())
        detail::fail(ErrorKind::argument, of_model, "The model takes (", model.inputs.size(),
                     ") inputs, not (", inputs.size(), "): see inputs().");
    // As many tensors as there are required inputs are these, wherever the optional ones are.
    const auto required = static_cast<std::size_t>(std::count_if(
        model.inputs.begin(), model.inputs.end(), [](const Port& port) { return !port.optional; }));
    const bool only_required = inputs.size() == required;
    Values values;
    std::size_t next = 0;
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
        const Port& port = model.inputs[i];
        const bool skipped = next >= inputs.size() || (only_required && port.optional);
        const Tensor given = skipped ? Tensor() : inputs[next++];
        model.check_input(port, given);
        const auto constant = model.graph.constants.find(port.name);
        if (!given.defined() && !port.optional)
            detail::fail(ErrorKind::argument, of_model, "The input (", port.name,
                         ") is not given, but the model needs it: see inputs().");
        if (!given.defined() && constant != model.graph.constants.end()) values.push_back(constant->second);
        else values.emplace_back(given, model.input_types[i]);
    }
    Scope scope;
    for (const auto& [name, variable] : model.variables) scope.values.emplace(name, Value(variable));
    const Device device = model.device_for(inputs);
    std::vector<Tensor> outputs;
    for (const Value& value : run_graph(model.graph, device, scope, std::move(values))) {
        if (value.is_sequence())
            detail::fail(ErrorKind::unsupported, of_model, "The output (", model.outputs[outputs.size()].name,
                         ") is a sequence, which a module can't return: cut the model before it.");
        if (!value.present() && !model.outputs[outputs.size()].optional)
            detail::fail(ErrorKind::unsupported, of_model, "The output (", model.outputs[outputs.size()].name,
                         ") has no value, as its node does not compute it: cut the model before it.");
        outputs.push_back(value.tensor(device));
    }
    return outputs;
}

Tensor Model::forward(Tensor x)
{
    const std::vector<Tensor> all = forward(std::vector<Tensor>{std::move(x)});
    return all.empty() ? Tensor() : all[0];
}

Values run_model(const std::filesystem::path& path, const Device& device, Values inputs)
{
    const auto proto = read_model(path);
    Library library;
    check_functions(*proto);
    library.external = external_data_in(path.parent_path());
    read_opsets(*proto, library);
    prepare_functions(*proto, library);
    const Graph graph = prepare(proto->graph(), library);
    check_problems(library, path_text(path));
    Scope scope;
    return run_graph(graph, device, scope, std::move(inputs));
}

std::vector<OperatorInfo> operators()
{
    std::vector<OperatorInfo> list;
    for (const Operator* op : all_operators())
        list.push_back(
            {op->options.domain, op->name, std::max<std::int64_t>(op->options.since, 1), op->options.limits});
    return list;
}

} // namespace reprise::onnx
