// Rows of elementwise ops, generated from the table (types, domains, derivatives).
#include <algorithm>

#include "ops/readers.hpp"
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using ops::Row;

Argument argument(const Row& row, int k, Shape shape)
{
    const auto i = static_cast<std::size_t>(k);
    Argument a = arg(std::move(shape), row.domain[2 * i], row.domain[2 * i + 1]);
    if (row.types[i] == 'B') a.dtype = boolean;
    if (row.types[i] == 'I') a.dtype = i32;
    a.differentiable = a.dtype == f32;
    return a;
}

std::vector<Argument> arguments(const Row& row, const std::vector<Shape>& shapes)
{
    std::vector<Argument> out;
    for (int k = 0; k < row.arity(); ++k)
        out.push_back(argument(row, k, shapes[static_cast<std::size_t>(k)]));
    return out;
}

std::vector<Argument> with_numbers(const Row& row, int tensor)
{
    std::vector<Argument> out;
    for (int k = 0; k < row.arity(); ++k) {
        Argument a = argument(row, k, k == tensor ? Shape{n(), 4} : Shape{});
        if (k != tensor && a.dtype == f32) a.number = true;
        if (k != tensor && a.dtype != f32) a.sizes = {1};
        out.push_back(a);
    }
    return out;
}

// The formula of cast is x: it only changes the dtype.
void add_cast(Rows& rows)
{
    rows.last().samples.clear();
    rows.sample("to its own dtype", {arg({n(), 3}, -2, 2)}, [](const Inputs& in) {
        return graph::apply1(ops::row_op("cast"), in, {{"dtype", in[0].dtype()}});
    });
    for (const DType from : {f32, f16, bf16, i64, i32, u8, boolean})
        for (const DType to : {f32, f16, bf16, i64, i32, u8, boolean}) {
            if (from == to) continue;
            const bool small = from == u8 || to == u8, truth_values = from == boolean;
            const Argument x = arg({n(), 3}, small || truth_values ? 0 : -100, truth_values ? 1 : 100);
            Sample& s = rows.sample(std::string(name_of(from)) + " to " + name_of(to), {of(from, x)}, {1, 5},
                                    [to](const Tensor& t) { return cast(t, to); });
            s.differentiable = false;
            s.tolerance = to == f16 ? 0x1p-10 : to == bf16 ? 0x1p-7 : 0;
        }
}

DType dtype_of(char type, DType number) { return type == 'B' ? boolean : type == 'I' ? i32 : number; }

void add_mistakes(Rows& rows, const Row& row, const graph::Op& op)
{
    // Adds a mistake: inputs of the dtype, one of which is replaced.
    const auto mistake = [&](const char* what, ErrorKind kind, const char* fragment, DType dtype,
                             std::size_t input, auto replacement) {
        rows.mistake(what, kind, fragment, [&row, &op, dtype, input, replacement] {
            Inputs in;
            for (int k = 0; k < row.arity(); ++k)
                in.push_back(zeros({3}, {.dtype = dtype_of(row.types[static_cast<std::size_t>(k)], dtype)}));
            in[input] = replacement(in[input]);
            graph::apply(op, in);
        });
    };
    const auto floats = [](const Tensor&) { return zeros({3}); };
    const std::size_t last = static_cast<std::size_t>(row.arity()) - 1;
    if (row.types.find('F') != row.types.npos)
        mistake("integers", ErrorKind::dtype, "a floating dtype, not (i32)", i32, 0,
                [](const Tensor& t) { return t; });
    if (row.types[0] == 'I')
        mistake("floats", ErrorKind::dtype, "an integer dtype, not (f32)", i32, 0, floats);
    if (row.types[0] == 'B') mistake("no bool", ErrorKind::dtype, "takes bool, not (f32)", f32, 0, floats);
    if (row.arity() > 1) {
        mistake("shapes that do not broadcast", ErrorKind::shape, "[2]", f32, last,
                [](const Tensor& t) { return zeros({2}, {.dtype = t.dtype()}); });
        if (row.types[last] != 'B' && row.types[last - 1] != 'B' && row.takes_floats())
            mistake("two dtypes", ErrorKind::dtype, "(f32 and f16) differ", f32, last,
                    [](const Tensor&) { return zeros({3}, {.dtype = f16}); });
        mistake("two devices", ErrorKind::device, "and null)", f32, last,
                [](const Tensor& t) { return zeros({3}, {.dtype = t.dtype(), .device = Device("null")}); });
    }
    mistake("an undefined tensor", ErrorKind::argument, "undefined", f32, 0,
            [](const Tensor&) { return Tensor(); });
}

// Adds samples with operands of different shapes: all for thorough rows, else one that depends on `turn`.
void add_layouts(Rows& rows, const Row& row, std::size_t turn)
{
    std::vector<Sample> layouts;
    const auto add = [&](const char* what, std::vector<Argument> args, std::vector<std::int64_t> sizes,
                         bool differentiable = true) {
        layouts.push_back({.what = what,
                           .arguments = std::move(args),
                           .call = apply(ops::row_op(row.name)),
                           .sizes = std::move(sizes),
                           .differentiable = differentiable});
    };
    add("broadcast", arguments(row, {{n(), 1, 4}, {3, 1}, {1}}), {0, 1, 3, 6});
    add("broadcast of the first", arguments(row, {{4}, {n(), 2, 4}, {2, 1}}), {0, 1, 5});
    add("five dimensions", arguments(row, {{2, 1, n(), 1, 3}, {2, n(), 1, 2, 3}, {n(), 1, 2, 1}}), {1, 3});
    for (int k = 0; k < row.arity(); ++k)
        add("numbers", with_numbers(row, k), {0, 5},
            row.types[static_cast<std::size_t>(k)] != 'B' && row.takes_floats());
    std::vector<Sample>& samples = rows.last().samples;
    if (rows.last().thorough) samples.insert(samples.end(), layouts.begin(), layouts.end());
    else samples.push_back(layouts[turn % layouts.size()]);
}

void add_row(Rows& rows, const Row& row)
{
    const graph::Op& op = ops::row_op(row.name);
    OpInfo& info = rows.op(row.name);
    info.differentiable = op.vjp != nullptr;
    info.thorough = info.name == "tanh" || info.name == "mul" || info.name == "maximum" ||
                    info.name == "where" || info.name == "lerp";
    const std::vector<Shape> same(3, {n(), 3});
    rows.sample("one shape", arguments(row, same), {0, 1, 5, 64, 1027}, apply(op));
    rows.sample("scalars", arguments(row, {{}, {}, {}}), {1}, apply(op));
    const std::size_t turn = static_cast<std::size_t>(&row - ops::reference_rows().data());
    if (row.arity() > 1) add_layouts(rows, row, turn);
    if (row.takes_integers()) {
        std::vector<Argument> args = arguments(row, same);
        for (Argument& a : args)
            if (a.dtype == f32) a = whole(a.sizes, -5, 5);
        rows.forward("i32", args, {0, 1, 9}, apply(op));
    }
    if (row.types.substr(0, row.types.size() - 1).find_first_of("NF") != row.types.npos)
        for (const DType narrow : {f16, bf16}) {
            if (!info.thorough && narrow != (turn % 2 ? f16 : bf16)) continue;
            std::vector<Argument> args = arguments(row, same);
            for (Argument& a : args)
                if (a.dtype == f32) a.dtype = narrow;
            rows.forward(name_of(narrow), args, {1, 9}, apply(op));
            info.samples.back().tolerance = narrow == f16 ? 0x1p-10 : 0x1p-7;
        }
    const auto& d = row.derivative;
    if (info.differentiable && std::none_of(d.begin(), d.begin() + row.arity(), [](auto f) { return f; }))
        info.skips[Check::twice] = "the gradient of a step function is a constant, 0";
    if (info.name == "cast") add_cast(rows); // without mistakes: its dtype is an attribute, see the functions
    else add_mistakes(rows, row, op);
}

} // namespace

void add_elementwise(Rows& rows)
{
    for (const Row& row : ops::reference_rows()) add_row(rows, row);
}

} // namespace reprise::test
