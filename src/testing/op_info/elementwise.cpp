// Rows of elementwise ops: everything follows from the table (types, domains, derivatives).
#include <algorithm>

#include "ops/readers.hpp"
#include "testing/op_info/tools.hpp"

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

// A cast's formula is x: what it does is to change the dtype.
void add_cast(OpInfo& info)
{
    info.samples.clear();
    const auto same = [](const Inputs& in) {
        return std::vector{graph::apply1(ops::row_op("cast"), in, {{"dtype", in[0].dtype()}})};
    };
    info.samples.push_back({.what = "to its own dtype", .arguments = {arg({n(), 3}, -2, 2)}, .call = same});
    for (const DType from : {f32, f16, bf16, i64, i32, u8, boolean})
        for (const DType to : {f32, f16, bf16, i64, i32, u8, boolean}) {
            if (from == to) continue;
            const bool small = from == u8 || to == u8, truth_values = from == boolean;
            info.samples.push_back({.what = std::string(name_of(from)) + " to " + name_of(to),
                                    .arguments = {of(from, arg({n(), 3}, small || truth_values ? 0 : -100,
                                                               truth_values ? 1 : 100))},
                                    .call = [to](const Inputs& in) { return std::vector{cast(in[0], to)}; },
                                    .sizes = {1, 5},
                                    .differentiable = false,
                                    .tolerance = to == f16    ? 0x1p-10
                                                 : to == bf16 ? 0x1p-7
                                                              : 0});
        }
}

DType dtype_of(char type, DType number) { return type == 'B' ? boolean : type == 'I' ? i32 : number; }

std::vector<Mistake> mistakes(const Row& row, const graph::Op& op)
{
    std::vector<Mistake> out;
    const auto inputs = [&row](DType dtype) {
        Inputs in;
        for (int k = 0; k < row.arity(); ++k)
            in.push_back(zeros({3}, {.dtype = dtype_of(row.types[static_cast<std::size_t>(k)], dtype)}));
        return in;
    };
    const std::size_t last = static_cast<std::size_t>(row.arity()) - 1;
    if (row.types.find('F') != row.types.npos)
        out.push_back({"integers", [=, &op] { graph::apply(op, inputs(i32)); }, ErrorKind::dtype,
                       "a floating dtype, not (i32)"});
    if (row.types[0] == 'I')
        out.push_back({"floats",
                       [=, &op] {
                           Inputs in = inputs(i32);
                           in[0] = zeros({3});
                           graph::apply(op, in);
                       },
                       ErrorKind::dtype, "an integer dtype, not (f32)"});
    if (row.types[0] == 'B')
        out.push_back({"no bool",
                       [=, &op] {
                           Inputs in = inputs(f32);
                           in[0] = zeros({3});
                           graph::apply(op, in);
                       },
                       ErrorKind::dtype, "takes bool, not (f32)"});
    if (row.arity() > 1) {
        out.push_back({"shapes that do not broadcast",
                       [=, &op] {
                           Inputs in = inputs(f32);
                           in[last] = zeros({2}, {.dtype = in[last].dtype()});
                           graph::apply(op, in);
                       },
                       ErrorKind::shape, "[2]"});
        if (row.types[last] != 'B' && row.types[last - 1] != 'B' && row.takes_floats())
            out.push_back({"two dtypes",
                           [=, &op] {
                               Inputs in = inputs(f32);
                               in[last] = zeros({3}, {.dtype = f16});
                               graph::apply(op, in);
                           },
                           ErrorKind::dtype, "(f32 and f16) differ"});
        out.push_back({"two devices",
                       [=, &op] {
                           Inputs in = inputs(f32);
                           in[last] = zeros({3}, {.dtype = in[last].dtype(), .device = Device("null")});
                           graph::apply(op, in);
                       },
                       ErrorKind::device, "and null)"});
    }
    out.push_back({"an undefined tensor",
                   [=, &op] {
                       Inputs in = inputs(f32);
                       in[0] = Tensor();
                       graph::apply(op, in);
                   },
                   ErrorKind::argument, "undefined"});
    return out;
}

// How operands of different shapes lie: one way for each row in turn, all for thorough rows.
void add_layouts(OpInfo& info, const Row& row, std::size_t turn)
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
    if (info.thorough) info.samples.insert(info.samples.end(), layouts.begin(), layouts.end());
    else info.samples.push_back(layouts[turn % layouts.size()]);
}

OpInfo info_of(const Row& row)
{
    const graph::Op& op = ops::row_op(row.name);
    OpInfo info{.name = row.name, .differentiable = op.vjp != nullptr};
    info.thorough = info.name == "tanh" || info.name == "mul" || info.name == "maximum" ||
                    info.name == "where" || info.name == "lerp";
    const auto add = [&](const char* what, std::vector<Argument> args, std::vector<std::int64_t> sizes) {
        info.samples.push_back(
            {.what = what, .arguments = std::move(args), .call = apply(op), .sizes = std::move(sizes)});
    };
    const std::vector<Shape> same(3, {n(), 3});
    add("one shape", arguments(row, same), {0, 1, 5, 64, 1027});
    add("scalars", arguments(row, {{}, {}, {}}), {1});
    const std::size_t turn = static_cast<std::size_t>(&row - ops::reference_rows().data());
    if (row.arity() > 1) add_layouts(info, row, turn);
    if (row.takes_integers()) {
        std::vector<Argument> args = arguments(row, same);
        for (Argument& a : args)
            if (a.dtype == f32) a = whole(a.sizes, -5, 5);
        add("i32", args, {0, 1, 9});
        info.samples.back().differentiable = false;
    }
    if (row.types.substr(0, row.types.size() - 1).find_first_of("NF") != row.types.npos)
        for (const DType narrow : {f16, bf16}) {
            if (!info.thorough && narrow != (turn % 2 ? f16 : bf16)) continue;
            std::vector<Argument> args = arguments(row, same);
            for (Argument& a : args)
                if (a.dtype == f32) a.dtype = narrow;
            add(name_of(narrow), args, {1, 9});
            info.samples.back().differentiable = false;
            info.samples.back().tolerance = narrow == f16 ? 0x1p-10 : 0x1p-7;
        }
    if (info.name == "cast") add_cast(info);
    const auto& d = row.derivative;
    if (info.differentiable && std::none_of(d.begin(), d.begin() + row.arity(), [](auto f) { return f; }))
        info.skips[Check::twice] = "the gradient of a step function is a constant, 0";
    info.mistakes = mistakes(row, op);
    if (info.name == "cast") info.mistakes.clear(); // its dtype is an attribute: see the functions
    return info;
}

} // namespace

void add_elementwise(std::vector<OpInfo>& rows)
{
    for (const Row& row : ops::reference_rows()) rows.push_back(info_of(row));
}

} // namespace reprise::test
