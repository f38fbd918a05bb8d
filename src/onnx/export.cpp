// Export of recorded programs.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <sstream>

#include <reprise/error.hpp>
#include <reprise/onnx.hpp>
#include <reprise/ops.hpp>
#include <reprise/whole_file.hpp>

#include "autograd/decomposed.hpp"
#include "graph/cell.hpp"
#include "onnx/element_type.hpp"
#include "onnx/emitter.hpp"
#include "program/program.hpp"

namespace reprise::onnx {

namespace {

constexpr const char* saver = "onnx::save";
constexpr std::int64_t exported_opset = 20, exported_ir = 9;

class Exporter {
public:
    Exporter(const Program& program, const ExportOptions& options)
        : p_(*program.impl()), options_(options), to_(*model_.mutable_graph())
    {
        model_.set_ir_version(exported_ir);
        model_.set_producer_name("reprise");
        model_.add_opset_import()->set_version(exported_opset);
        model_.mutable_graph()->set_name("graph");
    }

    std::string run()
    {
        if (!p_.recorded.assignments.empty())
            problems_.insert(
                "assignments: the program changes state, as a training step does; record a forward "
                "pass in evaluation mode");
        add_inputs();
        add_externals();
        std::vector<graph::Value> results;
        for (std::size_t i = 0; i < outputs(); ++i) results.push_back(result(i));
        emit(results);
        if (!problems_.empty()) {
            std::ostringstream list;
            for (const std::string& problem : problems_) list << "\n  " << problem;
            detail::fail(ErrorKind::unsupported, saver, "The program has (", problems_.size(),
                         ") parts that can't be exported:", list.str());
        }
        add_outputs();
        return model_.SerializeAsString();
    }

private:
    std::size_t outputs() const { return p_.outputs.size() - p_.index_checks.size(); }

    const graph::Value& result(std::size_t i) const { return p_.recorded.results[p_.outputs[i]]; }

    std::string symbol_name(const Dim& size)
    {
        const shape::Symbol* symbol = shape::plain_symbol(size);
        if (!symbol) return size.text();
        auto& name = symbol_names_[symbol->id];
        if (!name.empty()) return name;
        name = symbol->name;
        for (int i = 2; !used_symbols_.insert(name).second; ++i)
            name = symbol->name + "_" + std::to_string(i);
        return name;
    }

    void set_type(proto::ValueInfoProto& info, const std::string& name, DType dtype, const Shape& shape)
    {
        info.set_name(name);
        auto& tensor = *info.mutable_type()->mutable_tensor_type();
        tensor.set_elem_type(element_type_of(dtype).number);
        tensor.mutable_shape();
        for (const Dim& size : shape) {
            auto& dim = *tensor.mutable_shape()->add_dim();
            if (size.is_constant()) dim.set_dim_value(size.value());
            else dim.set_dim_param(symbol_name(size));
        }
    }

    static std::string given(const std::vector<std::string>& names, std::size_t i, const char* kind)
    {
        return i < names.size() ? names[i] : kind + std::to_string(i);
    }

    void add_inputs()
    {
        const std::vector<Spec>& specs = p_.signature.inputs();
        for (std::size_t i = 0; i < specs.size(); ++i) {
            names_of_inputs_.push_back(to_.fresh(given(options_.inputs, i, "input_")));
            set_type(*model_.mutable_graph()->add_input(), names_of_inputs_[i], specs[i].dtype,
                     specs[i].shape);
            for (std::size_t d = 0; d < specs[i].shape.size(); ++d)
                to_.add_input_size(names_of_inputs_[i], static_cast<std::int64_t>(d), specs[i].shape[d]);
        }
        for (std::size_t i = 0; i < outputs(); ++i)
            names_of_outputs_.push_back(to_.fresh(given(options_.outputs, i, "output_")));
    }

    // The name of a parameter or buffer in the module of the options.
    std::string name_of_state(const Tensor& state, std::size_t index) const
    {
        if (options_.module) {
            for (const auto& [name, parameter] : options_.module->named_parameters())
                if (parameter.is_same(state)) return name;
            for (const auto& [name, buffer] : options_.module->named_buffers())
                if (buffer.is_same(state)) return name;
        }
        return "state_" + std::to_string(index);
    }

    void add_externals()
    {
        using Source = Program::Impl::Source;
        for (std::size_t i = 0; i < p_.externals.size(); ++i) {
            const auto& [source, index] = p_.externals[i];
            const graph::Value& value = p_.recorded.externals[i];
            if (source == Source::input) {
                to_.bind(value, names_of_inputs_[index]);
            } else if (source == Source::state) {
                const Tensor state(p_.states[index].cell);
                to_.bind(value, to_.initializer(name_of_state(state, index), state));
            } else {
                const Tensor constant = graph::make_tensor(p_.constants[index]);
                to_.bind(value, to_.initializer("constant_" + std::to_string(index), constant));
            }
        }
    }

    // Writes all nodes that the values depend on and that are not written yet.
    void emit(const std::vector<graph::Value>& values)
    {
        const auto wanted = [&](const graph::Node& node) {
            return !to_.bound({node.shared_from_this(), 0}) && !written_.count(&node);
        };
        const auto nodes = graph::ancestors(values, wanted);
        for (const graph::Value& value : values) to_.use(value);
        for (const graph::Node* node : nodes)
            for (const graph::Value& value : node->inputs) to_.use(value);
        for (const graph::Node* node : nodes) {
            written_.insert(node);
            if (const auto why = emit_node(*node)) {
                problems_.insert(std::string(node->op ? node->op->name : "a tensor of another program") +
                                 ": " + *why);
                for (std::size_t i = 0; i < node->outputs.size(); ++i)
                    to_.bind({node->shared_from_this(), static_cast<std::uint32_t>(i)}, to_.fresh("missing"));
            }
        }
    }

    std::optional<std::string> emit_node(const graph::Node& node)
    {
        if (!node.op) {
            if (!node.materialised()) return "its value is not known";
            const graph::Value value{node.shared_from_this(), 0};
            to_.bind(value, to_.initializer("constant", graph::make_tensor(value)));
            return std::nullopt;
        }
        const auto is_bf16 = [](const graph::Value& v) { return v.type().dtype == bf16; };
        to_.set_bfloat16(node.outputs[0].dtype == bf16 ||
                         std::any_of(node.inputs.begin(), node.inputs.end(), is_bf16));
        if (node.op->row) return export_elementwise(to_, node);
        const auto rules = structured_export_rules();
        const auto rule = std::find_if(rules.begin(), rules.end(), [&](const ExportRow& r) {
            return std::string_view(r.op) == node.op->name;
        });
        std::optional<std::string> why = "there is no operator of ONNX for it";
        if (rule != rules.end())
            why = node.inputs.size() < rule->least || node.inputs.size() > rule->most
                      ? "it has (" + std::to_string(node.inputs.size()) + ") inputs, which no rule is for"
                      : rule->rule(to_, node);
        if (why && node.op->decompose) return emit_decomposed(node);
        return why;
    }

    // Writes the simpler ops that an op is differentiated by.
    std::optional<std::string> emit_decomposed(const graph::Node& node)
    {
        const autograd::Decomposed& simpler = decomposed_.emplace_back(autograd::decomposed(node));
        for (std::size_t i = 0; i < simpler.inputs.size(); ++i)
            to_.bind(simpler.inputs[i], to_.name_of(node.inputs[i]));
        emit(simpler.outputs);
        for (std::size_t i = 0; i < simpler.outputs.size(); ++i)
            to_.bind({node.shared_from_this(), static_cast<std::uint32_t>(i)},
                     to_.name_of(simpler.outputs[i]));
        return std::nullopt;
    }

    void add_outputs()
    {
        for (std::size_t i = 0; i < outputs(); ++i) {
            const graph::Value& value = result(i);
            auto& node = *model_.mutable_graph()->add_node();
            node.set_op_type("Identity");
            node.set_name(names_of_outputs_[i]);
            node.add_input(to_.name_of(value));
            node.add_output(names_of_outputs_[i]);
            set_type(*model_.mutable_graph()->add_output(), names_of_outputs_[i], value.type().dtype,
                     value.type().shape);
        }
    }

    const Program::Impl& p_;
    const ExportOptions& options_;
    proto::ModelProto model_;
    Emitter to_;
    std::vector<std::string> names_of_inputs_, names_of_outputs_;
    std::map<std::uint32_t, std::string> symbol_names_; // by id
    std::set<std::string> used_symbols_, problems_;
    std::set<const graph::Node*> written_;
    std::deque<autograd::Decomposed> decomposed_; // keeps the nodes that have names
};

} // namespace

void save(const std::filesystem::path& path, const Program& program, const ExportOptions& options)
{
    if (!program.defined()) detail::fail(ErrorKind::argument, saver, "The program is undefined: record one.");
    const std::string bytes = Exporter(program, options).run();
    if (bytes.empty())
        detail::fail(ErrorKind::unsupported, saver,
                     "The model has more than 2^31 - 1 bytes, which no file can have.");
    WholeFile file(path);
    file.write(bytes);
    file.commit();
}

} // namespace reprise::onnx
