#include "testing/op_info/tools.hpp"

namespace reprise::test {

void add_views(std::vector<OpInfo>& rows)
{
    const auto one = [](auto f) { return [f](const Inputs& in) { return std::vector<Tensor>{f(in[0])}; }; };

    rows.push_back(
        {.name = "reshape",
         .samples = {{.what = "rows split",
                      .arguments = {arg({n(), 6})},
                      .call = one([](const Tensor& x) {
                          return reshape(x, {x.size(0) * 2, 3});
                      })},
                     {.what = "the rest",
                      .arguments = {arg({n(), 2, 3})},
                      .call = one([](const Tensor& x) {
                          return reshape(x, {3, -1}) * 2;
                      }),
                      .sizes = {1, 4}},
                     {.what = "of a transposed matrix",
                      .arguments = {arg({n(), 4})},
                      .call = one([](const Tensor& x) { return reshape(x.t(), {4 * x.size(0)}); })},
                     {.what = "to a scalar",
                      .arguments = {arg({1, 1})},
                      .call = one([](const Tensor& x) { return reshape(x, {}); }),
                      .sizes = {1}}},
         .mistakes = {{"another count", [] { reshape(ones({6}), {4}); }, ErrorKind::shape, "[6]"},
                      {"two sizes left out",
                       [] {
                           reshape(ones({6}), {-1, -1});
                       },
                       ErrorKind::argument, "-1"},
                      {"what is left is no size",
                       [] {
                           reshape(ones({6}), {4, -1});
                       },
                       ErrorKind::shape, "[6]"}}});
    rows.push_back({.name = "permute",
                    .samples = {{.what = "three dimensions",
                                 .arguments = {arg({n(), 2, 5})},
                                 .call = one([](const Tensor& x) {
                                     return permute(x, {2, 0, 1});
                                 })},
                                {.what = "transpose",
                                 .arguments = {arg({3, n()})},
                                 .call = one([](const Tensor& x) { return transpose(x, 0, -1) * 2; })}},
                    .mistakes = {{"a dimension twice",
                                  [] {
                                      permute(ones({2, 3}), {0, 0});
                                  },
                                  ErrorKind::argument, "0"},
                                 {"too few",
                                  [] {
                                      permute(ones({2, 3}), {0});
                                  },
                                  ErrorKind::argument, "name each dimension once"},
                                 {"no such dimension",
                                  [] {
                                      transpose(ones({2, 3}), 0, 2);
                                  },
                                  ErrorKind::argument, "2"}}});
    rows.push_back({.name = "expand",
                    .samples = {{.what = "new and stretched",
                                 .arguments = {arg({n(), 1, 3})},
                                 .call = one([](const Tensor& x) {
                                     return expand(x, {2, -1, 4, -1});
                                 })},
                                {.what = "by the size",
                                 .arguments = {arg({1, 3}), fixed(arg({n()}))},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{expand(in[0], {in[1].size(0), 3}) * 2};
                                     }}},
                    .mistakes = {{"fewer dimensions",
                                  [] {
                                      expand(ones({2, 3}), {3});
                                  },
                                  ErrorKind::shape, "fewer dimensions"},
                                 {"a size that is not 1",
                                  [] {
                                      expand(ones({2, 3}), {4, 3});
                                  },
                                  ErrorKind::shape, "[2, 3]"}}});
    rows.push_back(
        {.name = "narrow",
         .samples = {{.what = "the inner dimension",
                      .arguments = {arg({n(), 7})},
                      .call = one([](const Tensor& x) { return narrow(x, 1, 2, 3); })},
                     {.what = "all but the first",
                      .arguments = {arg({n() + 1, 3})},
                      .call = one([](const Tensor& x) { return narrow(x, 0, 1, x.size(0) - 1) * 2; })},
                     {.what = "from the end", .arguments = {arg({n(), 3})}, .call = one([](const Tensor& x) {
                                                                                return narrow(x, 1, -2, 2) *
                                                                                       narrow(x, 1, 1, 2);
                                                                            })},
                     {.what = "nothing", .arguments = {arg({n(), 3})}, .call = one([](const Tensor& x) {
                                                                           return narrow(x, 1, 3, 0);
                                                                       })}},
         .mistakes = {{"beyond the end", [] { narrow(ones({5}), 0, 3, 3); }, ErrorKind::shape,
                       "from (3) of length (3)"},
                      {"before the start", [] { narrow(ones({5}), 0, -1, 3); }, ErrorKind::shape, "(-1)"},
                      {"no such dimension", [] { narrow(ones({5}), 1, 0, 1); }, ErrorKind::argument, "1"}}});
    rows.push_back({.name = "flip",
                    .samples = {{.what = "two dimensions",
                                 .arguments = {arg({n(), 3, 2})},
                                 .call = one([](const Tensor& x) {
                                     return flip(x, {0, -1});
                                 })},
                                {.what = "of a transposed matrix",
                                 .arguments = {arg({5, n()})},
                                 .call = one([](const Tensor& x) { return flip(x.t(), {0}) * 2; })}},
                    .mistakes = {{"a dimension twice",
                                  [] {
                                      flip(ones({2, 3}), {0, -2});
                                  },
                                  ErrorKind::argument, "(-2) is given twice"},
                                 {"no such dimension",
                                  [] {
                                      flip(ones({2, 3}), {2});
                                  },
                                  ErrorKind::argument, "2"}}});
    rows.push_back(
        {.name = "contiguous",
         .samples = {
             {.what = "of a transposed matrix",
              .arguments = {arg({n(), 4})},
              .call = one([](const Tensor& x) { return graph::apply1(ops::contiguous_op, {x.t()}); })},
             {.what = "of what is", .arguments = {arg({n(), 4})}, .call = one([](const Tensor& x) {
                                                                      return x.contiguous();
                                                                  })},
             {.what = "bool",
              .arguments = {truth({n(), 3})},
              .call = one([](const Tensor& x) { return x.t().contiguous(); }),
              .differentiable = false},
             {.what = "f16",
              .arguments = {of(f16, arg({n(), 3}))},
              .call = one([](const Tensor& x) { return x.t().contiguous(); }),
              .differentiable = false}}});
    rows.push_back(
        {.name = "squeeze",
         .is_op = false,
         .samples = {{.what = "and unsqueeze",
                      .arguments = {arg({n(), 1, 3, 1})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{squeeze(in[0]) * 1, squeeze(in[0], 1), unsqueeze(in[0], -1),
                                                 flatten(in[0], 1), flatten(in[0])};
                          },
                      .sizes = {0, 3, 8}}}, // a symbol is never squeezed, though it be 1
         .mistakes = {{"no such dimension", [] { squeeze(ones({2}), 3); }, ErrorKind::argument, "3"},
                      {"flatten backward",
                       [] {
                           flatten(ones({2, 3}), 1, 0);
                       },
                       ErrorKind::argument, "1"}}});
}

} // namespace reprise::test
