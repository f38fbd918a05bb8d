// What goes along a dimension: running extrema, differences, integrals; sums without NaN.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

Sample along_line(const char* what, Shape x, std::function<std::vector<Tensor>(const Inputs&)> f,
                  std::vector<std::int64_t> sizes = {0, 1, 5, 9})
{
    return {.what = what,
            .arguments = {arg(std::move(x), -2, 2)},
            .call = std::move(f),
            .sizes = std::move(sizes)};
}

void add_running_extrema(std::vector<OpInfo>& rows)
{
    const auto op = [](std::int64_t least) {
        return apply(ops::running_extremum_op, {{"dim", std::int64_t{1}}, {"least", least}});
    };
    OpInfo row{.name = "running_extremum", .differentiable = false};
    Argument longs = whole({3, n()}, -9, 9);
    longs.dtype = i64; // as the functions give integers to the op
    row.samples = {along_line("the largest", {3, n()}, op(0), {0, 1, 256, 257, 1500}),
                   along_line("the least", {2, n(), 3}, op(1), {0, 1, 9, 300}),
                   {.what = "integers", .arguments = {longs}, .call = op(1), .sizes = {1, 300}}};
    rows.push_back(row);
    const auto both = [](const Tensor& x, std::int64_t dim) {
        const auto [most, at_most] = cummax(x, dim);
        const auto [least, at_least] = cummin(x, dim);
        return std::vector{most, at_most, least, at_least};
    };
    rows.push_back(
        {.name = "cummax_cummin",
         .is_op = false,
         .samples = {along_line("inner", {3, n()}, [=](const Inputs& in) { return both(in[0], -1); },
                                {0, 1, 7, 300}),
                     along_line("outer", {n(), 2, 3}, [=](const Inputs& in) { return both(in[0], 0); }),
                     {.what = "ties of integers and truth",
                      .arguments = {whole({2, n()}, 0, 3), truth({n(), 3})},
                      .call =
                          [=](const Inputs& in) {
                              std::vector<Tensor> out = both(in[0], 1), more = both(in[1], 0);
                              out.insert(out.end(), more.begin(), more.end());
                              return out;
                          },
                      .differentiable = false}},
         .mistakes = {{"no such dimension", [] { cummax(ones({2}), 1); }, ErrorKind::argument, "1"}}});
    rows.push_back(
        {.name = "logcumsumexp",
         .is_op = false,
         .samples = {along_line("inner", {3, n()},
                                [](const Inputs& in) { return std::vector{logcumsumexp(in[0], 1)}; },
                                {0, 1, 7, 300}),
                     along_line("outer, far apart", {n(), 3},
                                [](const Inputs& in) { return std::vector{logcumsumexp(in[0] * 100, 0)}; })},
         .mistakes = {{"integers", [] { logcumsumexp(arange(3), 0); }, ErrorKind::dtype, "a floating dtype"}},
         .tolerance = 1e-5});
}

} // namespace

void add_running(std::vector<OpInfo>& rows)
{
    add_running_extrema(rows);
    rows.push_back(
        {.name = "diff",
         .is_op = false,
         .samples =
             {along_line(
                  "once and twice", {n(), 6},
                  [](const Inputs& in) {
                      return std::vector{diff(in[0]), diff(in[0], 2, 0), diff(in[0], 7), diff(in[0], 0)};
                  }),
              {.what = "truth",
               .arguments = {truth({n(), 4})},
               .call = [](const Inputs& in) { return std::vector{diff(in[0])}; },
               .differentiable = false}},
         .mistakes = {
             {"a number", [] { diff(full({}, 1)); }, ErrorKind::shape, "no dimension"},
             {"a negative number of times", [] { diff(ones({3}), -1); }, ErrorKind::argument, "-1"}}});
    rows.push_back({.name = "trapezoid",
                    .is_op = false,
                    .samples = {{.what = "steps and points",
                                 .arguments = {arg({n(), 4}), arg({4}), arg({n(), 4})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{trapezoid(in[0]), trapezoid(in[0], 0.5, 0),
                                                            trapezoid(in[0], in[1]),
                                                            trapezoid(in[0], in[2], -2)};
                                     },
                                 .sizes = {1, 3, 8}}}});
    const auto with_nan = [](const Tensor& x) {
        return where(abs(x) < 0.5, std::numeric_limits<double>::quiet_NaN(), x);
    };
    rows.push_back({.name = "nansum_nanmean",
                    .is_op = false,
                    .samples = {along_line("with and without NaN", {n(), 7}, [=](const Inputs& in) {
                        const Tensor x = with_nan(in[0]);
                        return std::vector{nansum(x, {1}), nansum(x), nanmean(x, {1}, true),
                                           nansum(cast(in[0], i32), {0})};
                    })}});
    rows.push_back({.name = "aminmax",
                    .is_op = false,
                    .samples = {along_line("over a dimension and all", {n(), 4},
                                           [](const Inputs& in) {
                                               const auto [least, most] = aminmax(in[0], {1}, true);
                                               const auto [of_all, most_of_all] = aminmax(in[0]);
                                               return std::vector{least, most, of_all, most_of_all};
                                           },
                                           {1, 5})}});
}

} // namespace reprise::test
