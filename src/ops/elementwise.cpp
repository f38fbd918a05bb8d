// The elementwise ops: one Op for each row of the table (elementwise.def) and one for each of its derivatives.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/promotion.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/graph_reader.hpp"
#include "ops/lowering.hpp"
#include "ops/readers.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

// Returns the slots that the kernel of this part reads, in the order of the node's inputs: all of x... for the formula,
// those of x..., y, dy that occur in it for a derivative.
std::vector<int> slots_of(const Op& op)
{
    const Row& row = row_of(op);
    std::vector<int> slots;
    const int all = row.arity() + (op.part ? 2 : 0);
    slots.reserve(static_cast<std::size_t>(all));
    for (int i = 0; i < all; ++i)
        if (!op.part || (row.reads[static_cast<std::size_t>(op.part)] >> i & 1)) slots.push_back(i);
    return slots;
}

char type_of_slot(const Op& op, int slot)
{
    const Row& row = row_of(op);
    return slot < row.arity() ? row.types[static_cast<std::size_t>(slot)] : 'F';
}

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& attributes)
{
    const std::vector<int> slots = slots_of(op);
    if (in.size() != slots.size())
        detail::fail(ErrorKind::internal, op.name, "The op takes (", slots.size(), ") inputs, not (",
                     in.size(), ").");
    const DType* common = nullptr; // of the inputs that are numbers
    for (std::size_t i = 0; i < in.size(); ++i) {
        const char type = type_of_slot(op, slots[i]);
        const DType dtype = in[i].dtype;
        if (type == 'B' && dtype != boolean) wrong_dtype(op.name, dtype, "bool");
        if (type == 'F' && !is_floating(dtype)) wrong_dtype(op.name, dtype, "a floating dtype");
        if (type == 'I' && !is_integer(dtype)) wrong_dtype(op.name, dtype, "an integer dtype");
        if (type == 'B') continue;
        if (common && *common != dtype)
            detail::fail(ErrorKind::dtype, op.name, "The inputs' dtypes (", name_of(*common), " and ",
                         name_of(dtype), ") differ: cast one of them.");
        common = &in[i].dtype;
    }
    DType out = boolean;
    if (op.part) out = in.back().dtype; // every derivative reads dy, which is last
    else if (!attributes.all().empty()) out = attributes.get<DType>("dtype"); // cast
    else if (row_of(op).types.back() != 'B') out = *common;
    Shape sizes = in[0].shape;
    for (std::size_t i = 1; i < in.size(); ++i) sizes = shape::broadcast(op.name, sizes, in[i].shape);
    TensorTypes types; // an initializer list would copy the shape
    types.push_back({out, std::move(sizes)});
    return types;
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    const Row& row = row_of(*a.node.op);
    std::vector<Tensor> out(a.inputs.size());
    for (int k = 0; k < row.arity(); ++k) {
        const auto i = static_cast<std::size_t>(k);
        if (!a.wanted[i]) continue;
        if (!row.differentiable(k)) { // a step function has derivative 0
            out[i] = zeros_like(a.inputs[i]);
            continue;
        }
        const Op& derivative = row_op(row.name, 1 + k);
        std::vector<Tensor> in;
        for (int slot : slots_of(derivative))
            in.push_back(slot < row.arity() ? a.inputs[static_cast<std::size_t>(slot)]
                                            : (slot == row.arity() ? a.outputs[0] : a.cotangents[0]));
        const bool passes = std::string_view(row.text[1 + i]) == "dy"; // the gradient is dy unchanged
        const Tensor whole = passes ? a.cotangents[0] : graph::apply1(derivative, in);
        // The cotangent of a cast is cast back to the input's dtype; for other ops both dtypes are the same.
        out[i] = cast(sum_to(whole, a.node.inputs[i].type().shape), a.node.inputs[i].type().dtype);
    }
    return out;
}

// Records a derivative by rows of the table.
std::vector<Tensor> decompose(const Node& n, std::span<const Tensor> inputs)
{
    const Row& row = row_of(*n.op);
    std::vector<Tensor> all(static_cast<std::size_t>(row.arity()) + 2);
    const std::vector<int> slots = slots_of(*n.op);
    for (std::size_t i = 0; i < slots.size(); ++i) all[static_cast<std::size_t>(slots[i])] = inputs[i];
    const Tensor dy = all.back(), y = all[all.size() - 2];
    all.resize(static_cast<std::size_t>(row.arity()));
    const Tensor out = record_row(row.name, n.op->part, all, y, dy);
    return {expand(out, n.outputs[0].shape)};
}

void lower(Lowering& l, const Node& n)
{
    std::vector<View> in;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        // A host scalar is passed as a float, so kernels for i64 read it from memory instead.
        if (Scalar number; l.scalar(i, number) && !(number.source && n.outputs[0].dtype == i64))
            in.push_back({.dtype = n.inputs[i].type().dtype, .number = number});
        else in.push_back(l.input(i));
    }
    l.elementwise(*n.op, in, l.output());
}

// Returns the row's formula in integer arithmetic if all inputs are integers or bool, else null. A cast of integers is
// thereby rounded only once.
IntegerFormula integer_formula(const ReferenceArguments& a)
{
    const auto is_whole = [](const HostTensor& t) { return !is_floating(t.dtype); };
    const bool whole = a.op->part == 0 && std::all_of(a.inputs.begin(), a.inputs.end(), is_whole);
    return whole ? find_integer_formula(a.op->name) : nullptr;
}

void reference(const ReferenceArguments& a)
{
    const Op& op = *a.op;
    const Row& row = row_of(op);
    const std::vector<int> slots = slots_of(op);
    const HostTensor& out = a.outputs[0];
    std::vector<HostTensor> in(a.inputs.begin(), a.inputs.end());
    for (HostTensor& t : in) { // broadcast: missing dimensions and those of size 1 get stride 0
        const std::size_t missing = out.sizes.size() - t.sizes.size();
        t.strides.insert(t.strides.begin(), missing, 0);
        t.sizes.insert(t.sizes.begin(), missing, 1);
        for (std::size_t d = 0; d < t.sizes.size(); ++d)
            if (t.sizes[d] != out.sizes[d]) t.strides[d] = 0;
        t.sizes = out.sizes;
    }
    if (const IntegerFormula formula = integer_formula(a)) {
        std::array<std::int64_t, max_arity> whole{};
        for (std::int64_t i = 0, count = out.count(); i < count; ++i) {
            for (std::size_t k = 0; k < in.size(); ++k) whole[k] = in[k].get_whole(in[k].offset(i));
            out.set_whole(out.offset(i), formula(whole.data()));
        }
        return;
    }
    std::array<double, max_arity + 2> v{};
    const auto arity = static_cast<std::size_t>(row.arity());
    for (std::int64_t i = 0, count = out.count(); i < count; ++i) {
        for (std::size_t k = 0; k < in.size(); ++k) v[static_cast<std::size_t>(slots[k])] = in[k].at(i);
        out.put(i, op.part ? row.derivative[static_cast<std::size_t>(op.part - 1)](v.data(), v[arity],
                                                                                   v[arity + 1])
                           : row.forward(v.data()));
    }
}

bool is_number(char type) { return type == 'F' || type == 'N'; }

// Whether the row's function is in autocast's list of f32.
bool computes_in_f32(std::string_view row)
{
    constexpr std::array listed{"exp", "expm1", "log",  "log1p", "log2", "log10", "reciprocal", "rsqrt",
                                "pow", "tan",   "asin", "acos",  "sinh", "cosh",  "softplus"};
    return std::find(listed.begin(), listed.end(), row) != listed.end();
}

struct Table {
    std::deque<std::string> names; // stable addresses
    std::deque<Op> ops;
    // By row: the formula, then the derivatives.
    std::unordered_map<std::string_view, std::vector<const Op*>> parts;

    Table()
    {
        for (const Row& row : reference_rows()) {
            const Op& f = ops.emplace_back(Op{.name = row.name,
                                              .infer = infer,
                                              .vjp = is_number(row.types.back()) ? vjp : nullptr,
                                              .lower = lower,
                                              .reference = reference,
                                              .row = &row,
                                              .computes_in_f32 = computes_in_f32(row.name)});
            auto& list = parts[row.name] = {&f};
            for (int k = 0; k < row.arity(); ++k) {
                names.push_back(std::string(row.name) + "_d" + std::to_string(k));
                list.push_back(&ops.emplace_back(Op{.name = names.back().c_str(),
                                                    .infer = infer,
                                                    .decompose = decompose,
                                                    .lower = lower,
                                                    .reference = reference,
                                                    .row = &row,
                                                    .part = 1 + k}));
            }
        }
    }
};

const Table& table()
{
    static const Table t;
    return t;
}

// The order of type promotion in PyTorch: floating dtypes precede integers, then the wider dtype wins.
int rank_of(DType t)
{
    switch (t) {
    case DType::boolean: return 0;
    case DType::u8: return 1;
    case DType::i8: return 2;
    case DType::i16: return 3;
    case DType::i32: return 4;
    case DType::i64: return 5;
    case DType::bf16: return 6;
    case DType::f16: return 7;
    case DType::f32: return 8;
    case DType::f64: return 9;
    }
    return 0;
}

int category_of(DType t) { return is_floating(t) ? 2 : t == boolean ? 0 : 1; }

} // namespace
} // namespace ops

DType promote_types(DType a, DType b)
{
    using ops::rank_of;
    if ((a == f16 && b == bf16) || (a == bf16 && b == f16)) return f32;
    if ((a == u8 && b == i8) || (a == i8 && b == u8)) return i16;
    return rank_of(a) > rank_of(b) ? a : b;
}

namespace ops {
namespace {

// Returns the promoted dtype of the operands. As in PyTorch, a tensor without dimensions counts only if its category
// (bool, integer, floating) is higher than that of the others.
DType common_dtype(const Row& row, const std::vector<Tensor>& in)
{
    DType with_dims = boolean, without = boolean;
    bool any = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (row.types[i] == 'B') continue;
        const graph::TensorType& type = graph::type_of(in[i]);
        DType& common = type.shape.empty() ? without : with_dims;
        common = promote_types(common, type.dtype);
        any |= !type.shape.empty();
    }
    return any && category_of(without) <= category_of(with_dims) ? with_dims
                                                                 : promote_types(with_dims, without);
}

// Bool operands are refused as in PyTorch, which considers 1 - mask a mistake.
bool refuses_bool(const Row& row)
{
    return std::string_view(row.name) == "sub" || row.name == std::string_view("neg");
}

// Calls a row of the table after casting masks to bool and the other operands to a common dtype, which is floating if
// the row requires it.
Tensor call(const char* name, std::vector<Tensor> in)
{
    const Op& op = row_op(name);
    if (op.computes_in_f32)
        if (const Autocast to = Autocast::f32({&in.front(), &in.back()});
            to) { // they have one or two arguments
            for (Tensor& t : in) t = to(t);
            return call(name, std::move(in));
        }
    const Row& row = row_of(op);
    const bool any = row.types.substr(0, in.size()).find_first_not_of('B') != row.types.npos;
    const bool floating = row.types.substr(0, in.size()).find('F') != row.types.npos;
    DType common = common_dtype(row, in);
    for (const Tensor& t : in)
        if (graph::type_of(t).dtype == boolean && refuses_bool(row))
            wrong_dtype(name, boolean, "numbers (masks have ~ and ^)");
    if (common == boolean && !row.takes_floats() && std::string_view(name).substr(0, 8) == "bitwise_")
        return call(("logical_" + std::string(name).substr(8)).c_str(), std::move(in));
    if (floating && !is_floating(common)) common = f32;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (const DType to = row.types[i] == 'B' || !any ? boolean : common;
            graph::type_of(in[i]).dtype != to)
            in[i] = cast(in[i], to);
    return graph::apply1(op, in);
}

// Returns a number as a tensor of t's dtype, or, if the number is of a higher category, of i64 or f32.
Tensor number_for(const Tensor& t, double v)
{
    const bool whole = v == std::floor(v) && std::fabs(v) < (t.dtype() == i64 ? 0x1p63 : 0x1p31);
    DType dtype = t.dtype();
    if (!is_floating(dtype)) dtype = !whole ? f32 : dtype == boolean ? i64 : dtype;
    return full_on(evaluator_of(t), {}, v, dtype);
}

// Returns a size as a tensor of t's dtype, or of i64 if t is bool.
Tensor number_for(const Tensor& t, const Dim& size)
{
    return full_on(evaluator_of(t), {}, 1.0, t.dtype() == boolean ? i64 : t.dtype(), size);
}

} // namespace

const Op& row_op(std::string_view row, int part)
{
    auto found = table().parts.find(row);
    if (found == table().parts.end())
        detail::fail(ErrorKind::internal, "table", "There is no row (", row, ").");
    return *found->second.at(static_cast<std::size_t>(part));
}

std::vector<const Op*> elementwise_ops()
{
    std::vector<const Op*> out;
    for (const Row& row : reference_rows()) out.push_back(&row_op(row.name));
    return out;
}

} // namespace ops

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

} // namespace

#define UNARY(name, ...)                                                                                     \
    Tensor name(const Tensor& x) { return ops::call(#name, {x}); }
#define BINARY(name, ...)                                                                                    \
    Tensor name(const Tensor& a, const Tensor& b) { return ops::call(#name, {a, b}); }
#define TERNARY(name, ...)                                                                                   \
    Tensor name(const Tensor& a, const Tensor& b, const Tensor& c) { return ops::call(#name, {a, b, c}); }
#include <reprise/elementwise.def>

Tensor pow(const Tensor& a, double exponent)
{
    if (const ops::Autocast to = ops::Autocast::f32({&a}); to) return pow(to(a), exponent);
    return pow(a, ops::number_for(a, exponent));
}
Tensor leaky_relu(const Tensor& x, double slope)
{
    return ops::call("leaky_relu", {x, ops::number_for(x, slope)});
}
Tensor elu(const Tensor& x, double alpha) { return ops::call("elu", {x, ops::number_for(x, alpha)}); }
Tensor gelu(const Tensor& x, Choice<GeluApproximation> approximation)
{
    return ops::call(approximation == GeluApproximation::tanh ? "gelu_tanh" : "gelu_erf", {x});
}
Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max)
{
    if (!min && !max) detail::fail(ErrorKind::argument, "clamp", "There is no bound: give min, max or both.");
    if (!is_floating(x.dtype()) && !(min && max))
        return min ? maximum(x, *min) : minimum(x, *max); // keeps the integer dtype
    return ops::call("clamp_scalar", {x, ops::number_for(x, min.value_or(-infinity)),
                                      ops::number_for(x, max.value_or(infinity))});
}

Tensor clip(const Tensor& x, std::optional<double> min, std::optional<double> max)
{
    return clamp(x, min, max);
}
Tensor clamp(const Tensor& x, const Tensor& min) { return clamp_min(x, min); }
Tensor clamp_min(const Tensor& x, double min) { return clamp(x, min, std::nullopt); }
Tensor clamp_min(const Tensor& x, const Tensor& min) { return clamp(x, min, ops::number_for(min, infinity)); }
Tensor clamp_max(const Tensor& x, double max) { return clamp(x, std::nullopt, max); }
Tensor clamp_max(const Tensor& x, const Tensor& max)
{
    return clamp(x, ops::number_for(max, -infinity), max);
}
Tensor hardtanh(const Tensor& x, double min, double max)
{
    return ops::call("hardtanh", {x, ops::number_for(x, min), ops::number_for(x, max)});
}
Tensor celu(const Tensor& x, double alpha) { return ops::call("celu", {x, ops::number_for(x, alpha)}); }
Tensor lerp(const Tensor& start, const Tensor& end, double weight)
{
    return lerp(start, end, ops::number_for(start, weight));
}
Tensor where(const Tensor& condition, const Tensor& a, double b)
{
    return where(condition, a, ops::number_for(a, b));
}
Tensor where(const Tensor& condition, double a, const Tensor& b)
{
    return where(condition, ops::number_for(b, a), b);
}
Tensor where(const Tensor& condition, double a, double b)
{
    const auto number = [&](double v) { return ops::full_on(ops::evaluator_of(condition), {}, v, f32); };
    return where(condition, number(a), number(b));
}
Tensor affine(const Tensor& x, double scale, double shift) { return x * scale + shift; }
Tensor div(const Tensor& a, const Tensor& b, Choice<Rounding> rounding)
{
    return rounding == Rounding::floor ? floor_divide(a, b) : trunc_divide(a, b);
}
Tensor div(const Tensor& a, double b, Choice<Rounding> rounding)
{
    return div(a, ops::number_for(a, b), rounding);
}

Tensor pow(double base, const Tensor& exponent)
{
    if (const ops::Autocast to = ops::Autocast::f32({&exponent}); to) return pow(base, to(exponent));
    return pow(ops::number_for(exponent, base), exponent);
}
#define REPRISE_WITH_NUMBER(name)                                                                            \
    Tensor name(const Tensor& a, double b) { return name(a, ops::number_for(a, b)); }
REPRISE_WITH_NUMBER(fmod)
REPRISE_WITH_NUMBER(remainder)
REPRISE_WITH_NUMBER(floor_divide)
REPRISE_WITH_NUMBER(maximum)
REPRISE_WITH_NUMBER(minimum)
REPRISE_WITH_NUMBER(atan2)
REPRISE_WITH_NUMBER(mul)
REPRISE_WITH_NUMBER(div)
REPRISE_WITH_NUMBER(eq)
#undef REPRISE_WITH_NUMBER
#define REPRISE_SHORT_NAME(name, row)                                                                        \
    Tensor name(const Tensor& a, const Tensor& b) { return row(a, b); }                                      \
    Tensor name(const Tensor& a, double b) { return row(a, ops::number_for(a, b)); }
REPRISE_SHORT_NAME(ne, not_equal)
REPRISE_SHORT_NAME(lt, less)
REPRISE_SHORT_NAME(le, less_equal)
REPRISE_SHORT_NAME(gt, greater)
REPRISE_SHORT_NAME(ge, greater_equal)
#undef REPRISE_SHORT_NAME
#define REPRISE_WITH_INTEGER(name)                                                                           \
    Tensor name(const Tensor& a, std::int64_t b)                                                             \
    {                                                                                                        \
        return name(a, ops::number_for(a, static_cast<double>(b)));                                          \
    }
REPRISE_WITH_INTEGER(bitwise_and)
REPRISE_WITH_INTEGER(bitwise_or)
REPRISE_WITH_INTEGER(bitwise_xor)
REPRISE_WITH_INTEGER(left_shift)
REPRISE_WITH_INTEGER(right_shift)
#undef REPRISE_WITH_INTEGER
Tensor rsub(const Tensor& a, const Tensor& b, double alpha) { return sub(b, a, alpha); }
Tensor rsub(const Tensor& a, double b, double alpha) { return sub(ops::number_for(a, b), a, alpha); }
Tensor add(const Tensor& a, const Tensor& b, double alpha) { return alpha == 1 ? a + b : a + b * alpha; }
Tensor add(const Tensor& a, double b, double alpha) { return a + alpha * b; }
Tensor sub(const Tensor& a, const Tensor& b, double alpha) { return alpha == 1 ? a - b : a - b * alpha; }
Tensor sub(const Tensor& a, double b, double alpha) { return a - alpha * b; }
Tensor max(const Tensor& a, const Tensor& b) { return maximum(a, b); }
Tensor min(const Tensor& a, const Tensor& b) { return minimum(a, b); }
Tensor addcmul(const Tensor& input, const Tensor& a, const Tensor& b, double value)
{
    if (const ops::Autocast to = ops::Autocast::widest({&input, &a, &b}); to)
        return addcmul(to(input), to(a), to(b), value);
    return add(input, a * b, value);
}
Tensor addcdiv(const Tensor& input, const Tensor& a, const Tensor& b, double value)
{
    if (const ops::Autocast to = ops::Autocast::widest({&input, &a, &b}); to)
        return addcdiv(to(input), to(a), to(b), value);
    return add(input, a / b, value);
}

Tensor cast(const Tensor& x, DType dtype)
{
    if (x.dtype() == dtype) return x;
    if (dtype == boolean) return graph::apply1(ops::row_op("to_bool"), {x});
    return graph::apply1(ops::row_op("cast"), {x}, {{"dtype", dtype}});
}

#define REPRISE_OPERATOR(symbol, name)                                                                       \
    Tensor operator symbol(const Tensor& a, const Tensor& b) { return name(a, b); }                          \
    Tensor operator symbol(const Tensor& a, double b) { return name(a, ops::number_for(a, b)); }             \
    Tensor operator symbol(const Tensor& a, const Dim& b) { return name(a, ops::number_for(a, b)); }
REPRISE_OPERATOR(+, add)
REPRISE_OPERATOR(-, sub)
REPRISE_OPERATOR(*, mul)
REPRISE_OPERATOR(/, div)
REPRISE_OPERATOR(<, less)
REPRISE_OPERATOR(<=, less_equal)
REPRISE_OPERATOR(>, greater)
REPRISE_OPERATOR(>=, greater_equal)
REPRISE_OPERATOR(==, eq)
REPRISE_OPERATOR(!=, not_equal)
#undef REPRISE_OPERATOR
Tensor operator+(double a, const Tensor& b) { return add(ops::number_for(b, a), b); }
Tensor operator-(double a, const Tensor& b) { return sub(ops::number_for(b, a), b); }
Tensor operator*(double a, const Tensor& b) { return mul(ops::number_for(b, a), b); }
Tensor operator/(double a, const Tensor& b) { return div(ops::number_for(b, a), b); }
Tensor operator+(const Dim& a, const Tensor& b) { return add(ops::number_for(b, a), b); }
Tensor operator-(const Dim& a, const Tensor& b) { return sub(ops::number_for(b, a), b); }
Tensor operator*(const Dim& a, const Tensor& b) { return mul(ops::number_for(b, a), b); }
Tensor operator/(const Dim& a, const Tensor& b) { return div(ops::number_for(b, a), b); }
Tensor operator==(const Dim& a, const Tensor& b) { return eq(ops::number_for(b, a), b); }
Tensor operator!=(const Dim& a, const Tensor& b) { return not_equal(ops::number_for(b, a), b); }
#define REPRISE_REVERSED(symbol, name)                                                                       \
    Tensor operator symbol(double a, const Tensor& b) { return name(b, ops::number_for(b, a)); }
REPRISE_REVERSED(==, eq)
REPRISE_REVERSED(!=, not_equal)
REPRISE_REVERSED(<, greater)
REPRISE_REVERSED(<=, greater_equal)
REPRISE_REVERSED(>, less)
REPRISE_REVERSED(>=, less_equal)
#undef REPRISE_REVERSED
Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
Tensor operator%(const Tensor& a, double b) { return remainder(a, b); }
Tensor operator!(const Tensor& a) { return logical_not(a); }
Tensor operator&&(const Tensor& a, const Tensor& b) { return logical_and(a, b); }
Tensor operator||(const Tensor& a, const Tensor& b) { return logical_or(a, b); }
Tensor operator-(const Tensor& a) { return neg(a); }
Tensor operator&(const Tensor& a, const Tensor& b) { return bitwise_and(a, b); }
Tensor operator|(const Tensor& a, const Tensor& b) { return bitwise_or(a, b); }
Tensor operator^(const Tensor& a, const Tensor& b) { return bitwise_xor(a, b); }
Tensor operator<<(const Tensor& a, const Tensor& b) { return left_shift(a, b); }
Tensor operator>>(const Tensor& a, const Tensor& b) { return right_shift(a, b); }
Tensor operator~(const Tensor& a) { return bitwise_not(a); }

} // namespace reprise
