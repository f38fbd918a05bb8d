// Views: shapes, permutations, ranges.
#include "testing/op_info/rows.hpp"

namespace reprise::test {

void add_views(Rows& rows)
{
    rows.op("reshape");
    rows.sample("rows split", {arg({n(), 6})}, [](const Tensor& x) {
        return reshape(x, {x.size(0) * 2, 3});
    });
    rows.sample("the rest", {arg({n(), 2, 3})}, {1, 4}, [](const Tensor& x) {
        return reshape(x, {3, -1}) * 2;
    });
    rows.sample("of a transposed matrix", {arg({n(), 4})},
                [](const Tensor& x) { return reshape(x.t(), {4 * x.size(0)}); });
    rows.sample("to a scalar", {arg({1, 1})}, {1}, [](const Tensor& x) { return reshape(x, {}); });
    rows.mistake("another count", ErrorKind::shape, "[6]", [] { reshape(ones({6}), {4}); });
    rows.mistake("two sizes left out", ErrorKind::argument, "-1", [] { reshape(ones({6}), {-1, -1}); });
    rows.mistake("what is left is no size", ErrorKind::shape, "[6]", [] { reshape(ones({6}), {4, -1}); });

    rows.op("permute");
    rows.sample("three dimensions", {arg({n(), 2, 5})}, [](const Tensor& x) {
        return permute(x, {2, 0, 1});
    });
    rows.sample("transpose", {arg({3, n()})}, [](const Tensor& x) { return transpose(x, 0, -1) * 2; });
    rows.mistake("a dimension twice", ErrorKind::argument, "0", [] { permute(ones({2, 3}), {0, 0}); });
    rows.mistake("too few", ErrorKind::argument, "name each dimension once", [] {
        permute(ones({2, 3}), {0});
    });
    rows.mistake("no such dimension", ErrorKind::argument, "2", [] { transpose(ones({2, 3}), 0, 2); });

    rows.op("expand");
    rows.sample("new and stretched", {arg({n(), 1, 3})}, [](const Tensor& x) {
        return expand(x, {2, -1, 4, -1});
    });
    rows.sample("by the size", {arg({1, 3}), fixed(arg({n()}))}, [](const Inputs& in) {
        return expand(in[0], {in[1].size(0), 3}) * 2;
    });
    rows.mistake("fewer dimensions", ErrorKind::shape, "fewer dimensions", [] { expand(ones({2, 3}), {3}); });
    rows.mistake("a size that is not 1", ErrorKind::shape, "[2, 3]", [] { expand(ones({2, 3}), {4, 3}); });

    rows.op("narrow");
    rows.sample("the inner dimension", {arg({n(), 7})}, [](const Tensor& x) { return narrow(x, 1, 2, 3); });
    rows.sample("all but the first", {arg({n() + 1, 3})},
                [](const Tensor& x) { return narrow(x, 0, 1, x.size(0) - 1) * 2; });
    rows.sample("from the end", {arg({n(), 3})},
                [](const Tensor& x) { return narrow(x, 1, -2, 2) * narrow(x, 1, 1, 2); });
    rows.sample("nothing", {arg({n(), 3})}, [](const Tensor& x) { return narrow(x, 1, 3, 0); });
    rows.mistake("beyond the end", ErrorKind::shape, "from (3) of length (3)",
                 [] { narrow(ones({5}), 0, 3, 3); });
    rows.mistake("before the start", ErrorKind::shape, "(-1)", [] { narrow(ones({5}), 0, -1, 3); });
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { narrow(ones({5}), 1, 0, 1); });

    rows.op("flip");
    rows.sample("two dimensions", {arg({n(), 3, 2})}, [](const Tensor& x) { return flip(x, {0, -1}); });
    rows.sample("of a transposed matrix", {arg({5, n()})},
                [](const Tensor& x) { return flip(x.t(), {0}) * 2; });
    rows.mistake("a dimension twice", ErrorKind::argument, "(-2) is given twice", [] {
        flip(ones({2, 3}), {0, -2});
    });
    rows.mistake("no such dimension", ErrorKind::argument, "2", [] { flip(ones({2, 3}), {2}); });
    rows.composed("fliplr");
    rows.sample("a batch", {arg({2, n(), 3})}, [](const Tensor& x) { return fliplr(x); });
    rows.mistake("a vector", ErrorKind::argument, "1", [] { fliplr(ones({3})); });
    rows.composed("flipud");
    rows.sample("a matrix", {arg({n(), 3})}, [](const Tensor& x) { return flipud(x); });

    rows.op("contiguous");
    rows.sample("of a transposed matrix", {arg({n(), 4})},
                [](const Tensor& x) { return graph::apply1(ops::contiguous_op, {x.t()}); });
    rows.sample("of what is", {arg({n(), 4})}, [](const Tensor& x) { return x.contiguous(); });
    rows.forward("bool", {truth({n(), 3})}, [](const Tensor& x) { return x.t().contiguous(); });
    rows.forward("f16", {of(f16, arg({n(), 3}))}, [](const Tensor& x) { return x.t().contiguous(); });

    rows.composed("squeeze");
    // A symbolic dimension is never squeezed, even if its size is 1.
    rows.sample("and unsqueeze", {arg({n(), 1, 3, 1})}, {0, 3, 8}, [](const Inputs& in) {
        return std::vector{squeeze(in[0]) * 1, squeeze(in[0], 1), unsqueeze(in[0], -1), flatten(in[0], 1),
                           flatten(in[0])};
    });
    rows.mistake("no such dimension", ErrorKind::argument, "3", [] { squeeze(ones({2}), 3); });
    rows.mistake("flatten backward", ErrorKind::argument, "1", [] { flatten(ones({2, 3}), 1, 0); });
}

} // namespace reprise::test
