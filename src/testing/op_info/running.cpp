// Functions along a dimension: running extrema, differences, integrals; also sums that skip NaN.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

void add_running_extrema(Rows& rows)
{
    const auto op = [](std::int64_t least) {
        return apply(ops::running_extremum_op, {{"dim", std::int64_t{1}}, {"least", least}});
    };

    rows.op("running_extremum").differentiable = false;
    Argument longs = whole({3, n()}, -9, 9);
    longs.dtype = i64; // the dtype in which the functions pass integers to the op
    rows.sample("the largest", {arg({3, n()}, -2, 2)}, {0, 1, 256, 257, 1500}, op(0));
    rows.sample("the least", {arg({2, n(), 3}, -2, 2)}, {0, 1, 9, 300}, op(1));
    rows.sample("integers", {longs}, {1, 300}, op(1));
    const auto both = [](const Tensor& x, std::int64_t dim) {
        const auto [largest, largest_at] = cummax(x, dim);
        const auto [smallest, smallest_at] = cummin(x, dim);
        return std::vector{largest, largest_at, smallest, smallest_at};
    };

    rows.composed("cummax_cummin");
    rows.sample("inner", {arg({3, n()}, -2, 2)}, {0, 1, 7, 300},
                [=](const Inputs& in) { return both(in[0], -1); });
    rows.sample("outer", {arg({n(), 2, 3}, -2, 2)}, {0, 1, 5, 9},
                [=](const Inputs& in) { return both(in[0], 0); });
    rows.forward("ties of integers and truth", {whole({2, n()}, 0, 3), truth({n(), 3})},
                 [=](const Inputs& in) {
                     std::vector<Tensor> out = both(in[0], 1), more = both(in[1], 0);
                     out.insert(out.end(), more.begin(), more.end());
                     return out;
                 });
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { cummax(ones({2}), 1); });

    rows.composed("logcumsumexp").tolerance = 1e-5;
    rows.sample("inner", {arg({3, n()}, -2, 2)}, {0, 1, 7, 300},
                [](const Inputs& in) { return logcumsumexp(in[0], 1); });
    rows.sample("outer, far apart", {arg({n(), 3}, -2, 2)}, {0, 1, 5, 9},
                [](const Inputs& in) { return logcumsumexp(in[0] * 100, 0); });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { logcumsumexp(arange(3), 0); });
}

} // namespace

void add_running(Rows& rows)
{
    add_running_extrema(rows);

    rows.composed("diff");
    rows.sample("once and twice", {arg({n(), 6}, -2, 2)}, {0, 1, 5, 9}, [](const Inputs& in) {
        return std::vector{diff(in[0]), diff(in[0], 2, 0), diff(in[0], 7), diff(in[0], 0)};
    });
    rows.forward("truth", {truth({n(), 4})}, [](const Inputs& in) { return diff(in[0]); });
    rows.mistake("a number", ErrorKind::shape, "no dimension", [] { diff(full({}, 1)); });
    rows.mistake("a negative number of times", ErrorKind::argument, "-1", [] { diff(ones({3}), -1); });

    rows.composed("trapezoid");
    rows.sample("steps and points", {arg({n(), 4}), arg({4}), arg({n(), 4})}, {1, 3, 8},
                [](const Inputs& in) {
                    return std::vector{trapezoid(in[0]), trapezoid(in[0], 0.5, 0), trapezoid(in[0], in[1]),
                                       trapezoid(in[0], in[2], -2)};
                });
    const auto with_nan = [](const Tensor& x) {
        return where(abs(x) < 0.5, std::numeric_limits<double>::quiet_NaN(), x);
    };

    rows.composed("nansum_nanmean");
    rows.sample("with and without NaN", {arg({n(), 7}, -2, 2)}, {0, 1, 5, 9}, [=](const Inputs& in) {
        const Tensor x = with_nan(in[0]);
        return std::vector{nansum(x, {1}), nansum(x), nanmean(x, {1}, true), nansum(cast(in[0], i32), {0})};
    });

    rows.composed("aminmax");
    rows.sample("over a dimension and all", {arg({n(), 4}, -2, 2)}, {1, 5}, [](const Inputs& in) {
        const auto [least, most] = aminmax(in[0], {1}, true);
        const auto [of_all, most_of_all] = aminmax(in[0]);
        return std::vector{least, most, of_all, most_of_all};
    });
}

} // namespace reprise::test
