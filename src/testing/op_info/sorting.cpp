// Orders of elements.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

std::vector<Tensor> both(const std::pair<Tensor, Tensor>& p) { return {p.first, p.second}; }

Sample without_gradient(Sample s)
{
    s.differentiable = false;
    return s;
}

// Numbers among which many are equal.
Tensor coarse(const Tensor& x) { return floor(x * 3.0); }

} // namespace

void add_sorting(std::vector<OpInfo>& rows)
{
    OpInfo sort_row{.name = "sort"};
    sort_row.samples = {{.what = "the last dimension",
                         .arguments = {arg({3, n()})},
                         .call = [](const Inputs& in) { return both(sort(in[0])); },
                         .sizes = {0, 1, 2, 7, 64, 65, 256, 257, 1300}},
                        {.what = "the first dimension, descending",
                         .arguments = {arg({n(), 2, 3})},
                         .call = [](const Inputs& in) { return both(sort(in[0], 0, true)); },
                         .sizes = {0, 1, 5, 300}},
                        without_gradient({.what = "a known long one",
                                          .arguments = {arg({n(), 700})},
                                          .call = [](const Inputs& in) { return both(sort(in[0], 1)); },
                                          .sizes = {0, 1, 3}}), // equal but for a step of the check
                        {.what = "a known short one",
                         .arguments = {arg({n(), 5, 4})},
                         .call = [](const Inputs& in) { return both(sort(in[0], -2, true)); }},
                        without_gradient({.what = "equal elements",
                                          .arguments = {arg({2, n()})},
                                          .call =
                                              [](const Inputs& in) {
                                                  auto all = both(sort(coarse(in[0])));
                                                  for (const Tensor& t : both(sort(coarse(in[0]), 1, true)))
                                                      all.push_back(t);
                                                  return all;
                                              },
                                          .sizes = {1, 9, 400}}),
                        without_gradient({.what = "i32",
                                          .arguments = {whole({n(), 3}, -2147483648.0, 2147483647.0)},
                                          .call =
                                              [](const Inputs& in) {
                                                  auto all = both(sort(in[0], 0));
                                                  for (const Tensor& t : both(sort(in[0], 1, true)))
                                                      all.push_back(t);
                                                  return all;
                                              },
                                          .sizes = {1, 6, 300}}),
                        without_gradient({.what = "bool and u8",
                                          .arguments = {truth({n(), 3}), of(u8, arg({n()}, 0, 255))},
                                          .call =
                                              [](const Inputs& in) {
                                                  auto all = both(sort(in[0], 0));
                                                  for (const Tensor& t : both(sort(in[1], 0, true)))
                                                      all.push_back(t);
                                                  return all;
                                              },
                                          .sizes = {1, 6, 300}}),
                        {.what = "without dimensions", .arguments = {arg({})}, .call = [](const Inputs& in) {
                             return both(sort(in[0]));
                         }}};
    sort_row.mistakes = {{"no such dimension",
                          [] {
                              sort(ones({2, 3}), 2);
                          },
                          ErrorKind::argument, "[sort]"},
                         {"an undefined tensor", [] { sort(Tensor()); }, ErrorKind::argument, "undefined"}};
    rows.push_back(sort_row);

    OpInfo put{.name = "sort_vjp"};
    put.samples = {
        {.what = "of some of them",
         .arguments = {arg({2, 3, n()}), fixed(arg({2, 7, n()}))},
         .call =
             [](const Inputs& in) {
                 return graph::apply(ops::sort_vjp_op, {in[0], narrow(argsort(in[1], 1), 1, 0, 3)},
                                     {{"dim", std::int64_t{1}}, {"size", Dim(7)}});
             }},
        {.what = "of all", .arguments = {arg({2, n()}), fixed(arg({2, n()}))}, .call = [](const Inputs& in) {
             return graph::apply(ops::sort_vjp_op, {in[0], argsort(in[1])},
                                 {{"dim", std::int64_t{1}}, {"size", in[0].size(1)}});
         }}};
    rows.push_back(put);

    OpInfo argsort_row{.name = "argsort", .is_op = false, .differentiable = false};
    argsort_row.samples = {{.what = "places", .arguments = {arg({n(), 6})}, .call = [](const Inputs& in) {
                                return std::vector{argsort(in[0]), argsort(in[0], 0, true)};
                            }}};
    argsort_row.mistakes = {
        {"no such dimension", [] { argsort(ones({2}), -2); }, ErrorKind::argument, "[argsort]"}};
    rows.push_back(argsort_row);

    OpInfo topk_row{.name = "topk", .is_op = false};
    topk_row.samples = {
        {.what = "the largest of long lines",
         .arguments = {arg({2, n()})},
         .call = [](const Inputs& in) { return both(topk(in[0], 5)); },
         .sizes = {5, 8, 300, 5000}},
        {.what = "the least of short lines",
         .arguments = {arg({n(), 9, 2})},
         .call = [](const Inputs& in) { return both(topk(in[0], 4, {.dim = 1, .largest = false})); }},
        {.what = "more than a block of a known size",
         .arguments = {arg({n(), 900})},
         .call = [](const Inputs& in) { return both(topk(in[0], 100)); },
         .sizes = {0, 1, 2}},
        {.what = "all and none", .arguments = {arg({n(), 4})}, .call = [](const Inputs& in) {
             auto out = both(topk(in[0], 4));
             for (const Tensor& t : both(topk(in[0], 0))) out.push_back(t);
             return out;
         }}};
    topk_row.mistakes = {
        {"more than there are",
         [] {
             topk(ones({2, 3}), 4);
         },
         ErrorKind::shape, "[topk] So many elements (4)"},
        {"less than none",
         [] {
             topk(ones({2, 3}), -1);
         },
         ErrorKind::shape, "(-1)"},
        {"no such dimension", [] { topk(ones({2}), 1, {.dim = 1}); }, ErrorKind::argument, "[topk]"}};
    rows.push_back(topk_row);

    OpInfo kth{.name = "kthvalue", .is_op = false};
    kth.samples = {{.what = "in the middle",
                    .arguments = {arg({n(), 7})},
                    .call =
                        [](const Inputs& in) {
                            auto out = both(kthvalue(in[0], 3));
                            for (const Tensor& t : both(kthvalue(in[0], 7, 1, true))) out.push_back(t);
                            return out;
                        }},
                   {.what = "along a symbol",
                    .arguments = {arg({n(), 2})},
                    .call = [](const Inputs& in) { return both(kthvalue(in[0], 2, 0)); },
                    .sizes = {2, 8, 300}}};
    kth.mistakes = {{"counted from 0", [] { kthvalue(ones({3}), 0); }, ErrorKind::shape, "counted from 1"},
                    {"beyond the last", [] { kthvalue(ones({3}), 4); }, ErrorKind::shape, "[kthvalue]"},
                    {"no such dimension", [] { kthvalue(ones({3}), 1, 1); }, ErrorKind::argument, "(1)"}};
    rows.push_back(kth);

    OpInfo median_row{.name = "median", .is_op = false};
    median_row.samples = {{.what = "of lines",
                           .arguments = {arg({n(), 6})},
                           .call =
                               [](const Inputs& in) {
                                   auto out = both(median(in[0], 1));
                                   for (const Tensor& t : both(median(in[0], 0, true))) out.push_back(t);
                                   return out;
                               },
                           .sizes = {1, 2, 5, 301}},
                          {.what = "of all",
                           .arguments = {arg({n(), 3})},
                           .call = [](const Inputs& in) { return std::vector{median(in[0])}; },
                           .sizes = {1, 2, 7, 200}},
                          without_gradient({.what = "of integers",
                                            .arguments = {whole({n()}, -9, 9)},
                                            .call = [](const Inputs& in) { return both(median(in[0], 0)); },
                                            .sizes = {1, 2, 7, 300}})};
    median_row.mistakes = {
        {"of nothing",
         [] {
             median(ones({2, 0}), 1);
         },
         ErrorKind::shape, "in the middle"},
        {"no such dimension", [] { median(ones({2}), 1); }, ErrorKind::argument, "[median]"}};
    rows.push_back(median_row);
}

} // namespace reprise::test
