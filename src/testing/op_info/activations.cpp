// Activations and arithmetic that are made of rows of the table.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Unary = Tensor (*)(const Tensor&);

OpInfo made(const char* name, std::vector<Argument> arguments, std::function<Tensor(const Inputs&)> f)
{
    return {.name = name,
            .is_op = false,
            .samples = {{.what = "at any size",
                         .arguments = std::move(arguments),
                         .call = [f](const Inputs& in) { return std::vector{f(in)}; }}}};
}

} // namespace

void add_activations(std::vector<OpInfo>& rows)
{
    const auto unary = [&](const char* name, Unary f, double low = -4, double high = 4) {
        rows.push_back(made(name, {arg({n(), 5}, low, high)}, [f](const Inputs& in) { return f(in[0]); }));
    };
    unary("relu6", relu6, -3, 9);
    unary("swish", swish);
    unary("logsigmoid", logsigmoid);
    OpInfo quantized = made("fake_quantize_per_tensor_affine", {arg({n(), 5}, -2, 2)}, [](const Inputs& in) {
        return fake_quantize_per_tensor_affine(in[0], 0.125, 3, -8, 12);
    });
    quantized.skips = {{Check::gradcheck, "its gradient passes straight through the steps"}};
    quantized.mistakes = {{"no scale", [] { fake_quantize_per_tensor_affine(ones({2}), 0, 0, -8, 7); },
                           ErrorKind::argument, "(0)"},
                          {"a zero point out of range",
                           [] { fake_quantize_per_tensor_affine(ones({2}), 1, 9, -8, 7); },
                           ErrorKind::argument, "(9)"},
                          {"integers", [] { fake_quantize_per_tensor_affine(arange(2), 1, 0, -8, 7); },
                           ErrorKind::dtype, "i32"}};
    rows.push_back(quantized);
    rows.push_back(made("softplus_by_beta", {arg({n(), 5}, -4, 4)},
                        [](const Inputs& in) { return softplus(in[0], 2, 3); }));
    rows.push_back(made("affine", {arg({n(), 5})}, [](const Inputs& in) { return affine(in[0], 3, -0.5); }));
    rows.push_back(made("clamp_one_side", {arg({n(), 5}, -2, 2)},
                        [](const Inputs& in) { return clamp_min(in[0], -1) + clamp_max(in[0], 0.5) * 2; }));
    rows.push_back(made("number_operands", {arg({n(), 5}, 0.5, 1.9)}, [](const Inputs& in) {
        const Tensor& x = in[0];
        return pow(2, x) + fmod(x, 5) + remainder(x, -2.5) + maximum(x, 1) * minimum(x, 1.5) +
               lerp(x, x * x, 0.25) + hardtanh(x, 0.8, 1.2) + celu(x - 1, 0.7);
    }));

    OpInfo prelu_row = made("prelu", {arg({n(), 3, 4}, -2, 2), arg({3}, 0.1, 0.5)},
                            [](const Inputs& in) { return prelu(in[0], in[1]); });
    prelu_row.samples.push_back({.what = "one weight",
                                 .arguments = {arg({n(), 3}, -2, 2), arg({1}, 0.1, 0.5)},
                                 .call = [](const Inputs& in) { return std::vector{prelu(in[0], in[1])}; }});
    prelu_row.samples.push_back({.what = "a vector",
                                 .arguments = {arg({n()}, -2, 2), arg({}, 0.1, 0.5)},
                                 .call = [](const Inputs& in) { return std::vector{prelu(in[0], in[1])}; }});
    prelu_row.mistakes = {
        {"weights of a matrix",
         [] {
             prelu(ones({2, 3}), ones({3, 1}));
         },
         ErrorKind::shape, "[3, 1]"},
        {"a channel too many",
         [] {
             prelu(ones({2, 3}), ones({4}));
         },
         ErrorKind::shape, "[2, 3]"},
        {"no channels", [] { prelu(ones({3}), ones({3})); }, ErrorKind::shape, "[N, C, ...]"}};
    rows.push_back(prelu_row);

    OpInfo glu_row = made("glu", {arg({n(), 6}, -2, 2)}, [](const Inputs& in) { return glu(in[0]); });
    glu_row.samples.push_back({.what = "a dimension of unknown size",
                               .arguments = {arg({2, n(), 3}, -2, 2)},
                               .call = [](const Inputs& in) { return std::vector{glu(in[0], 1)}; },
                               .sizes = {0, 2, 8}});
    glu_row.mistakes = {{"an odd size",
                         [] {
                             glu(ones({2, 3}));
                         },
                         ErrorKind::shape, "not even"},
                        {"no such dimension", [] { glu(ones({2}), 1); }, ErrorKind::argument, "1"}};
    rows.push_back(glu_row);

    rows.push_back({.name = "div_rounding",
                    .is_op = false,
                    .differentiable = false,
                    .samples = {{.what = "floats and integers",
                                 .arguments = {arg({n(), 3}, 5.1, 5.9), whole({n(), 3}, -9, 9)},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{div(in[0], full_like(in[0], -2), Rounding::floor),
                                                            div(in[0], full_like(in[0], -2), Rounding::trunc),
                                                            div(in[1], full_like(in[1], -2), Rounding::floor),
                                                            div(in[1], full_like(in[1], 4), Rounding::trunc),
                                                            floor_divide(in[1], 3.0)};
                                     },
                                 .differentiable = false}}});
    rows.push_back({.name = "bits",
                    .is_op = false,
                    .differentiable = false,
                    .samples = {{.what = "of integers and truth values",
                                 .arguments = {whole({n(), 3}, -99, 99), whole({n(), 3}, 0, 40),
                                               truth({n(), 3}), truth({3})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{in[0] & in[1],
                                                            in[0] | in[1],
                                                            in[0] ^ in[1],
                                                            ~in[0],
                                                            in[2] & in[3],
                                                            in[2] | in[3],
                                                            in[2] ^ in[3],
                                                            ~in[2],
                                                            in[2] & in[0],
                                                            left_shift(in[0], in[1]),
                                                            right_shift(in[0], in[1])};
                                     }}},
                    .mistakes = {{"floats", [] { ones({2}) & ones({2}); }, ErrorKind::dtype, "integer"}}});
}

} // namespace reprise::test
