// Products of matrices.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
void add_products(Rows& rows)
{
    rows.op("matmul").tolerance = 5e-6;
    const auto product = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
    rows.sample("rows", {arg({n(), 5}), arg({5, 7})}, {0, 1, 3, 40}, product);
    rows.sample("rows of whole texels", {arg({n(), 16}), arg({16, 32})}, {1, 17, 64}, product);
    rows.sample("the inner dimension", {arg({4, n()}), arg({n(), 8})}, {0, 1, 13, 300}, product);
    rows.sample("columns", {arg({6, 12}), arg({12, n()})}, {0, 1, 33}, product);
    rows.sample("a batch and one matrix", {arg({2, n(), 4}), arg({4, 6})}, {0, 1, 5}, product);
    rows.sample("two batches", {arg({n(), 3, 4}), arg({n(), 4, 5})}, {0, 1, 3}, product);
    rows.sample("batches that broadcast", {arg({2, 1, n(), 4}), arg({3, 4, 5})}, {1, 4}, product);
    rows.sample("an unknown batch that broadcasts", {arg({n(), 1, 3, 4}), arg({2, 4, 5})}, {0, 1, 4},
                product);
    rows.sample("vectors", {arg({n()}), arg({n()})}, {0, 1, 50}, product);
    rows.sample("a matrix and a vector", {arg({n(), 6}), arg({6})}, {1, 9}, product);
    rows.sample("a batch and a vector", {arg({2, n(), 4}), arg({4})}, {0, 1, 5}, product);
    rows.sample("heads inside of rows", {arg({2, n(), 3, 8}), arg({2, n(), 3, 8})}, {0, 1, 5, 16},
                [](const Inputs& in) {
                    const Tensor a = transpose(in[0], 1, 2), b = transpose(in[1], 1, 2);
                    return std::vector{matmul(a, transpose(b, -1, -2)), matmul(transpose(a, -1, -2), b)};
                });
    rows.sample("transposed operands", {arg({8, n()}), arg({12, 8})}, {1, 4, 20},
                [](const Inputs& in) { return matmul(transpose(in[0], 0, 1), transpose(in[1], 0, 1)); });
    rows.mistake("inner sizes", ErrorKind::shape, "(3 and 4)", [] { matmul(ones({2, 3}), ones({4, 5})); });
    rows.mistake("batches", ErrorKind::shape, "([2] and [4]) do not broadcast", [] {
        matmul(ones({2, 2, 3}), ones({4, 3, 5}));
    });
    rows.mistake("a scalar", ErrorKind::shape, "[]", [] { matmul(ones({}), ones({3})); });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        matmul(ones({2, 2}, {.dtype = i32}), ones({2, 2}, {.dtype = i32}));
    });
    rows.mistake("two dtypes", ErrorKind::dtype, "(f32 and f16)", [] {
        matmul(ones({2, 2}), ones({2, 2}, {.dtype = f16}));
    });

    rows.op("int_mm").differentiable = false;
    const auto of_bytes = [](Shape sizes) { return of(i8, arg(std::move(sizes), -128, 127)); };
    rows.forward("rows", {of_bytes({n(), 7}), of_bytes({7, 5})}, {0, 1, 3, 40},
                 [](const Inputs& in) { return int_mm(in[0], in[1]); });
    rows.forward("the inner dimension", {of_bytes({3, n()}), of_bytes({n(), 9})}, {0, 1, 13, 600},
                 [](const Inputs& in) { return int_mm(in[0], in[1]); });
    rows.mistake("inner sizes", ErrorKind::shape, "(3 and 4)", [] {
        int_mm(ones({2, 3}, {.dtype = i8}), ones({4, 5}, {.dtype = i8}));
    });
    rows.mistake("a batch", ErrorKind::shape, "[2, 3, 4]", [] {
        int_mm(ones({2, 3, 4}, {.dtype = i8}), ones({4, 5}, {.dtype = i8}));
    });
    rows.mistake("floats", ErrorKind::dtype, "i8", [] { int_mm(ones({2, 3}), ones({3, 5})); });

    rows.composed("linear");
    rows.sample("with a bias", {arg({n(), 6}), arg({4, 6}), arg({4})},
                [](const Inputs& in) { return linear(in[0], in[1], in[2]); });
    rows.sample("three dimensions", {arg({2, n(), 6}), arg({4, 6})},
                [](const Inputs& in) { return linear(in[0], in[1]); });
    rows.mistake("a weight of one dimension", ErrorKind::shape, "[out, in]", [] {
        linear(ones({2, 3}), ones({3}));
    });
}

} // namespace reprise::test
