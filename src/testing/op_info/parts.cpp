// Splitting and joining tensors, padding, masks.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

void add_split(Rows& rows)
{
    rows.op("split");
    rows.sample("symbolic sizes", {arg({n() * 2 + 3, 4})}, {0, 1, 5}, [](const Inputs& in) {
        const Dim half = floor_div(in[0].size(0) - 3, 2);
        std::vector<Tensor> parts = split(in[0], {half, 3, half}, 0);
        parts[2] = parts[2] * 2;
        return parts;
    });
    rows.sample("one that is not used", {arg({n(), 7})},
                [](const Inputs& in) { return split(in[0], 3, 1)[1]; });
    rows.sample("of a permuted tensor", {arg({n(), 2, 3, 4})}, [](const Inputs& in) {
        return unbind(permute(in[0], {2, 0, 1, 3}), 0);
    });
    rows.mistake("another sum", ErrorKind::shape, "([2, 3]) do not add up", [] {
        split(ones({6}), {2, 3}, 0);
    });
    rows.mistake("a negative size", ErrorKind::shape, "-1", [] { split(ones({6}), {7, -1}, 0); });
    rows.mistake("parts of nothing", ErrorKind::argument, "(0)", [] { split(ones({6}), 0, 0); });
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { split(ones({6}), 2, 1); });

    rows.composed("chunk");
    rows.sample("a symbolic size", {arg({2, n() * 3})}, [](const Inputs& in) { return chunk(in[0], 3, 1); });
    rows.sample("a smaller last one", {arg({7, n()})}, [](const Inputs& in) { return chunk(in[0], 3); });
    rows.sample("fewer than requested", {arg({2, n()})}, [](const Inputs& in) { return chunk(in[0], 5); });
    rows.mistake("no chunks", ErrorKind::argument, "(0)", [] { chunk(ones({6}), 0); });
}

void add_cat(Rows& rows)
{
    const auto call = [](std::int64_t dim) {
        return [dim](const Inputs& in) { return std::vector{cat(in, dim)}; };
    };

    rows.op("cat");
    rows.sample("outer", {arg({n(), 8}), arg({2, 8}), arg({n() + 1, 8})}, call(0));
    rows.sample("inner", {arg({3, n()}), arg({3, 5})}, call(-1));
    rows.sample("texels", {arg({n(), 2, 4}), arg({n(), 3, 4})}, {0, 1, 5, 40}, call(1));
    rows.sample("vectors, one empty", {arg({0}), arg({n()})}, {0, 1, 5}, call(0));
    rows.forward("i32", {whole({n()}, -9, 9), whole({3}, -9, 9)}, call(0));
    rows.forward("bool and f16", {truth({n(), 3}), of(f16, arg({n(), 3}))}, [](const Inputs& in) {
        return std::vector{cat({in[0], in[0]}, 1), cat({in[1], in[1], in[1]}, 0)};
    });
    rows.sample("nothing and one", {arg({n(), 3})}, [](const Inputs& in) {
        const Tensor nothing = zeros({0}, {.dtype = in[0].dtype()});
        return cat({nothing, in[0]}, 1) * 2;
    });
    rows.sample("of two dtypes", {arg({n()}), whole({n()}, -9, 9)}, [](const Inputs& in) {
        return cat({in[0], in[1]}) * 2;
    });
    rows.mistake("no tensors", ErrorKind::argument, "no tensors", [] { cat({}); });
    rows.mistake("another shape", ErrorKind::shape, "([2, 3] and [2, 4])", [] {
        cat({ones({2, 3}), ones({2, 4})}, 0);
    });
    rows.mistake("another rank", ErrorKind::shape, "[2]", [] { cat({ones({2, 3}), ones({2})}, 0); });
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { cat({ones({2}), ones({2})}, 1); });

    rows.composed("stack");
    rows.sample("in the middle", {arg({2, n()}), arg({2, n()}), arg({2, n()})},
                [](const Inputs& in) { return stack(in, 1); });
    rows.sample("last", {arg({n()}), arg({n()})}, [](const Inputs& in) { return stack(in, -1); });
    rows.mistake("no tensors", ErrorKind::argument, "no tensors", [] { stack({}); });
    rows.mistake("another shape", ErrorKind::shape, "([2] and [3])", [] { stack({ones({2}), ones({3})}); });
}

void add_pad(Rows& rows)
{
    rows.op("pad");
    rows.sample("two dimensions", {arg({2, n(), 3})}, [](const Inputs& in) {
        return pad(in[0], {1, 2, 0, 3}, 0.5);
    });
    rows.sample("symbolic amounts", {arg({n(), 4})}, [](const Inputs& in) {
        const Dim size = in[0].size(0);
        return std::vector{pad(in[0], {0, 0, 1, size + 2}), pad(in[0], {size, 0})};
    });
    rows.sample("cut off", {arg({5, n() + 2})}, [](const Inputs& in) {
        return std::vector{pad(in[0], {-1, 2, 1, -3}), pad(in[0], {-1, -1}) * 2};
    });
    rows.forward("i32", {whole({2, n(), 3}, -9, 9)}, [](const Inputs& in) { return pad(in[0], {1, 0}, -7); });
    rows.forward("f16 and bool", {of(f16, arg({3, n()})), truth({n(), 5})}, [](const Inputs& in) {
        return std::vector{pad(in[0], {1, 2}, 0.1), pad(in[1], {0, 2, 1, 0}, 1)};
    });
    rows.mistake("an odd number", ErrorKind::argument, "(1) amounts", [] { pad(ones({2}), {1}); });
    rows.mistake("too many", ErrorKind::argument, "(4) amounts for (1)", [] {
        pad(ones({2}), {1, 1, 1, 1});
    });
    rows.mistake("less than nothing", ErrorKind::shape, "less than nothing", [] {
        pad(ones({2}), {-2, -1});
    });
}

void add_masks(Rows& rows)
{
    rows.composed("masked_fill");
    rows.sample("a mask that broadcasts", {arg({2, n(), 3}), truth({n(), 3})},
                [](const Inputs& in) { return masked_fill(in[0], in[1], -2.5); });
    rows.mistake("a mask of numbers", ErrorKind::dtype, "a mask of dtype bool",
                 [] { masked_fill(ones({2}), ones({2}), 0); });

    rows.composed("tril");
    rows.sample("matrices", {arg({2, n(), 5})}, [](const Inputs& in) {
        return std::vector{tril(in[0]), tril(in[0], 1), tril(in[0], -2), tril(in[0], std::int64_t{1} << 40)};
    });
    rows.mistake("a vector", ErrorKind::shape, "[2]", [] { tril(ones({2})); });

    rows.composed("triu");
    rows.sample("matrices", {arg({4, n()})}, [](const Inputs& in) {
        return std::vector{triu(in[0]), triu(in[0], 2), triu(in[0], -1)};
    });
    rows.mistake("a vector", ErrorKind::shape, "[2]", [] { triu(ones({2})); });

    rows.composed("unbind");
    rows.sample("the last dimension", {arg({n(), 3})}, [](const Inputs& in) { return unbind(in[0], -1); });
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { unbind(ones({2}), 1); });
}

} // namespace

void add_parts(Rows& rows)
{
    add_split(rows);
    add_cat(rows);
    add_pad(rows);
    add_masks(rows);
}

} // namespace reprise::test
