// Products of matrices, convolution.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Integers = std::vector<std::int64_t>;

std::vector<Sample> matmul_samples()
{
    const auto call = [](const Inputs& in) { return std::vector{matmul(in[0], in[1])}; };
    const auto sample = [&](const char* what, Shape a, Shape b, std::vector<std::int64_t> sizes) {
        return Sample{.what = what,
                      .arguments = {arg(std::move(a)), arg(std::move(b))},
                      .call = call,
                      .sizes = std::move(sizes)};
    };
    return {
        sample("rows", {n(), 5}, {5, 7}, {0, 1, 3, 40}),
        sample("rows of whole texels", {n(), 16}, {16, 32}, {1, 17, 64}),
        sample("the inner dimension", {4, n()}, {n(), 8}, {0, 1, 13, 300}),
        sample("columns", {6, 12}, {12, n()}, {0, 1, 33}),
        sample("a batch and one matrix", {2, n(), 4}, {4, 6}, {0, 1, 5}),
        sample("two batches", {n(), 3, 4}, {n(), 4, 5}, {0, 1, 3}),
        sample("batches that broadcast", {2, 1, n(), 4}, {3, 4, 5}, {1, 4}),
        sample("an unknown batch that broadcasts", {n(), 1, 3, 4}, {2, 4, 5}, {0, 1, 4}),
        sample("vectors", {n()}, {n()}, {0, 1, 50}),
        sample("a matrix and a vector", {n(), 6}, {6}, {1, 9}),
        {.what = "heads inside of rows",
         .arguments = {arg({2, n(), 3, 8}), arg({2, n(), 3, 8})},
         .call =
             [](const Inputs& in) {
                 const Tensor a = transpose(in[0], 1, 2), b = transpose(in[1], 1, 2);
                 return std::vector{matmul(a, transpose(b, -1, -2)), matmul(transpose(a, -1, -2), b)};
             },
         .sizes = {0, 1, 5, 16}},
        {.what = "transposed operands",
         .arguments = {arg({8, n()}), arg({12, 8})},
         .call =
             [](const Inputs& in) {
                 return std::vector{matmul(transpose(in[0], 0, 1), transpose(in[1], 0, 1))};
             },
         .sizes = {1, 4, 20}},
    };
}

struct Convolution {
    const char* what;
    Shape x, weight, dy;
    Integers stride, padding;
    std::vector<std::int64_t> sizes = {0, 1, 4};
    graph::Attributes attributes() const { return {{"stride", stride}, {"padding", padding}}; }
    graph::Attributes with(const char* name, const Shape& of) const
    {
        return {{"stride", stride}, {"padding", padding}, {name, Shape{of[2], of[3]}}};
    }
};

std::vector<Convolution> convolutions()
{
    return {
        {"3x3 padded", {n(), 2, 8, 8}, {3, 2, 3, 3}, {n(), 3, 8, 8}, {1, 1}, {1, 1}},
        {"odd sizes", {n(), 3, 5, 7}, {2, 3, 2, 3}, {n(), 2, 3, 3}, {2, 2}, {1, 0}},
        {"1x1", {n(), 4, 3, 3}, {5, 4, 1, 1}, {n(), 5, 3, 3}, {1, 1}, {0, 0}},
        {"3x3 with a stride", {n(), 3, 5, 16}, {5, 3, 3, 3}, {n(), 5, 3, 8}, {2, 2}, {1, 1}},
        {"3x3 of odd rows", {n(), 2, 4, 7}, {3, 2, 3, 3}, {n(), 3, 4, 7}, {1, 1}, {1, 1}},
        {"1x1 with a stride", {n(), 3, 3, 8}, {2, 3, 1, 1}, {n(), 2, 2, 4}, {2, 2}, {0, 0}},
        {"a symbolic width", {2, 3, 6, n()}, {2, 3, 3, 3}, {2, 2, 6, n()}, {1, 1}, {1, 1}, {1, 4, 5, 6, 36}},
        {"symbolic channels", {2, n(), 3, 4}, {3, n(), 3, 3}, {2, 3, 3, 4}, {1, 1}, {1, 1}, {0, 1, 4, 9}},
    };
}

void add_convolution(std::vector<OpInfo>& rows)
{
    OpInfo forward{.name = "conv2d", .tolerance = 5e-6};
    OpInfo input{.name = "conv2d_input_vjp", .tolerance = 5e-6};
    OpInfo weight{.name = "conv2d_weight_vjp", .tolerance = 5e-6};
    const auto sizes = test::sizes({0, 1, 4});
    for (const Convolution& c : convolutions()) {
        const Conv2dOptions options{.stride = {c.stride[0], c.stride[1]},
                                    .padding = {c.padding[0], c.padding[1]}};
        forward.samples.push_back(
            {.what = c.what,
             .arguments = {arg(c.x), arg(c.weight)},
             .call = [options](const Inputs& in) { return std::vector{conv2d(in[0], in[1], {}, options)}; },
             .sizes = c.sizes});
        if (c.x[3].is_constant()) // "size" is an attribute, which is no symbol in eager code
            input.samples.push_back({.what = c.what,
                                     .arguments = {arg(c.dy), arg(c.weight)},
                                     .call = apply(ops::conv2d_input_vjp_op, c.with("size", c.x)),
                                     .sizes = c.sizes});
        weight.samples.push_back({.what = c.what,
                                  .arguments = {arg(c.dy), arg(c.x)},
                                  .call = apply(ops::conv2d_weight_vjp_op, c.with("kernel", c.weight)),
                                  .sizes = c.sizes});
    }
    forward.samples.push_back(
        {.what = "with a bias",
         .arguments = {arg({n(), 2, 6, 6}), arg({3, 2, 3, 3}), arg({3})},
         .call = [](const Inputs& in) { return std::vector{conv2d(in[0], in[1], in[2])}; },
         .sizes = sizes});
    forward.mistakes = {
        {"three dimensions",
         [] {
             conv2d(ones({2, 8, 8}), ones({3, 2, 3, 3}));
         },
         ErrorKind::shape, "[batch, channels, height, width]"},
        {"channels",
         [] {
             conv2d(ones({1, 4, 8, 8}), ones({3, 2, 3, 3}));
         },
         ErrorKind::shape, "(4) channels but the weight has (2)"},
        {"a bias of another size",
         [] {
             conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}), ones({2}));
         },
         ErrorKind::shape, "(3) out channels"},
        {"a kernel larger than the image",
         [] {
             conv2d(ones({1, 2, 2, 2}), ones({3, 2, 3, 3}));
         },
         ErrorKind::shape, "3"},
        {"a stride of 0",
         [] {
             conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}), {}, {.stride = {0, 1}});
         },
         ErrorKind::argument, "stride"},
        {"two dtypes",
         [] {
             conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}, {.dtype = f16}));
         },
         ErrorKind::dtype, "(f32 and f16)"},
    };
    rows.insert(rows.end(), {forward, input, weight});
}

} // namespace

void add_products(std::vector<OpInfo>& rows)
{
    rows.push_back({.name = "matmul",
                    .samples = matmul_samples(),
                    .mistakes = {{"inner sizes",
                                  [] {
                                      matmul(ones({2, 3}), ones({4, 5}));
                                  },
                                  ErrorKind::shape, "(3 and 4)"},
                                 {"batches",
                                  [] {
                                      matmul(ones({2, 2, 3}), ones({4, 3, 5}));
                                  },
                                  ErrorKind::shape, "([2] and [4]) do not broadcast"},
                                 {"a scalar", [] { matmul(ones({}), ones({3})); }, ErrorKind::shape, "[]"},
                                 {"integers",
                                  [] {
                                      matmul(ones({2, 2}, {.dtype = i32}), ones({2, 2}, {.dtype = i32}));
                                  },
                                  ErrorKind::dtype, "a floating dtype"},
                                 {"two dtypes",
                                  [] {
                                      matmul(ones({2, 2}), ones({2, 2}, {.dtype = f16}));
                                  },
                                  ErrorKind::dtype, "(f32 and f16)"}},
                    .tolerance = 5e-6});
    rows.push_back(
        {.name = "linear",
         .is_op = false,
         .samples = {{.what = "with a bias",
                      .arguments = {arg({n(), 6}), arg({4, 6}), arg({4})},
                      .call = [](const Inputs& in) { return std::vector{linear(in[0], in[1], in[2])}; }},
                     {.what = "three dimensions",
                      .arguments = {arg({2, n(), 6}), arg({4, 6})},
                      .call = [](const Inputs& in) { return std::vector{linear(in[0], in[1])}; }}},
         .mistakes = {{"a weight of one dimension",
                       [] {
                           linear(ones({2, 3}), ones({3}));
                       },
                       ErrorKind::shape, "[out, in]"}}});
    add_convolution(rows);
}

} // namespace reprise::test
