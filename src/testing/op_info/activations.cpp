// Activations and arithmetic functions that are composed of elementwise ops.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using Unary = Tensor (*)(const Tensor&);

void add_of_one(Rows& rows)
{
    const auto unary = [&](const char* name, Unary f, double low = -4, double high = 4) {
        rows.composed(name);
        rows.sample("at any size", {arg({n(), 5}, low, high)}, f);
    };
    unary("relu6", relu6, -3, 9);
    unary("swish", swish);
    unary("logsigmoid", logsigmoid);

    rows.composed("fake_quantize_per_tensor_affine").skips = {
        {Check::gradcheck, "its gradient passes straight through the steps"}};
    rows.sample("at any size", {arg({n(), 5}, -2, 2)},
                [](const Inputs& in) { return fake_quantize_per_tensor_affine(in[0], 0.125, 3, -8, 12); });
    rows.mistake("no scale", ErrorKind::argument, "(0)",
                 [] { fake_quantize_per_tensor_affine(ones({2}), 0, 0, -8, 7); });
    rows.mistake("a zero point out of range", ErrorKind::argument, "(9)",
                 [] { fake_quantize_per_tensor_affine(ones({2}), 1, 9, -8, 7); });
    rows.mistake("integers", ErrorKind::dtype, "i32",
                 [] { fake_quantize_per_tensor_affine(arange(2), 1, 0, -8, 7); });

    rows.composed("fake_quantize_per_channel_affine").skips = {
        {Check::gradcheck, "its gradient passes straight through the steps"}};
    rows.sample(
        "at any size", {arg({n(), 3, 5}, -2, 2), fixed(arg({3}, 0.1, 0.3)), whole({3}, -3, 3)},
        [](const Inputs& in) { return fake_quantize_per_channel_affine(in[0], in[1], in[2], -2, -8, 12); });
    rows.mistake("a scale too many", ErrorKind::shape, "([3]) must be [2]", [] {
        fake_quantize_per_channel_affine(ones({2, 4}), ones({3}), zeros({2}), 0, -8, 7);
    });
    rows.mistake("an empty range", ErrorKind::argument, "(8)", [] {
        fake_quantize_per_channel_affine(ones({2, 4}), ones({2}), zeros({2}), 0, 8, 7);
    });
    rows.mistake("integers", ErrorKind::dtype, "i32",
                 [] { fake_quantize_per_channel_affine(arange(2), ones({2}), zeros({2}), 0, -8, 7); });

    rows.composed("softplus_by_beta");
    rows.sample("at any size", {arg({n(), 5}, -4, 4)},
                [](const Inputs& in) { return softplus(in[0], 2, 3); });

    rows.composed("affine");
    rows.sample("at any size", {arg({n(), 5})}, [](const Inputs& in) { return affine(in[0], 3, -0.5); });

    rows.composed("clamp_one_side");
    rows.sample("at any size", {arg({n(), 5}, -2, 2)},
                [](const Inputs& in) { return clamp_min(in[0], -1) + clamp_max(in[0], 0.5) * 2; });

    rows.composed("number_operands");
    rows.sample("at any size", {arg({n(), 5}, 0.5, 1.9)}, [](const Inputs& in) {
        const Tensor& x = in[0];
        return pow(2, x) + fmod(x, 5) + remainder(x, -2.5) + maximum(x, 1) * minimum(x, 1.5) +
               lerp(x, x * x, 0.25) + hardtanh(x, 0.8, 1.2) + celu(x - 1, 0.7);
    });
}

void add_of_several(Rows& rows)
{
    rows.composed("prelu");
    rows.sample("at any size", {arg({n(), 3, 4}, -2, 2), arg({3}, 0.1, 0.5)},
                [](const Inputs& in) { return prelu(in[0], in[1]); });
    rows.sample("one weight", {arg({n(), 3}, -2, 2), arg({1}, 0.1, 0.5)},
                [](const Inputs& in) { return prelu(in[0], in[1]); });
    rows.sample("a vector", {arg({n()}, -2, 2), arg({}, 0.1, 0.5)},
                [](const Inputs& in) { return prelu(in[0], in[1]); });
    rows.mistake("weights of a matrix", ErrorKind::shape, "[3, 1]", [] {
        prelu(ones({2, 3}), ones({3, 1}));
    });
    rows.mistake("a channel too many", ErrorKind::shape, "[2, 3]", [] { prelu(ones({2, 3}), ones({4})); });
    rows.mistake("no channels", ErrorKind::shape, "[N, C, ...]", [] { prelu(ones({3}), ones({3})); });

    rows.composed("glu");
    rows.sample("at any size", {arg({n(), 6}, -2, 2)}, [](const Inputs& in) { return glu(in[0]); });
    rows.sample("a dimension of unknown size", {arg({2, n(), 3}, -2, 2)}, {0, 2, 8},
                [](const Inputs& in) { return glu(in[0], 1); });
    rows.mistake("an odd size", ErrorKind::shape, "not even", [] { glu(ones({2, 3})); });
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { glu(ones({2}), 1); });

    rows.composed("div_rounding").differentiable = false;
    rows.forward(
        "floats and integers", {arg({n(), 3}, 5.1, 5.9), whole({n(), 3}, -9, 9)}, [](const Inputs& in) {
            return std::vector{div(in[0], full_like(in[0], -2), Rounding::floor),
                               div(in[0], full_like(in[0], -2), Rounding::trunc),
                               div(in[1], full_like(in[1], -2), Rounding::floor),
                               div(in[1], full_like(in[1], 4), Rounding::trunc), floor_divide(in[1], 3.0)};
        });

    rows.composed("bits").differentiable = false;
    rows.sample("of integers and truth values",
                {whole({n(), 3}, -99, 99), whole({n(), 3}, 0, 40), truth({n(), 3}), truth({3})},
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
                });
    rows.mistake("floats", ErrorKind::dtype, "integer", [] { ones({2}) & ones({2}); });
}

} // namespace

void add_activations(Rows& rows)
{
    add_of_one(rows);
    add_of_several(rows);
}

} // namespace reprise::test
