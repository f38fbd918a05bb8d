// Functions whose shapes combine symbols: each sample runs eagerly at every size, and in one recording.
#include "testing/op_info/rows.hpp"

namespace reprise::test {

void add_symbols(Rows& rows)
{
    rows.composed("images_of_any_size");
    rows.sample("convolution, height and width unknown",
                {arg({2, 3, n() + 3, n() * 2 + 4}), arg({4, 3, 3, 3}), arg({4})}, {0, 1, 5},
                [](const Inputs& in) -> Inputs {
                    return {conv2d(in[0], in[1], in[2], {.stride = {2, 1}, .padding = {1, 2}})};
                });
    rows.sample("convolution, all of it unknown",
                {arg({n(), n(), n() + 2, n() + 4}), arg({n() + 1, n(), 3, 2})}, {1, 3},
                [](const Tensor& x, const Tensor& w) { return conv2d(x, w); });
    rows.sample("pooling, height and width unknown", {arg({2, n(), n() + 3, n() + 2})}, {1, 2, 5},
                [](const Tensor& x) {
                    return max_pool2d(x, {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}});
                });
    rows.sample("convolution, pooling and the rest flattened", {arg({n(), 1, n() + 6, 8}), arg({2, 1, 3, 3})},
                {0, 1, 4},
                [](const Tensor& x, const Tensor& w) { return flatten(max_pool2d(conv2d(x, w), 2), 1); });

    rows.composed("products_of_any_size");
    rows.sample("one matrix for a batch of them", {arg({n(), 1, 3, n() + 2}), arg({2, n() + 2, 4})},
                [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    rows.sample("batches that broadcast on both sides", {arg({1, n(), 2, 3}), arg({4, 1, 3, n() + 1})},
                [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    rows.sample("a vector for a batch", {arg({n(), 2, n() + 1}), arg({n() + 1})},
                [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    rows.sample("of a batch with its transpose", {arg({2, n(), 3})},
                [](const Tensor& x) { return matmul(x, transpose(x, 1, 2)); });

    rows.composed("broadcasts_of_any_size");
    rows.sample("a row, a column and a number", {arg({n(), 3}), arg({3}), arg({n(), 1}), arg({})},
                [](const Inputs& in) -> Inputs { return {in[0] * in[1] + in[2] - in[3]}; });
    rows.sample("a row and a column of unknown sizes", {arg({1, n()}), arg({n() * 2 + 1, 1})},
                [](const Tensor& a, const Tensor& b) { return a * b; });
    rows.sample("in the middle", {arg({2, n(), 3}), arg({2, 1, 3}), arg({n(), 1})},
                [](const Inputs& in) -> Inputs { return {(in[0] + in[1]) * in[2]}; });
    rows.sample("sums that keep their dimensions", {arg({n() + 1, 2, n() + 2})}, [](const Tensor& x) {
        return x - mean(x, {0, 2}, true) * 2;
    });

    rows.composed("shapes_of_any_size");
    rows.sample("heads", {arg({n(), n() + 1, 6})}, {1, 4}, [](const Tensor& x) {
        const Tensor heads = transpose(reshape(x, {x.size(0), x.size(1), 2, 3}), 1, 2);
        return reshape(transpose(heads * 2, 1, 2), {x.size(0), -1, 6});
    });
    rows.sample("rows in pairs", {arg({n() * 2, 3})}, [](const Tensor& x) {
        return reshape(x, {-1, 2, 3}) * unsqueeze(narrow(x, 0, 0, floor_div(x.size(0), 2)), 1);
    });
    rows.sample("the second half", {arg({3, n()})}, [](const Tensor& x) {
        const Dim half = floor_div(x.size(1), 2);
        return narrow(x, 1, half, x.size(1) - half) * 2;
    });
    rows.sample("expanded by sizes of another", {arg({1, 3}), fixed(arg({n(), n() + 2}))},
                [](const Tensor& x, const Tensor& y) {
                    return flatten(expand(unsqueeze(x, 1), {y.size(0), y.size(1), 3}), 0, 1) * 1;
                });
}

} // namespace reprise::test
