// More writes by indices, and searches in sorted sequences.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

Tensor first_places(std::int64_t n) { return zeros({n}, {.dtype = i32}); }

void add_row_reductions(Rows& rows)
{
    // Rows without a source would be infinite, where gradcheck can't take differences.
    const auto how = [](std::int64_t of) {
        return [of](const Inputs& in) {
            const Tensor y = graph::apply1(ops::reduce_rows_op, in, {{"rows", Dim(5)}, {"how", of}});
            return std::vector{is_floating(y.dtype()) ? where(isinf(y), 9.0, y) : y};
        };
    };

    rows.op("reduce_rows");
    rows.sample("products", {arg({n(), 3}, 0.5, 2), whole({n()}, -1, 5)}, how(1));
    rows.sample("the largest", {arg({n(), 8}), whole({n()}, 0, 4)}, {0, 1, 7, 700}, how(2));
    rows.sample("the least", {arg({n(), 2}), whole({n()}, 0, 4)}, how(3));
    rows.forward("integers", {whole({n(), 3}, -3, 3), whole({n()}, 0, 4)}, [=](const Inputs& in) {
        return std::vector{how(1)(in)[0], how(2)(in)[0], how(3)(in)[0]};
    });
}

void add_reduce(Rows& rows)
{
    const auto by_all = [](const auto& f, bool sums) {
        return [f, sums](const Inputs& in) {
            std::vector<Tensor> out;
            for (const bool self : {true, false}) {
                if (sums) out.push_back(f(in, "sum", self));
                for (const char* how : {"prod", "mean", "amax", "amin"}) out.push_back(f(in, how, self));
            }
            return out;
        };
    };
    const auto scattered = by_all([](const Inputs& in, const char* how,
                                     bool self) { return scatter_reduce(in[0], 1, in[1], in[2], how, self); },
                                  true);
    const auto indexed = by_all([](const Inputs& in, const char* how,
                                   bool self) { return index_reduce(in[0], -1, in[1], in[2], how, self); },
                                false);

    rows.composed("scatter_reduce").tolerance = 1e-5;
    rows.sample("rows", {arg({n(), 4}, 0.5, 2), whole({n(), 7}, 0, 3), arg({n(), 7}, 0.5, 2)}, scattered);
    rows.forward("integers", {whole({n(), 4}, -5, 5), whole({n(), 7}, 0, 3), whole({n(), 8}, -5, 5)},
                 scattered);
    rows.mistake("another reduction", ErrorKind::argument, "(max) must be sum, prod",
                 [] { scatter_reduce(ones({3}), 0, first_places(1), ones({1}), "max"); });
    rows.mistake("a source that is too small", ErrorKind::shape, "does not cover",
                 [] { scatter_reduce(ones({3}), 0, first_places(2), ones({1}), "sum"); });
    rows.mistake("bool", ErrorKind::dtype, "numbers", [] {
        const Tensor x = ones({3}, {.dtype = boolean});
        scatter_reduce(x, 0, first_places(3), x, "amax");
    });

    rows.composed("index_reduce").tolerance = 1e-5;
    rows.sample("columns", {arg({n(), 4}, 0.5, 2), whole({6}, 0, 3), arg({n(), 6}, 0.5, 2)}, indexed);
    rows.mistake("a sum", ErrorKind::argument, "(sum) must be prod",
                 [] { index_reduce(ones({3}), 0, first_places(1), ones({1}), "sum"); });
    rows.mistake("a source of another shape", ErrorKind::shape, "[2]",
                 [] { index_reduce(ones({3}), 0, first_places(1), ones({2}), "amax"); });
}

void add_writes(Rows& rows)
{
    rows.composed("index_fill");
    rows.sample("rows and columns", {arg({n(), 4, 3}), whole({2}, 0, 3)}, [](const Inputs& in) {
        return std::vector{index_fill(in[0], 1, in[1], 0.5), index_fill(in[0], -1, in[1], -2)};
    });
    rows.forward("integers", {of(u8, arg({n(), 4}, 0, 255)), whole({2}, 0, 3)},
                 [](const Inputs& in) { return index_fill(in[0], 1, in[1], 7); });
    rows.mistake("a matrix of indices", ErrorKind::shape, "a vector", [] {
        index_fill(ones({3}), 0, zeros({1, 1}, {.dtype = i32}), 1);
    });

    rows.composed("index_copy");
    rows.sample("along the middle", {arg({2, 4, n()}), whole({3}, 0, 3), arg({2, 3, n()})},
                [](const Inputs& in) { return index_copy(in[0], 1, in[1], in[2]); });
    rows.sample("nothing", {arg({4, n()}), whole({0}, 0, 3), arg({0, n()})},
                [](const Inputs& in) { return index_copy(in[0], 0, in[1], in[2]); });
    rows.mistake("a source of another shape", ErrorKind::shape, "[2]",
                 [] { index_copy(ones({3}), 0, first_places(1), ones({2})); });

    rows.composed("negative_indices");
    rows.sample("from the end", {arg({n(), 4}), whole({5}, -4, 3), whole({n(), 3}, -4, 3)},
                [](const Inputs& in) {
                    return std::vector{index_select(in[0], 1, in[1]), gather(in[0], 1, in[2])};
                });
    rows.sample("of all", {arg({n() + 1, 4}), whole({2, 3}, -4, 3)},
                [](const Inputs& in) { return take(in[0], in[1]); });
}

void add_searches(Rows& rows)
{
    using Q = QuantileInterpolation;

    rows.composed("quantile");
    rows.sample("along a dimension", {arg({n() + 1, 6})}, [](const Inputs& in) {
        std::vector<Tensor> out{quantile(in[0], 0.3), quantile(in[0], 1, 0)};
        for (const Q how : {Q::linear, Q::lower, Q::higher, Q::nearest, Q::midpoint})
            out.push_back(quantile(in[0], 0.37, 1, true, how));
        return out;
    });
    rows.mistake("beyond 1", ErrorKind::argument, "(1.5)", [] { quantile(ones({3}), 1.5); });
    rows.mistake("nothing", ErrorKind::shape, "[2, 0]", [] { quantile(ones({2, 0}), 0.5, 1); });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { quantile(arange(3), 0.5); });

    rows.composed("searchsorted").differentiable = false;
    rows.sample("one sequence", {arg({7}), arg({n(), 3})}, [](const Inputs& in) {
        const Tensor line = sort(in[0]).first;
        return std::vector{searchsorted(line, in[1]), bucketize(in[1], line, true)};
    });
    rows.sample("a sequence of unknown size for each line", {arg({2, n()}), whole({2, 5}, -2, 2)},
                {1, 4, 9, 300}, [](const Inputs& in) {
                    const Tensor lines = round(sort(in[0] * 2).first);
                    const Tensor values = cast(in[1], in[0].dtype());
                    return std::vector{searchsorted(lines, values), searchsorted(lines, values, true)};
                });
    rows.mistake("other lines", ErrorKind::shape, "differ before the last", [] {
        searchsorted(ones({3, 2}), ones({2, 2}));
    });
    rows.mistake("a matrix of boundaries", ErrorKind::shape, "a vector", [] {
        bucketize(ones({3}), ones({2, 2}));
    });

    rows.composed("histc").differentiable = false;
    rows.sample("of given and of own bounds", {arg({n(), 5}, -2, 2)}, {1, 4, 60}, [](const Inputs& in) {
        return std::vector{histc(in[0], 5, -1, 1), histc(in[0], 4)};
    });
    rows.mistake("no bins", ErrorKind::argument, "(0)", [] { histc(ones({3}), 0); });
    rows.mistake("bounds the wrong way around", ErrorKind::argument, "(2)",
                 [] { histc(ones({3}), 3, 2, 1); });

    rows.composed("triangle_indices").differentiable = false;
    rows.sample("below and above", {}, [](const Inputs&) {
        return std::vector{tril_indices(3, 4), tril_indices(4, 3, -1), triu_indices(3, 4, 1),
                           triu_indices(2, 2, -5)};
    });
    rows.last().skips[Check::recorded] = "numbers of the host, made before a recording";
}

} // namespace

void add_indexed_writes(Rows& rows)
{
    add_row_reductions(rows);
    add_reduce(rows);
    add_writes(rows);
    add_searches(rows);
}

} // namespace reprise::test
