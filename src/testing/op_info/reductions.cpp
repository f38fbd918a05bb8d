#include <cmath>

#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Reduce = Tensor (*)(const Tensor&, const Dims&, bool);

// The layouts that kernels know (rows, columns, neither), one level and two.  `least`: the smallest n().
std::vector<Sample> samples(Reduce f, std::int64_t least, double low = -1)
{
    const auto call = [f](Dims dims, bool keepdim) {
        return [f, dims, keepdim](const Inputs& in) { return std::vector{f(in[0], dims, keepdim)}; };
    };
    const auto from = [least](std::vector<std::int64_t> sizes) {
        std::erase_if(sizes, [least](std::int64_t s) { return s < least; });
        return sizes;
    };
    return {
        {.what = "all",
         .arguments = {arg({n(), 3}, low)},
         .call = call({}, false),
         .sizes = from({0, 1, 5, 300})},
        {.what = "all of a vector",
         .arguments = {arg({n()}, low)},
         .call = call({}, false),
         .sizes = from({1, 256, 257, 3000})},
        {.what = "the inner dimension",
         .arguments = {arg({n(), 8}, low)},
         .call = call({1}, false),
         .sizes = {0, 1, 7, 130}},
        {.what = "a symbolic inner dimension",
         .arguments = {arg({5, n()}, low)},
         .call = call({-1}, true),
         .sizes = from({0, 1, 7, 600})},
        {.what = "the outer dimension",
         .arguments = {arg({n(), 8}, low)},
         .call = call({0}, false),
         .sizes = from({0, 1, 7, 300})},
        {.what = "inner and outer",
         .arguments = {arg({n(), 3, 4}, low)},
         .call = call({0, 2}, true),
         .sizes = from({0, 1, 5, 70})},
        {.what = "every other",
         .arguments = {arg({2, 3, n(), 5}, low)},
         .call = call({1, 3}, false),
         .sizes = {0, 1, 4}},
    };
}

void add_i32(OpInfo& row, Reduce f, int most = 1000)
{
    row.samples.push_back({.what = "i32",
                           .arguments = {whole({n(), 5}, -most, most)},
                           .call =
                               [f](const Inputs& in) {
                                   return std::vector{f(in[0], {0}, false), f(in[0], {1}, false)};
                               },
                           .sizes = {1, 6, 300},
                           .differentiable = false});
}

std::vector<Mistake> dimension_mistakes(void (*no_such)(), void (*twice)())
{
    std::vector<Mistake> out{{"no such dimension", no_such, ErrorKind::argument, "2"}};
    if (twice) out.push_back({"a dimension twice", twice, ErrorKind::argument, "1"});
    return out;
}

} // namespace

void add_reductions(std::vector<OpInfo>& rows)
{
    OpInfo sum_row{.name = "sum",
                   .samples = samples(sum, 0),
                   .mistakes = dimension_mistakes(
                       [] {
                           sum(ones({2, 3}), {2});
                       },
                       [] {
                           sum(ones({2, 3}), {1, -1});
                       })};
    add_i32(sum_row, sum);
    sum_row.samples.push_back({.what = "bool counts",
                               .arguments = {truth({n(), 5})},
                               .call = [](const Inputs& in) { return std::vector{sum(in[0], {1})}; },
                               .differentiable = false});
    rows.push_back(sum_row);

    OpInfo amax_row{.name = "amax",
                    .samples = samples(amax, 1),
                    .mistakes = dimension_mistakes(
                        [] {
                            amax(ones({2, 3}), {2});
                        },
                        [] {
                            amax(ones({2, 3}), {1, -1});
                        })};
    amax_row.mistakes.push_back({"nothing", [] { amax(ones({2, 0}), {1}); }, ErrorKind::shape, "[2, 0]"});
    amax_row.samples.push_back(
        {.what = "bool and narrow integers",
         .arguments = {truth({n(), 3}), of(u8, arg({n(), 3}, 0, 255)), of(i8, arg({n(), 3}, -128, 127)),
                       of(i64, arg({n(), 3}, -9, 9))},
         .call =
             [](const Inputs& in) {
                 Inputs out;
                 for (const Tensor& t : in)
                     out.insert(out.end(), {amax(t, {0}), amin(t, {1}), max(t, 1).second, min(t, 0).first});
                 return out;
             },
         .sizes = {1, 4},
         .differentiable = false});
    add_i32(amax_row, amax);
    amax_row.samples.push_back(
        {.what = "ties share", .arguments = {arg({n(), 3})}, .call = [](const Inputs& in) {
             return std::vector{amax(cast(in[0] > 0, in[0].dtype()) + in[0] * 0, {1})};
         }});
    rows.push_back(amax_row);

    OpInfo amin_row{.name = "amin", .samples = samples(amin, 1)};
    amin_row.mistakes.push_back({"nothing",
                                 [] {
                                     amin(ones({2, 0}), {1});
                                 },
                                 ErrorKind::shape, "to be the least"});
    add_i32(amin_row, amin);
    rows.push_back(amin_row);

    OpInfo prod_row{.name = "prod", .samples = samples(prod, 0, 0.8)};
    for (Sample& s : prod_row.samples)
        for (Argument& a : s.arguments) a.high = 1.2; // products of many stay near 1
    prod_row.tolerance = 2e-5;                        // hundreds of factors
    add_i32(prod_row, prod, 1);
    prod_row.samples.push_back({.what = "factors of 0",
                                .arguments = {whole({n(), 6}, 0, 3), arg({n(), 6}, 0.5, 2)},
                                .call =
                                    [](const Inputs& in) {
                                        return std::vector{prod(cast(in[0], in[1].dtype()) * in[1], {1}),
                                                           prod(where(in[0] == 0, in[1] * 0, in[1]), {0})};
                                    },
                                .differentiable = false});
    rows.push_back(prod_row);

    using Scan = Tensor (*)(const Tensor&, std::int64_t, const ScanOptions&);
    const auto scan = [&](const char* name, Scan f, double low, double high) {
        OpInfo row{.name = name, .tolerance = 5e-6};
        for (const std::int64_t dim : {0, 1, -1})
            row.samples.push_back(
                {.what = "along " + std::to_string(dim),
                 .arguments = {arg({n(), 3, 5}, low, high)},
                 .call = [f, dim](const Inputs& in) { return std::vector{f(in[0], dim, {})}; },
                 .sizes = {0, 1, 4, 70}});
        row.samples.push_back({.what = "long lines",
                               .arguments = {arg({2, n()}, low, high)},
                               .call = [f](const Inputs& in) { return std::vector{f(in[0], 1, {})}; },
                               .sizes = {1, 256, 257, 1500}});
        row.samples.push_back({.what = "exclusive and reversed",
                               .arguments = {arg({3, n()}, low, high)},
                               .call =
                                   [f](const Inputs& in) {
                                       return std::vector{f(in[0], 1, {.exclusive = true}),
                                                          f(in[0], -1, {.reverse = true}),
                                                          f(in[0], 0, {.exclusive = true, .reverse = true})};
                                   },
                               .sizes = {0, 1, 9}});
        row.samples.push_back({.what = "integers and truth",
                               .arguments = {whole({3, n()}, -3, 3), truth({n(), 2})},
                               .call =
                                   [f](const Inputs& in) {
                                       return std::vector{f(in[0], 1, {}), f(in[1], 0, {})};
                                   },
                               .sizes = {0, 1, 300},
                               .differentiable = false});
        row.mistakes = {{"no such dimension", [f] { f(ones({2}), 1, {}); }, ErrorKind::argument, "1"}};
        rows.push_back(row);
    };
    scan("cumsum", cumsum, -1, 1);
    scan("cumprod", cumprod, 0.95, 1.05);

    OpInfo argmax_row{.name = "argmax",
                      .differentiable = false,
                      .mistakes = dimension_mistakes(
                          [] {
                              argmax(ones({2, 3}), 2);
                          },
                          nullptr)};
    argmax_row.mistakes.push_back({"nothing", [] { argmax(ones({2, 0}), 1); }, ErrorKind::shape, "[2, 0]"});
    for (const std::int64_t dim : {0, 1, 2})
        argmax_row.samples.push_back(
            {.what = "dimension " + std::to_string(dim),
             .arguments = {arg({n(), 4, 6})},
             .call =
                 [dim](const Inputs& in) {
                     return std::vector{argmax(in[0], dim), argmax(in[0], dim, true)};
                 },
             .sizes = {1, 5, 300}});
    argmax_row.samples.push_back(
        {.what = "ties: the first",
         .arguments = {whole({n(), 9}, 0, 2)},
         .call = [](const Inputs& in) { return std::vector{argmax(cast(in[0], f32), 1)}; },
         .sizes = {1, 40}});
    argmax_row.samples.push_back({.what = "ties: the last",
                                  .arguments = {whole({n(), 9}, 0, 2)},
                                  .call =
                                      [](const Inputs& in) {
                                          return std::vector{argmax(cast(in[0], f32), 1, false, true),
                                                             argmax(in[0], -2, true, true),
                                                             argmin(cast(in[0], f32), 0, false, true)};
                                      },
                                  .sizes = {1, 40}});
    rows.push_back(argmax_row);

    rows.push_back(
        {.name = "mean",
         .is_op = false,
         .samples = samples(mean, 1),
         .mistakes = {{"integers", [] { mean(arange(3)); }, ErrorKind::dtype, "a floating dtype"}}});
    rows.push_back({.name = "max",
                    .is_op = false,
                    .samples = {{.what = "over a dimension",
                                 .arguments = {arg({n(), 4, 3})},
                                 .call =
                                     [](const Inputs& in) {
                                         const auto [values, indices] = max(in[0], 1);
                                         const auto [kept, kept_indices] = max(in[0], -1, true);
                                         return std::vector{values, kept, indices, kept_indices, max(in[0])};
                                     },
                                 .sizes = {1, 5, 40}}}});
    const auto statistic = [&](const char* name, Reduce f, double low, double high) {
        OpInfo row{.name = name, .is_op = false, .samples = samples(f, 2, low)};
        for (Sample& s : row.samples)
            for (Argument& a : s.arguments) a.high = high;
        rows.push_back(row);
    };
    statistic(
        "var", [](const Tensor& x, const Dims& d, bool k) { return var(x, d, {.keepdim = k}); }, -1, 1);
    statistic(
        "std",
        [](const Tensor& x, const Dims& d, bool k) { return std(x, d, {.correction = 0, .keepdim = k}); }, -1,
        1);
    statistic(
        "norm", [](const Tensor& x, const Dims& d, bool k) { return norm(x, 2, d, k); }, -1, 1);
    statistic(
        "norm_of_order_3", [](const Tensor& x, const Dims& d, bool k) { return norm(x, 3, d, k); }, 0.3, 1);
    statistic("logsumexp", logsumexp, -3, 3);
    rows.push_back(
        {.name = "norms",
         .is_op = false,
         .samples = {{.what = "of orders 1, infinity, minus infinity and 0.5",
                      .arguments = {arg({n(), 7}, 0.2, 1)},
                      .call =
                          [](const Inputs& in) {
                              const double inf = std::numeric_limits<double>::infinity();
                              return std::vector{norm(in[0], 1, {1}), norm(in[0], inf, {1}),
                                                 norm(in[0], -inf, {1}, true), norm(in[0], 0.5, {1})};
                          },
                      .sizes = {0, 1, 6}},
                     {.what = "of order 0",
                      .arguments = {whole({n(), 7}, -1, 1)},
                      .call = [](const Inputs& in) { return std::vector{norm(cast(in[0], f32), 0, {1})}; },
                      .differentiable = false}},
         .mistakes = {{"integers", [] { norm(arange(3)); }, ErrorKind::dtype, "a floating dtype"},
                      {"no number", [] { norm(ones({3}), std::nan("")); }, ErrorKind::argument, "p"}}});
    rows.push_back({.name = "all_any",
                    .is_op = false,
                    .differentiable = false,
                    .samples = {{.what = "of truth and numbers",
                                 .arguments = {truth({n(), 3}), whole({n(), 4}, 0, 2), arg({n(), 2})},
                                 .call = [](const Inputs& in) {
                                     return std::vector{all(in[0], {1}), any(in[0], {0}),
                                                        all(in[1]),      any(in[1], {1}, true),
                                                        all(in[2], {0}), count_nonzero(in[1], {0})};
                                 }}}});
    rows.push_back({.name = "min_argmin",
                    .is_op = false,
                    .samples = {{.what = "over a dimension and all",
                                 .arguments = {arg({n(), 4, 3})},
                                 .call =
                                     [](const Inputs& in) {
                                         const auto [values, indices] = min(in[0], 1);
                                         return std::vector{values,           indices,       min(in[0]),
                                                            argmin(in[0], 0), argmin(in[0]), argmax(in[0])};
                                     },
                                 .sizes = {1, 5, 40}}}});
    rows.push_back({.name = "sum_to",
                    .is_op = false,
                    .samples = {{.what = "what was broadcast",
                                 .arguments = {arg({n(), 3, 4})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{sum_to(in[0], {3, 1}), sum_to(in[0], {}),
                                                            sum_to(in[0], in[0].shape())};
                                     },
                                 .sizes = {1, 5}}},
                    .mistakes = {{"no such broadcast",
                                  [] {
                                      sum_to(ones({2, 3}), {2});
                                  },
                                  ErrorKind::shape, "[2, 3]"}}});
}

} // namespace reprise::test
