// Reductions, scans, extrema and their indices, statistics.

#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using Reduce = Tensor (*)(const Tensor&, const Dims&, bool);

// Adds samples for each layout of the kernels (rows, columns, neither), with one and two levels.
void samples(Rows& rows, Reduce f, std::int64_t min_n, double low = -1, double high = 1)
{
    const auto call = [f](Dims dims, bool keepdim) {
        return [f, dims, keepdim](const Tensor& x) { return f(x, dims, keepdim); };
    };
    const auto from = [min_n](std::vector<std::int64_t> sizes) {
        std::erase_if(sizes, [min_n](std::int64_t s) { return s < min_n; });
        return sizes;
    };
    rows.sample("all", {arg({n(), 3}, low, high)}, from({0, 1, 5, 300}), call({}, false));
    rows.sample("all of a vector", {arg({n()}, low, high)}, from({1, 256, 257, 3000}), call({}, false));
    rows.sample("the inner dimension", {arg({n(), 8}, low, high)}, {0, 1, 7, 130}, call({1}, false));
    rows.sample("a symbolic inner dimension", {arg({5, n()}, low, high)}, from({0, 1, 7, 600}),
                call({-1}, true));
    rows.sample("the outer dimension", {arg({n(), 8}, low, high)}, from({0, 1, 7, 300}), call({0}, false));
    rows.sample("inner and outer", {arg({n(), 3, 4}, low, high)}, from({0, 1, 5, 70}), call({0, 2}, true));
    rows.sample("every other", {arg({2, 3, n(), 5}, low, high)}, {0, 1, 4}, call({1, 3}, false));
}

void add_i32(Rows& rows, Reduce f, int bound = 1000)
{
    rows.forward("i32", {whole({n(), 5}, -bound, bound)}, {1, 6, 300}, [f](const Tensor& x) {
        return std::vector{f(x, {0}, false), f(x, {1}, false)};
    });
}

void add_sums_and_extrema(Rows& rows)
{
    rows.op("sum");
    samples(rows, sum, 0);
    rows.mistake("no such dimension", ErrorKind::argument, "2", [] { sum(ones({2, 3}), {2}); });
    rows.mistake("a dimension twice", ErrorKind::argument, "1", [] { sum(ones({2, 3}), {1, -1}); });
    add_i32(rows, sum);
    rows.forward("bool counts", {truth({n(), 5})}, [](const Inputs& in) { return sum(in[0], {1}); });

    rows.op("amax");
    samples(rows, amax, 1);
    rows.mistake("no such dimension", ErrorKind::argument, "2", [] { amax(ones({2, 3}), {2}); });
    rows.mistake("a dimension twice", ErrorKind::argument, "1", [] { amax(ones({2, 3}), {1, -1}); });
    rows.mistake("nothing", ErrorKind::shape, "[2, 0]", [] { amax(ones({2, 0}), {1}); });
    rows.forward(
        "bool and narrow integers",
        {truth({n(), 3}), of(u8, arg({n(), 3}, 0, 255)), of(i8, arg({n(), 3}, -128, 127)),
         of(i64, arg({n(), 3}, -9, 9))},
        {1, 4}, [](const Inputs& in) {
            Inputs out;
            for (const Tensor& t : in)
                out.insert(out.end(), {amax(t, {0}), amin(t, {1}), max(t, 1).second, min(t, 0).first});
            return out;
        });
    add_i32(rows, amax);
    rows.sample("ties share", {arg({n(), 3})},
                [](const Inputs& in) { return amax(cast(in[0] > 0, in[0].dtype()) + in[0] * 0, {1}); });

    rows.op("amin");
    samples(rows, amin, 1);
    rows.mistake("nothing", ErrorKind::shape, "to be the least", [] { amin(ones({2, 0}), {1}); });
    add_i32(rows, amin);
}

void add_products_and_scans(Rows& rows)
{
    rows.op("prod").tolerance = 2e-5; // hundreds of factors
    samples(rows, prod, 0, 0.8, 1.2); // long products stay near 1
    add_i32(rows, prod, 1);
    rows.forward("factors of 0", {whole({n(), 6}, 0, 3), arg({n(), 6}, 0.5, 2)}, [](const Inputs& in) {
        return std::vector{prod(cast(in[0], in[1].dtype()) * in[1], {1}),
                           prod(where(in[0] == 0, in[1] * 0, in[1]), {0})};
    });

    using Scan = Tensor (*)(const Tensor&, std::int64_t, const ScanOptions&);
    const auto scan = [&](const char* name, Scan f, double low, double high) {
        rows.op(name).tolerance = 5e-6;
        for (const std::int64_t dim : {0, 1, -1})
            rows.sample("along " + std::to_string(dim), {arg({n(), 3, 5}, low, high)}, {0, 1, 4, 70},
                        [f, dim](const Tensor& x) { return f(x, dim, {}); });
        rows.sample("long lines", {arg({2, n()}, low, high)}, {1, 256, 257, 1500},
                    [f](const Tensor& x) { return f(x, 1, {}); });
        rows.sample("exclusive and reversed", {arg({3, n()}, low, high)}, {0, 1, 9}, [f](const Tensor& x) {
            return std::vector{f(x, 1, {.exclusive = true}), f(x, -1, {.reverse = true}),
                               f(x, 0, {.exclusive = true, .reverse = true})};
        });
        rows.forward("integers and truth", {whole({3, n()}, -3, 3), truth({n(), 2})}, {0, 1, 300},
                     [f](const Inputs& in) {
                         return std::vector{f(in[0], 1, {}), f(in[1], 0, {})};
                     });
        rows.mistake("no such dimension", ErrorKind::argument, "1", [f] { f(ones({2}), 1, {}); });
    };
    scan("cumsum", cumsum, -1, 1);
    scan("cumprod", cumprod, 0.95, 1.05);
}

void add_places_of_extrema(Rows& rows)
{
    rows.op("argmax").differentiable = false;
    rows.mistake("no such dimension", ErrorKind::argument, "2", [] { argmax(ones({2, 3}), 2); });
    rows.mistake("nothing", ErrorKind::shape, "[2, 0]", [] { argmax(ones({2, 0}), 1); });
    for (const std::int64_t dim : {0, 1, 2})
        rows.sample("dimension " + std::to_string(dim), {arg({n(), 4, 6})}, {1, 5, 300},
                    [dim](const Inputs& in) {
                        return std::vector{argmax(in[0], dim), argmax(in[0], dim, true)};
                    });
    rows.sample("ties: the first", {whole({n(), 9}, 0, 2)}, {1, 40},
                [](const Inputs& in) { return argmax(cast(in[0], f32), 1); });
    rows.sample("ties: the last", {whole({n(), 9}, 0, 2)}, {1, 40}, [](const Inputs& in) {
        return std::vector{argmax(cast(in[0], f32), 1, false, true), argmax(in[0], -2, true, true),
                           argmin(cast(in[0], f32), 0, false, true)};
    });
}

void add_statistics(Rows& rows)
{
    rows.composed("mean");
    samples(rows, mean, 1);
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { mean(arange(3)); });

    rows.composed("max");
    rows.sample("over a dimension", {arg({n(), 4, 3})}, {1, 5, 40}, [](const Inputs& in) {
        const auto [values, indices] = max(in[0], 1);
        const auto [with_dim, with_dim_indices] = max(in[0], -1, true);
        return std::vector{values, with_dim, indices, with_dim_indices, max(in[0])};
    });
    rows.composed("var");
    samples(
        rows, [](const Tensor& x, const Dims& d, bool k) { return var(x, d, {.keepdim = k}); }, 2);

    rows.composed("std");
    samples(
        rows,
        [](const Tensor& x, const Dims& d, bool k) { return std(x, d, {.correction = 0, .keepdim = k}); }, 2);

    rows.composed("norm");
    samples(
        rows, [](const Tensor& x, const Dims& d, bool k) { return norm(x, 2, d, k); }, 2);

    rows.composed("norm_of_order_3");
    samples(
        rows, [](const Tensor& x, const Dims& d, bool k) { return norm(x, 3, d, k); }, 2, 0.3);

    rows.composed("logsumexp");
    samples(rows, logsumexp, 2, -3, 3);

    rows.composed("norms");
    rows.sample("of orders 1, infinity, minus infinity and 0.5", {arg({n(), 7}, 0.2, 1)}, {0, 1, 6},
                [](const Inputs& in) {
                    const double inf = std::numeric_limits<double>::infinity();
                    return std::vector{norm(in[0], 1, {1}), norm(in[0], inf, {1}),
                                       norm(in[0], -inf, {1}, true), norm(in[0], 0.5, {1})};
                });
    rows.forward("of order 0", {whole({n(), 7}, -1, 1)},
                 [](const Inputs& in) { return norm(cast(in[0], f32), 0, {1}); });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { norm(arange(3)); });
    rows.mistake("no number", ErrorKind::argument, "p", [] { norm(ones({3}), std::nan("")); });

    rows.composed("all_any").differentiable = false;
    rows.sample("of truth and numbers", {truth({n(), 3}), whole({n(), 4}, 0, 2), arg({n(), 2})},
                [](const Inputs& in) {
                    return std::vector{all(in[0], {1}),       any(in[0], {0}), all(in[1]),
                                       any(in[1], {1}, true), all(in[2], {0}), count_nonzero(in[1], {0})};
                });

    rows.composed("min_argmin");
    rows.sample("over a dimension and all", {arg({n(), 4, 3})}, {1, 5, 40}, [](const Inputs& in) {
        const auto [values, indices] = min(in[0], 1);
        return std::vector{values, indices, min(in[0]), argmin(in[0], 0), argmin(in[0]), argmax(in[0])};
    });

    rows.composed("sum_to");
    rows.sample("what was broadcast", {arg({n(), 3, 4})}, {1, 5}, [](const Inputs& in) {
        return std::vector{sum_to(in[0], {3, 1}), sum_to(in[0], {}), sum_to(in[0], in[0].shape())};
    });
    rows.mistake("no such broadcast", ErrorKind::shape, "[2, 3]", [] { sum_to(ones({2, 3}), {2}); });
}

} // namespace

void add_reductions(Rows& rows)
{
    add_sums_and_extrema(rows);
    add_products_and_scans(rows);
    add_places_of_extrema(rows);
    add_statistics(rows);
}

} // namespace reprise::test
