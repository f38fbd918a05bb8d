#include "onnx/emitter.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>

#include "onnx/element_type.hpp"

namespace reprise::onnx {

namespace {

// Operators that have no bfloat16 in opset 20, and how many of their inputs and outputs are of the floating type.
struct NoBfloat16 {
    std::string_view op;
    std::size_t inputs = 1;
};
constexpr NoBfloat16 no_bfloat16[] = {
    {"Acos"},        {"Acosh"},    {"Asin"},
    {"Asinh"},       {"Atan"},     {"Atanh"},
    {"AveragePool"}, {"Conv", 3},  {"ConvTranspose", 3},
    {"Cos"},         {"Cosh"},     {"HardSwish"},
    {"MaxPool"},     {"Mish"},     {"Round"},
    {"Selu"},        {"Sin"},      {"Sinh"},
    {"Softplus"},    {"Softsign"}, {"Tan"},
    {"TopK"},
};

} // namespace

void Emitter::bind(const graph::Value& value, const std::string& name)
{
    names_[{value.node.get(), value.index}] = name;
    taken_.insert(name);
}

const std::string& Emitter::name_of(const graph::Value& value) const
{
    const auto found = names_.find({value.node.get(), value.index});
    if (found == names_.end())
        detail::fail(ErrorKind::internal, "onnx::save", "A value of (",
                     value.node->op ? value.node->op->name : "leaf", ") has no name.");
    return found->second;
}

std::string Emitter::fresh(const std::string& begin)
{
    std::string name = begin;
    while (!taken_.insert(name).second) name = begin + "_" + std::to_string(next_++);
    return name;
}

void Emitter::add_input_size(const std::string& input, std::int64_t dim, const Dim& size)
{
    if (const shape::Symbol* symbol = shape::plain_symbol(size))
        symbols_.try_emplace(symbol->id, Source{input, dim});
}

std::string Emitter::node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<NodeAttribute>& attributes)
{
    return node_of(1, op, inputs, attributes)[0];
}

std::vector<std::string> Emitter::node_of(std::size_t outputs, const std::string& op,
                                          const std::vector<std::string>& inputs,
                                          const std::vector<NodeAttribute>& attributes)
{
    if (bfloat16_)
        for (const NoBfloat16& row : no_bfloat16) {
            if (row.op != op) continue;
            bfloat16_ = false;
            std::vector<std::string> wide = inputs;
            for (std::size_t i = 0; i < std::min(row.inputs, wide.size()); ++i) wide[i] = cast(wide[i], f32);
            std::vector<std::string> names = node_of(outputs, op, wide, attributes);
            names[0] = cast(names[0], bf16); // other outputs are indices
            bfloat16_ = true;
            return names;
        }
    auto& node = *graph_.add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) {
        names.push_back(fresh(op));
        node.add_output(names.back());
    }
    node.set_name(names[0]);
    for (const auto& [name, value] : attributes) {
        auto& a = *node.add_attribute();
        a.set_name(name);
        if (const auto* whole = std::get_if<std::int64_t>(&value)) {
            a.set_type(proto::AttributeProto::INT);
            a.set_i(*whole);
        } else if (const auto* real = std::get_if<double>(&value)) {
            a.set_type(proto::AttributeProto::FLOAT);
            a.set_f(static_cast<float>(*real));
        } else if (const auto* text = std::get_if<std::string>(&value)) {
            a.set_type(proto::AttributeProto::STRING);
            a.set_s(*text);
        } else {
            a.set_type(proto::AttributeProto::INTS);
            for (const std::int64_t item : std::get<std::vector<std::int64_t>>(value)) a.add_ints(item);
        }
    }
    return names;
}

std::string Emitter::initializer(const std::string& name, const Tensor& value)
{
    auto& tensor = *graph_.add_initializer();
    tensor.set_name(fresh(name));
    tensor.set_data_type(element_type_of(value.dtype()).number);
    for (const Dim& size : value.shape()) tensor.add_dims(size.value());
    const std::vector<std::byte> bytes = to_bytes(value);
    tensor.set_raw_data(bytes.data(), bytes.size());
    return tensor.name();
}

std::string Emitter::constant(const std::vector<std::int64_t>& values)
{
    std::string key = "list";
    for (const std::int64_t value : values) key += " " + std::to_string(value);
    std::string& name = known_[key];
    if (name.empty())
        name =
            initializer("sizes", from_vector(values, Shape{values.size()}, {.device = Device("reference")}));
    return name;
}

std::string Emitter::number(double value, DType dtype)
{
    std::ostringstream key;
    key.precision(17);
    key << reprise::name_of(dtype) << " " << value;
    std::string& name = known_[key.str()];
    if (name.empty())
        name = initializer("number", full(Shape{}, value, {.dtype = dtype, .device = Device("reference")}));
    return name;
}

std::string Emitter::numbers(const std::vector<float>& values)
{
    return initializer("numbers", from_vector(values, Shape{values.size()}, {.device = Device("reference")}));
}

std::string Emitter::cast(const std::string& x, DType dtype)
{
    return node("Cast", {x}, {{"to", std::int64_t{element_type_of(dtype).number}}});
}

// An atom's value is that of its symbol divided by the symbol's divisor.
std::string Emitter::atom(const shape::Atom& atom)
{
    if (atom.kind == shape::AtomKind::symbol) {
        const auto source = symbols_.find(atom.symbol->id);
        if (source == symbols_.end())
            detail::fail(ErrorKind::unsupported, "onnx::save", "The symbol (", atom.symbol->name,
                         ") is not the size of an input, so that the file can't compute it.");
        const auto& [input, dim] = source->second;
        const std::string size = node("Shape", {input}, {{"start", dim}, {"end", dim + 1}});
        return atom.symbol->divisor == 1 ? size : node("Div", {size, constant({atom.symbol->divisor})});
    }
    std::vector<std::string> operands;
    for (const Dim& operand : atom.operands) operands.push_back(size(operand));
    // Sizes are not negative, for which Div rounds down.
    return node(atom.kind == shape::AtomKind::floor_div ? "Div"
                : atom.kind == shape::AtomKind::min     ? "Min"
                                                        : "Max",
                operands);
}

std::string Emitter::term(const shape::Term& term)
{
    std::string product;
    for (const auto& factor : term.monomial->atoms) {
        const std::string next = atom(*factor);
        product = product.empty() ? next : node("Mul", {product, next});
    }
    return term.coefficient == 1 ? product : node("Mul", {product, constant({term.coefficient})});
}

std::string Emitter::size(const Dim& size)
{
    if (size.is_constant()) return constant({size.value()});
    const std::string key = "size " + size.text();
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    std::string sum;
    for (const shape::Term& next : shape::terms_of(size)) {
        const std::string value = term(next);
        sum = sum.empty() ? value : node("Add", {sum, value});
    }
    if (const std::int64_t rest = shape::constant_of(size)) sum = node("Add", {sum, constant({rest})});
    return known_[key] = sum;
}

std::string Emitter::sizes(const DimVector& all)
{
    std::vector<std::string> parts;
    bool constants = true;
    for (const Dim& one : all) constants &= one.is_constant();
    if (constants) return constant(all.vec());
    for (const Dim& one : all) parts.push_back(size(one));
    return parts.size() == 1 ? parts[0] : node("Concat", parts, {{"axis", std::int64_t{0}}});
}

} // namespace reprise::onnx
