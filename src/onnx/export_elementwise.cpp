// Elementwise ops as expressions of ONNX's operators.
#include <array>
#include <cstdlib>
#include <string_view>

#include "onnx/element_type.hpp"
#include "onnx/emitter.hpp"

namespace reprise::onnx {

namespace {

struct Formula {
    const char* row; // of elementwise.def
    // Operators of the inputs x, y and z and of numbers, which have the dtype of x.  Expm1, Log1p, Remainder
    // and FloorDivide are written as several nodes.
    const char* text;
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
    {"expm1", "Expm1(x)"},
    {"log", "Log(x)"},
    {"log1p", "Log1p(x)"},
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
    {"elu", "Where(Less(x,0),Mul(y,Expm1(x)),x)"},
    {"celu", "Where(Greater(x,0),x,Mul(y,Expm1(Div(Min(x,0),y))))"},
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
    {"lerp", "Where(Less(Abs(z),0.5),Add(x,Mul(z,Sub(y,x))),Sub(y,Mul(Sub(y,x),Sub(1,z))))"},
    {"bce_with_logits", "Add(Sub(Max(x,0),Mul(x,y)),Log1p(Exp(Neg(Abs(x)))))"},
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
            return number(std::strtod(digits.c_str(), nullptr));
        }
        const std::string op = word("[(");
        const std::vector<NodeAttribute> attributes = options();
        std::vector<std::string> operands;
        do {
            rest_.remove_prefix(1); // ( or ,
            operands.push_back(expression());
        } while (rest_[0] == ',');
        rest_.remove_prefix(1); // )
        if (op == "Expm1") return expm1(operands[0]);
        if (op == "Log1p") return log1p(operands[0]);
        if (op == "Remainder") return remainder(operands[0], operands[1]);
        if (op == "FloorDivide") return floor_divide(operands[0], operands[1]);
        return to_.node(op, operands, attributes);
    }

private:
    std::string number(double value) { return to_.number(value, node_.inputs[0].type().dtype); }

    // tanh(x / 2) (exp(x) + 1), which does not cancel near 0 as exp(x) - 1 does.
    std::string expm1(const std::string& x)
    {
        const std::string half = to_.node("Tanh", {to_.node("Mul", {x, number(0.5)})});
        return to_.node("Mul", {half, to_.node("Add", {to_.node("Exp", {x}), number(1)})});
    }
    // With u = 1 + x rounded: x log(u) / (u - 1) corrects for the rounding (Kahan).  u = 1 gives x; from 2 on log(u)
    // is exact enough, and infinity has no quotient.
    std::string log1p(const std::string& x)
    {
        const std::string u = to_.node("Add", {x, number(1)}), log = to_.node("Log", {u});
        const std::string slope = to_.node("Div", {log, to_.node("Sub", {u, number(1)})});
        const std::string small =
            to_.node("Where", {to_.node("Equal", {u, number(1)}), x, to_.node("Mul", {x, slope})});
        return to_.node("Where", {to_.node("Greater", {u, number(2)}), log, small});
    }
    // The exact remainder, which has the sign of x, and whether it is nonzero and has another sign than y.
    std::pair<std::string, std::string> rest_of(const std::string& x, const std::string& y)
    {
        const std::string rest = to_.node("Mod", {x, y}, {{"fmod", std::int64_t{1}}}), zero = number(0);
        const std::string differ =
            to_.node("Xor", {to_.node("Less", {rest, zero}), to_.node("Less", {y, zero})});
        const std::string nonzero = to_.node("Not", {to_.node("Equal", {rest, zero})});
        return {rest, to_.node("And", {nonzero, differ})};
    }
    std::string remainder(const std::string& x, const std::string& y)
    {
        const auto [rest, other] = rest_of(x, y);
        return to_.node("Where", {other, to_.node("Add", {rest, y}), rest});
    }
    // The quotient without its remainder, which rounding does not move to the next integer.
    std::string floor_divide(const std::string& x, const std::string& y)
    {
        const auto [rest, other] = rest_of(x, y);
        const std::string quotient = to_.node("Div", {to_.node("Sub", {x, rest}), y});
        const std::string below = to_.node("Sub", {quotient, number(1)});
        const std::string whole = to_.node("Round", {to_.node("Where", {other, below, quotient})});
        return to_.node("Where", {to_.node("Equal", {y, number(0)}), to_.node("Div", {x, y}), whole});
    }
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
    if (row == "remainder") return floating ? "Remainder(x,y)" : "Mod(x,y)";
    if (row == "floor_divide") return floating ? "FloorDivide(x,y)" : nullptr;
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
