// Rows of functions whose shapes mix symbols: each sample runs eagerly at every size and from one recording.
#include "testing/op_info/tools.hpp"

namespace reprise::test {

void add_symbols(std::vector<OpInfo>& rows)
{
    const auto two = [](auto f) {
        return [f](const Inputs& in) { return std::vector<Tensor>{f(in[0], in[1])}; };
    };
    const auto one = [](auto f) { return [f](const Inputs& in) { return std::vector<Tensor>{f(in[0])}; }; };

    rows.push_back(
        {.name = "images_of_any_size",
         .is_op = false,
         .samples = {{.what = "convolution, height and width unknown",
                      .arguments = {arg({2, 3, n() + 3, n() * 2 + 4}), arg({4, 3, 3, 3}), arg({4})},
                      .call = [](const Inputs& in) -> Inputs {
                          return {conv2d(in[0], in[1], in[2], {.stride = {2, 1}, .padding = {1, 2}})};
                      },
                      .sizes = {0, 1, 5}},
                     {.what = "convolution, all of it unknown",
                      .arguments = {arg({n(), n(), n() + 2, n() + 4}), arg({n() + 1, n(), 3, 2})},
                      .call = two([](const Tensor& x, const Tensor& w) { return conv2d(x, w); }),
                      .sizes = {1, 3}},
                     {.what = "pooling, height and width unknown",
                      .arguments = {arg({2, n(), n() + 3, n() + 2})},
                      .call = one([](const Tensor& x) {
                          return max_pool2d(x, {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}});
                      }),
                      .sizes = {1, 2, 5}},
                     {.what = "convolution, pooling and the rest flattened",
                      .arguments = {arg({n(), 1, n() + 6, 8}), arg({2, 1, 3, 3})},
                      .call = two([](const Tensor& x, const Tensor& w) {
                          return flatten(max_pool2d(conv2d(x, w), 2), 1);
                      }),
                      .sizes = {0, 1, 4}}}});
    rows.push_back(
        {.name = "products_of_any_size",
         .is_op = false,
         .samples = {{.what = "one matrix for a batch of them",
                      .arguments = {arg({n(), 1, 3, n() + 2}), arg({2, n() + 2, 4})},
                      .call = two([](const Tensor& a, const Tensor& b) { return matmul(a, b); })},
                     {.what = "batches that broadcast on both sides",
                      .arguments = {arg({1, n(), 2, 3}), arg({4, 1, 3, n() + 1})},
                      .call = two([](const Tensor& a, const Tensor& b) { return matmul(a, b); })},
                     {.what = "a vector for a batch",
                      .arguments = {arg({n(), 2, n() + 1}), arg({n() + 1})},
                      .call = two([](const Tensor& a, const Tensor& b) { return matmul(a, b); })},
                     {.what = "of a batch with its transpose",
                      .arguments = {arg({2, n(), 3})},
                      .call = one([](const Tensor& x) { return matmul(x, transpose(x, 1, 2)); })}}});
    rows.push_back(
        {.name = "broadcasts_of_any_size",
         .is_op = false,
         .samples = {{.what = "a row, a column and a number",
                      .arguments = {arg({n(), 3}), arg({3}), arg({n(), 1}), arg({})},
                      .call = [](const Inputs& in) -> Inputs { return {in[0] * in[1] + in[2] - in[3]}; }},
                     {.what = "a row and a column of unknown sizes",
                      .arguments = {arg({1, n()}), arg({n() * 2 + 1, 1})},
                      .call = two([](const Tensor& a, const Tensor& b) { return a * b; })},
                     {.what = "in the middle",
                      .arguments = {arg({2, n(), 3}), arg({2, 1, 3}), arg({n(), 1})},
                      .call = [](const Inputs& in) -> Inputs { return {(in[0] + in[1]) * in[2]}; }},
                     {.what = "sums that keep their dimensions",
                      .arguments = {arg({n() + 1, 2, n() + 2})},
                      .call = one([](const Tensor& x) {
                          return x - mean(x, {0, 2}, true) * 2;
                      })}}});
    rows.push_back(
        {.name = "shapes_of_any_size",
         .is_op = false,
         .samples = {
             {.what = "heads",
              .arguments = {arg({n(), n() + 1, 6})},
              .call = one([](const Tensor& x) {
                  const Tensor heads = transpose(reshape(x, {x.size(0), x.size(1), 2, 3}), 1, 2);
                  return reshape(transpose(heads * 2, 1, 2), {x.size(0), -1, 6});
              }),
              .sizes = {1, 4}},
             {.what = "rows in pairs",
              .arguments = {arg({n() * 2, 3})},
              .call = one([](const Tensor& x) {
                  return reshape(x, {-1, 2, 3}) * unsqueeze(narrow(x, 0, 0, floor_div(x.size(0), 2)), 1);
              })},
             {.what = "the second half", .arguments = {arg({3, n()})}, .call = one([](const Tensor& x) {
                                                                           const Dim half =
                                                                               floor_div(x.size(1), 2);
                                                                           return narrow(x, 1, half,
                                                                                         x.size(1) - half) *
                                                                                  2;
                                                                       })},
             {.what = "expanded by sizes of another",
              .arguments = {arg({1, 3}), fixed(arg({n(), n() + 2}))},
              .call = two([](const Tensor& x, const Tensor& y) {
                  return flatten(expand(unsqueeze(x, 1), {y.size(0), y.size(1), 3}), 0, 1) * 1;
              })}}});
}

} // namespace reprise::test
