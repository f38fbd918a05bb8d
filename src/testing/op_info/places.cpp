// Writing by indices in further ways, and places in sequences that are in order.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

OpInfo places_row(const char* name, std::vector<Sample> samples, std::vector<Mistake> mistakes = {})
{
    return {.name = name, .is_op = false, .samples = std::move(samples), .mistakes = std::move(mistakes)};
}

Tensor first_places(std::int64_t n) { return zeros({n}, {.dtype = i32}); }

void add_row_reductions(std::vector<OpInfo>& rows)
{
    // What no row is for is infinite, which differences can't be taken of.
    const auto how = [](std::int64_t of) {
        return [of](const Inputs& in) {
            const Tensor y = graph::apply1(ops::reduce_rows_op, in, {{"rows", Dim(5)}, {"how", of}});
            return std::vector{is_floating(y.dtype()) ? where(isinf(y), 9.0, y) : y};
        };
    };
    OpInfo row{.name = "reduce_rows"};
    row.samples = {
        {.what = "products", .arguments = {arg({n(), 3}, 0.5, 2), whole({n()}, -1, 5)}, .call = how(1)},
        {.what = "the largest",
         .arguments = {arg({n(), 8}), whole({n()}, 0, 4)},
         .call = how(2),
         .sizes = {0, 1, 7, 700}},
        {.what = "the least", .arguments = {arg({n(), 2}), whole({n()}, 0, 4)}, .call = how(3)},
        {.what = "integers",
         .arguments = {whole({n(), 3}, -3, 3), whole({n()}, 0, 4)},
         .call =
             [=](const Inputs& in) {
                 return std::vector{how(1)(in)[0], how(2)(in)[0], how(3)(in)[0]};
             },
         .differentiable = false}};
    rows.push_back(row);
}

void add_reduce(std::vector<OpInfo>& rows)
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
    rows.push_back(places_row(
        "scatter_reduce",
        {{.what = "rows",
          .arguments = {arg({n(), 4}, 0.5, 2), whole({n(), 7}, 0, 3), arg({n(), 7}, 0.5, 2)},
          .call = scattered},
         {.what = "integers",
          .arguments = {whole({n(), 4}, -5, 5), whole({n(), 7}, 0, 3), whole({n(), 8}, -5, 5)},
          .call = scattered,
          .differentiable = false}},
        {{"another reduction", [] { scatter_reduce(ones({3}), 0, first_places(1), ones({1}), "max"); },
          ErrorKind::argument, "(max) must be sum, prod"},
         {"a source that is too small",
          [] { scatter_reduce(ones({3}), 0, first_places(2), ones({1}), "sum"); }, ErrorKind::shape,
          "does not cover"},
         {"bool",
          [] {
              const Tensor x = ones({3}, {.dtype = boolean});
              scatter_reduce(x, 0, first_places(3), x, "amax");
          },
          ErrorKind::dtype, "numbers"}}));
    rows.back().tolerance = 1e-5;
    rows.push_back(places_row(
        "index_reduce",
        {{.what = "columns",
          .arguments = {arg({n(), 4}, 0.5, 2), whole({6}, 0, 3), arg({n(), 6}, 0.5, 2)},
          .call = indexed}},
        {{"a sum", [] { index_reduce(ones({3}), 0, first_places(1), ones({1}), "sum"); }, ErrorKind::argument,
          "(sum) must be prod"},
         {"a source of another shape", [] { index_reduce(ones({3}), 0, first_places(1), ones({2}), "amax"); },
          ErrorKind::shape, "[2]"}}));
    rows.back().tolerance = 1e-5;
}

void add_writes(std::vector<OpInfo>& rows)
{
    rows.push_back(places_row(
        "index_fill",
        {{.what = "rows and columns",
          .arguments = {arg({n(), 4, 3}), whole({2}, 0, 3)},
          .call =
              [](const Inputs& in) {
                  return std::vector{index_fill(in[0], 1, in[1], 0.5), index_fill(in[0], -1, in[1], -2)};
              }},
         {.what = "integers",
          .arguments = {of(u8, arg({n(), 4}, 0, 255)), whole({2}, 0, 3)},
          .call = [](const Inputs& in) { return std::vector{index_fill(in[0], 1, in[1], 7)}; },
          .differentiable = false}},
        {{"a matrix of indices",
          [] {
              index_fill(ones({3}), 0, zeros({1, 1}, {.dtype = i32}), 1);
          },
          ErrorKind::shape, "a vector"}}));
    rows.push_back(places_row(
        "index_copy",
        {{.what = "along the middle",
          .arguments = {arg({2, 4, n()}), whole({3}, 0, 3), arg({2, 3, n()})},
          .call = [](const Inputs& in) { return std::vector{index_copy(in[0], 1, in[1], in[2])}; }},
         {.what = "nothing",
          .arguments = {arg({4, n()}), whole({0}, 0, 3), arg({0, n()})},
          .call = [](const Inputs& in) { return std::vector{index_copy(in[0], 0, in[1], in[2])}; }}},
        {{"a source of another shape", [] { index_copy(ones({3}), 0, first_places(1), ones({2})); },
          ErrorKind::shape, "[2]"}}));
    rows.push_back(
        places_row("negative_indices",
                   {{.what = "from the end",
                     .arguments = {arg({n(), 4}), whole({5}, -4, 3), whole({n(), 3}, -4, 3)},
                     .call =
                         [](const Inputs& in) {
                             return std::vector{index_select(in[0], 1, in[1]), gather(in[0], 1, in[2])};
                         }},
                    {.what = "of all",
                     .arguments = {arg({n() + 1, 4}), whole({2, 3}, -4, 3)},
                     .call = [](const Inputs& in) { return std::vector{take(in[0], in[1])}; }}}));
}

void add_searches(std::vector<OpInfo>& rows)
{
    using Q = QuantileInterpolation;
    rows.push_back(
        places_row("quantile",
                   {{.what = "along a dimension",
                     .arguments = {arg({n() + 1, 6})},
                     .call =
                         [](const Inputs& in) {
                             std::vector<Tensor> out{quantile(in[0], 0.3), quantile(in[0], 1, 0)};
                             for (const Q how : {Q::linear, Q::lower, Q::higher, Q::nearest, Q::midpoint})
                                 out.push_back(quantile(in[0], 0.37, 1, true, how));
                             return out;
                         }}},
                   {{"beyond 1", [] { quantile(ones({3}), 1.5); }, ErrorKind::argument, "(1.5)"},
                    {"nothing",
                     [] {
                         quantile(ones({2, 0}), 0.5, 1);
                     },
                     ErrorKind::shape, "[2, 0]"},
                    {"integers", [] { quantile(arange(3), 0.5); }, ErrorKind::dtype, "a floating dtype"}}));
    OpInfo search = places_row(
        "searchsorted",
        {{.what = "one sequence",
          .arguments = {arg({7}), arg({n(), 3})},
          .call =
              [](const Inputs& in) {
                  const Tensor line = sort(in[0]).first;
                  return std::vector{searchsorted(line, in[1]), bucketize(in[1], line, true)};
              }},
         {.what = "a sequence of unknown size for each line",
          .arguments = {arg({2, n()}), whole({2, 5}, -2, 2)},
          .call =
              [](const Inputs& in) {
                  const Tensor lines = round(sort(in[0] * 2).first);
                  const Tensor values = cast(in[1], in[0].dtype());
                  return std::vector{searchsorted(lines, values), searchsorted(lines, values, true)};
              },
          .sizes = {1, 4, 9, 300}}},
        {{"other lines",
          [] {
              searchsorted(ones({3, 2}), ones({2, 2}));
          },
          ErrorKind::shape, "differ before the last"},
         {"a matrix of boundaries",
          [] {
              bucketize(ones({3}), ones({2, 2}));
          },
          ErrorKind::shape, "a vector"}});
    search.differentiable = false;
    rows.push_back(search);
    OpInfo counts = places_row(
        "histc",
        {{.what = "of given and of own bounds",
          .arguments = {arg({n(), 5}, -2, 2)},
          .call =
              [](const Inputs& in) {
                  return std::vector{histc(in[0], 5, -1, 1), histc(in[0], 4)};
              },
          .sizes = {1, 4, 60}}},
        {{"no bins", [] { histc(ones({3}), 0); }, ErrorKind::argument, "(0)"},
         {"bounds the wrong way around", [] { histc(ones({3}), 3, 2, 1); }, ErrorKind::argument, "(2)"}});
    counts.differentiable = false;
    rows.push_back(counts);
    OpInfo corners = places_row("triangle_indices",
                                {{.what = "below and above", .arguments = {}, .call = [](const Inputs&) {
                                      return std::vector{tril_indices(3, 4), tril_indices(4, 3, -1),
                                                         triu_indices(3, 4, 1), triu_indices(2, 2, -5)};
                                  }}});
    corners.differentiable = false;
    corners.skips[Check::recorded] = "numbers of the host, made before a recording";
    rows.push_back(corners);
}

} // namespace

void add_places(std::vector<OpInfo>& rows)
{
    add_row_reductions(rows);
    add_reduce(rows);
    add_writes(rows);
    add_searches(rows);
}

} // namespace reprise::test
