#include "ops/graph_reader.hpp"

#include <unordered_map>
#include <vector>

#include "ops/registry.hpp"

namespace reprise::ops {
namespace {

struct K {
    double value;
    explicit K(double v) : value(v) {}
};

struct V {
    Tensor tensor;
};

// An argument of a function: a value, which outlives the call, or a constant, which gets the dtype of the other
// arguments.
struct Argument {
    const Tensor* tensor = nullptr; // null for a constant
    double constant = 0;
    Argument(const V& v) : tensor(&v.tensor) {}
    Argument(K k) : constant(k.value) {}
};

V emit(const char* row, std::initializer_list<Argument> arguments)
{
    const Tensor* like = nullptr; // the last tensor: a condition is bool and comes first
    for (const Argument& a : arguments)
        if (a.tensor) like = a.tensor;
    std::vector<Tensor> inputs;
    for (const Argument& a : arguments)
        inputs.push_back(a.tensor ? *a.tensor : number_like(*like, a.constant));
    return {graph::apply1(row_op(row), inputs)};
}

// rp_select(c, K, K) would get its dtype from c, so rows must not use it (the test of each row checks its text).
#define RP_OPERATOR(symbol, row)                                                                             \
    V operator symbol(const V& a, const V& b) { return emit(row, {a, b}); }                                  \
    [[maybe_unused]] V operator symbol(const V& a, K b) { return emit(row, {a, b}); }                        \
    [[maybe_unused]] V operator symbol(K a, const V& b) { return emit(row, {a, b}); }
RP_OPERATOR(+, "add")
RP_OPERATOR(-, "sub")
RP_OPERATOR(*, "mul")
RP_OPERATOR(<, "less")
RP_OPERATOR(<=, "less_equal")
RP_OPERATOR(>, "greater")
RP_OPERATOR(>=, "greater_equal")
RP_OPERATOR(==, "eq")
RP_OPERATOR(!=, "not_equal")
#undef RP_OPERATOR
V operator-(const V& a) { return emit("neg", {a}); }

#define RP_CALL1(function, row)                                                                              \
    [[maybe_unused]] V rp_##function(const Argument& a) { return emit(row, {a}); }
#define RP_CALL2(function, row)                                                                              \
    [[maybe_unused]] V rp_##function(const Argument& a, const Argument& b) { return emit(row, {a, b}); }
RP_CALL1(not, "logical_not")
RP_CALL1(is_nonzero, "to_bool")
RP_CALL1(is_nan, "isnan")
RP_CALL1(is_inf, "isinf")
RP_CALL2(max, "maximum")
RP_CALL2(min, "minimum")
RP_CALL2(and, "logical_and")
RP_CALL2(or, "logical_or")
// The other functions have the names of their rows.
#define UNARY(name, ...) RP_CALL1(name, #name)
#define BINARY(name, ...) RP_CALL2(name, #name)
#define TERNARY(...)
#include <reprise/elementwise.def>
#undef RP_CALL1
#undef RP_CALL2
V rp_select(const Argument& c, const Argument& a, const Argument& b) { return emit("where", {c, a, b}); }

using Record = V (*)(std::span<const Tensor> in, const V& y, const V& dy);

// A row whose formula calls the function of the same name (exp: rp_exp) is a primitive, which is recorded as itself.
#define NONE                                                                                                 \
    V {}
#define RP_PART(e, ...)                                                                                      \
    [](std::span<const Tensor> in, [[maybe_unused]] const V& y, [[maybe_unused]] const V& dy) -> V {         \
        [[maybe_unused]] const V __VA_ARGS__;                                                                \
        return e;                                                                                            \
    }
#define RP_PART1(e) RP_PART(e, x{in[0]})
#define RP_PART2(e) RP_PART(e, a{in[0]}, b{in[1]})
#define RP_PART3(e) RP_PART(e, a{in[0]}, b{in[1]}, c{in[2]})
const std::unordered_map<std::string_view, std::vector<Record>>& records()
{
    static const std::unordered_map<std::string_view, std::vector<Record>> all = {
#define UNARY(name, out, tx, f, dx, lo, hi) {#name, {RP_PART1(f), RP_PART1(dx)}},
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                             \
    {#name, {RP_PART2(f), RP_PART2(da), RP_PART2(db)}},
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                          \
    {#name, {RP_PART3(f), RP_PART3(da), RP_PART3(db), RP_PART3(dc)}},
#include <reprise/elementwise.def>
    };
    return all;
}
#undef NONE

} // namespace

Tensor record_row(std::string_view row, int part, std::span<const Tensor> inputs, const Tensor& y,
                  const Tensor& dy)
{
    return records().at(row)[static_cast<std::size_t>(part)](inputs, {y}, {dy}).tensor;
}

} // namespace reprise::ops
