// Elementwise ops as expressions of ONNX's operators.
#include <array>
#include <cstdlib>
#include <string_view>

#include "onnx/element_type.hpp"
#include "onnx/emitter.hpp"

namespace reprise::onnx {

namespace {

struct Formula {
    const char* row;  // of elementwise.def
    const char* text; // operators of the inputs x, y and z and of numbers, which have the dtype of x
};

constexpr std::array<Formula, 77> formulas{{
    {"neg", "Neg(x)"},
    {"add", "Add(x,y)"},
    {"sub", "Sub(x,y)"},
    {"mul", "Mul(x,y)"},
    {"div", "Div(x,y)"},
    {"square", "Mul(x,x)"},
    {"reciprocal", "Reciprocal(x)"},
    {"abs", "Abs(x)"},
    {"sign", "Sign(x)"},
    {"floor", "Floor(x)"},
    {"ceil", "Ceil(x)"},
    {"round", "Round(x)"},
    {"trunc", "Mul(Sign(x),Floor(Abs(x)))"},
    {"fmod", "Mod[fmod=1](x,y)"},
    {"trunc_divide", "Div(x,y)"},
    {"maximum", "Max(x,y)"},
    {"minimum", "Min(x,y)"},
    {"clamp", "Min(Max(x,y),z)"},
    {"clamp_scalar", "Min(Max(x,y),z)"},
    {"hardtanh", "Min(Max(x,y),z)"},
    {"exp", "Exp(x)"},
    {"expm1", "Sub(Exp(x),1)"},
    {"log", "Log(x)"},
    {"log1p", "Log(Add(x,1))"},
    {"log2", "Div(Log(x),0.6931471805599453)"},
    {"log10", "Div(Log(x),2.302585092994046)"},
    {"sqrt", "Sqrt(x)"},
    {"rsqrt", "Reciprocal(Sqrt(x))"},
    {"sin", "Sin(x)"},
    {"cos", "Cos(x)"},
    {"tan", "Tan(x)"},
    {"asin", "Asin(x)"},
    {"acos", "Acos(x)"},
    {"atan", "Atan(x)"},
    {"sinh", "Sinh(x)"},
    {"cosh", "Cosh(x)"},
    {"asinh", "Asinh(x)"},
    {"acosh", "Acosh(x)"},
    {"atanh", "Atanh(x)"},
    {"tanh", "Tanh(x)"},
    {"erf", "Erf(x)"},
    {"pow", "Pow(x,y)"},
    {"less", "Less(x,y)"},
    {"less_equal", "LessOrEqual(x,y)"},
    {"greater", "Greater(x,y)"},
    {"greater_equal", "GreaterOrEqual(x,y)"},
    {"eq", "Equal(x,y)"},
    {"not_equal", "Not(Equal(x,y))"},
    {"logical_and", "And(x,y)"},
    {"logical_or", "Or(x,y)"},
    {"logical_not", "Not(x)"},
    {"logical_xor", "Xor(x,y)"},
    {"isnan", "IsNaN(x)"},
    {"isinf", "IsInf(x)"},
    {"isfinite", "Not(Or(IsNaN(x),IsInf(x)))"},
    {"where", "Where(x,y,z)"},
    {"bitwise_and", "BitwiseAnd(x,y)"},
    {"bitwise_or", "BitwiseOr(x,y)"},
    {"bitwise_xor", "BitwiseXor(x,y)"},
    {"bitwise_not", "BitwiseNot(x)"},
    {"to_bool", "Not(Equal(x,0))"},
    {"relu", "Relu(x)"},
    {"leaky_relu", "Where(Greater(x,0),x,Mul(x,y))"},
    {"elu", "Where(Less(x,0),Mul(y,Sub(Exp(x),1)),x)"},
    {"celu", "Where(Greater(x,0),x,Mul(y,Sub(Exp(Div(Min(x,0),y)),1)))"},
    {"selu", "Selu(x)"},
    {"hardsigmoid", "Div(Min(Max(Add(x,3),0),6),6)"},
    {"hardswish", "HardSwish(x)"},
    {"mish", "Mish(x)"},
    {"sigmoid", "Sigmoid(x)"},
    {"silu", "Mul(x,Sigmoid(x))"},
    {"softsign", "Softsign(x)"},
    {"gelu_erf", "Gelu(x)"},
    {"gelu_tanh", "Gelu[approximate=tanh](x)"},
    {"softplus", "Softplus(x)"},
    {"lerp", "Add(x,Mul(z,Sub(y,x)))"},
    {"bce_with_logits", "Add(Sub(Max(x,0),Mul(x,y)),Log(Add(Exp(Neg(Abs(x))),1)))"},
}};

// Writes the nodes of a formula.
class Writer {
public:
    Writer(Emitter& to, const graph::Node& node, std::string_view text) : to_(to), node_(node), rest_(text) {}

    // expression: a letter of an input, a number, or an operator with attributes and operands
    std::string expression()
    {
        if (rest_[0] >= 'x' && rest_[0] <= 'z') {
            const auto input = static_cast<std::size_t>(rest_[0] - 'x');
            rest_.remove_prefix(1);
            return to_.name_of(node_.inputs[input]);
        }
        if (rest_[0] >= '0' && rest_[0] <= '9') {
            const std::string digits(rest_.substr(0, rest_.find_first_of(",)")));
            rest_.remove_prefix(digits.size());
            return to_.number(std::strtod(digits.c_str(), nullptr), node_.inputs[0].type().dtype);
        }
        const std::string op = word("[(");
        const std::vector<NodeAttribute> attributes = options();
        std::vector<std::string> operands;
        do {
            rest_.remove_prefix(1); // ( or ,
            operands.push_back(expression());
        } while (rest_[0] == ',');
        rest_.remove_prefix(1); // )
        return to_.node(op, operands, attributes);
    }

private:
    std::string word(const char* ends)
    {
        const std::string found(rest_.substr(0, rest_.find_first_of(ends)));
        rest_.remove_prefix(found.size());
        return found;
    }
    std::vector<NodeAttribute> options()
    {
        if (rest_[0] != '[') return {};
        rest_.remove_prefix(1);
        const bool is_fmod = word("=") == "fmod";
        rest_.remove_prefix(1);
        const std::string value = word("]");
        rest_.remove_prefix(1);
        if (is_fmod) return {{"fmod", std::int64_t{1}}};
        return {{"approximate", value}};
    }

    Emitter& to_;
    const graph::Node& node_;
    std::string_view rest_;
};

// Floor division and its remainder differ between integers and floating numbers.
const char* formula_of(std::string_view row, bool floating)
{
    if (row == "remainder") return floating ? "Sub(x,Mul(y,Floor(Div(x,y))))" : "Mod(x,y)";
    if (row == "floor_divide") return floating ? "Floor(Div(x,y))" : nullptr;
    if (row == "trunc_divide" && floating) return nullptr;
    for (const Formula& f : formulas)
        if (row == f.row) return f.text;
    return nullptr;
}

} // namespace

std::optional<std::string> export_elementwise(Emitter& to, const graph::Node& node)
{
    const graph::Value result{node.shared_from_this(), 0};
    const std::string_view row = node.op->name;
    if (row == "cast" && node.op->part == 0) {
        to.bind(result, to.cast(to.name_of(node.inputs[0]), node.outputs[0].dtype));
        return std::nullopt;
    }
    const bool floating = !node.inputs.empty() && is_floating(node.inputs[0].type().dtype);
    const char* text = node.op->part == 0 ? formula_of(row, floating) : nullptr;
    if (!text) return "there is no formula of ONNX's operators for it";
    to.bind(result, Writer(to, node, text).expression());
    return std::nullopt;
}

} // namespace reprise::onnx
