#include "testing/op_info/tools.hpp"

namespace reprise::test {

namespace {

Tensor i32_of(std::vector<std::int32_t> v)
{
    const auto count = static_cast<std::int64_t>(v.size());
    return from_vector(v, {count});
}

} // namespace

void add_dynamic(std::vector<OpInfo>& rows)
{
    const auto two = [](auto f) {
        return [f](const Inputs& in) { return std::vector<Tensor>{f(in[0], in[1])}; };
    };

    rows.push_back(
        {.name = "dynamic_shift",
         .samples = {{.what = "rows of vectors",
                      .arguments = {arg({n(), 5, 3}), whole({n()}, -6, 6)},
                      .call = apply(ops::dynamic_shift_op,
                                    {{"length", Dim(4)}, {"sign", std::int64_t{1}}, {"value", 0.5}})},
                     {.what = "whole texels",
                      .arguments = {arg({2, n(), 8}), whole({2}, -2, 3)},
                      .call = two([](const Tensor& x, const Tensor& start) {
                          return graph::apply1(
                              ops::dynamic_shift_op, {x, start},
                              {{"length", x.size(1) + 2}, {"sign", std::int64_t{-1}}, {"value", -1.0}});
                      })},
                     {.what = "one start",
                      .arguments = {arg({n() + 2, 3}), whole({}, 1, 2)},
                      .call = two([](const Tensor& x, const Tensor& start) {
                          return graph::apply1(
                              ops::dynamic_shift_op, {x, start},
                              {{"length", x.size(0) - 1}, {"sign", std::int64_t{1}}, {"value", 0.0}});
                      })},
                     {.what = "numbers of one bit, two and four bytes",
                      .arguments = {truth({3, n()}), of(f16, arg({3, n()})), whole({3, n()}, -9, 9),
                                    whole({3}, -1, 2)},
                      .call =
                          [](const Inputs& in) {
                              std::vector<Tensor> out;
                              for (std::size_t i = 0; i < 3; ++i)
                                  out.push_back(dynamic_pad(in[i], in[3], in[i].size(1) + 1, 1));
                              return out;
                          },
                      .differentiable = false}}});
    rows.push_back(
        {.name = "dynamic_mask",
         .is_op = false,
         .samples =
             {{.what = "lengths of rows",
               .arguments = {arg({3, n(), 2}), whole({3}, -1, 9)},
               .call =
                   two([](const Tensor& x, const Tensor& lengths) { return dynamic_mask(x, lengths, -5); })},
              {.what = "a length for each row of two dimensions",
               .arguments = {arg({n(), 2, 5}), whole({n(), 2}, 0, 5)},
               .call = two([](const Tensor& x, const Tensor& lengths) { return dynamic_mask(x, lengths); })},
              {.what = "a mask that broadcasts",
               .arguments = {arg({n(), 4}), truth({4})},
               .call = two([](const Tensor& x, const Tensor& mask) { return dynamic_mask(x, mask, 2); })},
              {.what = "a length that the host knows",
               .arguments = {arg({2, n()}), fixed(arg({n()}))},
               .call = two([](const Tensor& x, const Tensor& y) {
                   return dynamic_mask(x, -1, floor_div(y.size(0), 2), 1);
               })}},
         .mistakes = {{"lengths that are no integers", [] { dynamic_mask(ones({2, 3}), ones({2})); },
                       ErrorKind::dtype, "it must be i32 or i64"},
                      {"another number of rows", [] { dynamic_mask(ones({2, 3}), i32_of({1, 2, 3})); },
                       ErrorKind::shape, "[3]"},
                      {"nothing to mask", [] { dynamic_mask(ones({2}), i32_of({1, 2})); }, ErrorKind::shape,
                       "a dimension must follow"}}});
    rows.push_back(
        {.name = "dynamic_slice",
         .is_op = false,
         .samples =
             {{.what = "windows of rows",
               .arguments = {arg({n(), 6, 2}), whole({n()}, -3, 7)},
               .call = two([](const Tensor& x, const Tensor& start) { return dynamic_slice(x, start, 3); })},
              {.what = "longer than the rows",
               .arguments = {arg({2, n()}), whole({2}, -2, 2)},
               .call = two([](const Tensor& x, const Tensor& start) {
                   return dynamic_slice(x, start, x.size(1) + 3) * 2;
               })},
              {.what = "empty",
               .arguments = {arg({n(), 4}), whole({n()}, 0, 3)},
               .call = two([](const Tensor& x, const Tensor& start) { return dynamic_slice(x, start, 0); })}},
         .mistakes = {{"a negative length",
                       [] {
                           dynamic_slice(ones({2, 3}), i32_of({0, 0}), -1);
                       },
                       ErrorKind::shape, "negative size"},
                      {"starts of another dtype",
                       [] {
                           dynamic_slice(ones({2, 3}), zeros({2}), 1);
                       },
                       ErrorKind::dtype, "i32"}}});
    rows.push_back({.name = "dynamic_pad",
                    .is_op = false,
                    .samples = {{.what = "rows",
                                 .arguments = {arg({n(), 3}), whole({n()}, -2, 5)},
                                 .call = two([](const Tensor& x, const Tensor& before) {
                                     return dynamic_pad(x, before, 7, 0.25);
                                 })},
                                {.what = "back to where it was cut",
                                 .arguments = {arg({2, n() + 4, 4}), whole({2}, 0, 2)},
                                 .call = two([](const Tensor& x, const Tensor& start) {
                                     return dynamic_pad(dynamic_slice(x, start, x.size(1) - 2), start,
                                                        x.size(1));
                                 })}},
                    .mistakes = {{"a row too many",
                                  [] {
                                      dynamic_pad(ones({2, 3}), i32_of({0}), 4);
                                  },
                                  ErrorKind::shape, "[1]"}}});
    rows.push_back(
        {.name = "dynamic_gather",
         .is_op = false,
         .samples =
             {{.what = "of rows, some outside",
               .arguments = {arg({n(), 4, 3}), whole({n(), 5}, -2, 6)},
               .call = two([](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); }),
               .differentiable = false}, // NaN is no number to differentiate
              {.what = "of rows",
               .arguments = {arg({2, n() + 1, 4}), whole({2, 6}, 0, 0)},
               .call = two([](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); })},
              {.what = "equal indices",
               .arguments = {arg({n(), 3, 2}), whole({n(), 7}, 0, 2)},
               .call = two([](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); })},
              {.what = "numbers of rows of two dimensions",
               .arguments = {arg({2, n(), 5}), whole({2, n(), 3}, 0, 4)},
               .call = two([](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); })},
              {.what = "without rows",
               .arguments = {arg({5, 2}), whole({n()}, 0, 4)},
               .call =
                   two([](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index) * 2; })}},
         .mistakes = {{"an index without dimensions",
                       [] { dynamic_gather(ones({2}), full({}, 1, {.dtype = i32})); }, ErrorKind::shape,
                       "at least one"},
                      {"other rows", [] { dynamic_gather(ones({2, 3}), zeros({3, 1}, {.dtype = i32})); },
                       ErrorKind::shape, "[3]"},
                      {"indices of another dtype", [] { dynamic_gather(ones({2, 3}), zeros({2, 1})); },
                       ErrorKind::dtype, "i32"}}});
}

} // namespace reprise::test
