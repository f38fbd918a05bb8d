// Pooling.
#include "ops/windows.hpp"
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Integers = std::vector<std::int64_t>;
using Call = Tensor (*)(const Tensor&);

Sample sample(const char* what, Shape x, Call call, Integers sizes = {0, 1, 4})
{
    return {.what = what,
            .arguments = {arg(std::move(x))},
            .call = [call](const Inputs& in) { return std::vector{call(in[0])}; },
            .sizes = std::move(sizes)};
}

using Pair = std::pair<Tensor, Tensor> (*)(const Tensor&);
Sample with_places(const char* what, Shape x, Pair call, Integers sizes = {0, 1, 4})
{
    return {.what = what,
            .arguments = {arg(std::move(x))},
            .call =
                [call](const Inputs& in) {
                    const auto [y, places] = call(in[0]);
                    return std::vector{y, places};
                },
            .sizes = std::move(sizes)};
}

// -- the ops themselves --

struct Pool {
    const char* what;
    Shape x, y;
    Integers kernel, stride, padding, dilation;
    graph::Attributes to(const Shape& of) const
    {
        return {{"kernel", kernel},
                {"stride", stride},
                {"padding", padding},
                {"dilation", dilation},
                {"ceil_mode", std::int64_t{0}},
                {"to", ops::last_of(of, x.size() - 2)}};
    }
};

void add_max_ops(std::vector<OpInfo>& rows)
{
    const std::vector<Pool> pools = {
        {"2x2", {n(), 2, 8, 8}, {n(), 2, 4, 4}, {2, 2}, {2, 2}, {0, 0}, {1, 1}},
        {"overlapping", {n(), 3, 7, 5}, {n(), 3, 4, 3}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
        {"uneven", {n(), 1, 6, 6}, {n(), 1, 5, 3}, {2, 3}, {1, 2}, {0, 1}, {1, 1}},
        {"a line", {n(), 2, 9}, {n(), 2, 5}, {3}, {2}, {1}, {1}},
        {"volumes", {n(), 1, 4, 5, 6}, {n(), 1, 3, 3, 5}, {2, 3, 2}, {1, 2, 1}, {0, 1, 0}, {1, 1, 1}},
        {"dilated", {n(), 1, 7, 9}, {n(), 1, 5, 3}, {2, 3}, {1, 2}, {0, 0}, {2, 2}},
        {"adaptive", {n(), 2, 7, 5}, {n(), 2, 3, 4}, {}, {}, {}, {}},
    };
    OpInfo forward{.name = "max_pool"}, vjp{.name = "max_pool_vjp"}, take{.name = "max_pool_take"};
    const auto sizes = test::sizes({0, 1, 5});
    for (const Pool& p : pools) {
        const graph::Attributes to_y = p.to(p.y), to_x = p.to(p.x);
        forward.samples.push_back(
            {.what = p.what, .arguments = {arg(p.x)}, .call = apply(ops::max_pool_op, to_y), .sizes = sizes});
        // Places are those of a pooling; they do not move with the gradient's input.
        vjp.samples.push_back({.what = p.what,
                               .arguments = {arg(p.y), fixed(arg(p.x))},
                               .call =
                                   [to_y, to_x](const Inputs& in) {
                                       const Tensor places = graph::apply(ops::max_pool_op, {in[1]}, to_y)[1];
                                       return graph::apply(ops::max_pool_vjp_op, {in[0], places}, to_x);
                                   },
                               .sizes = sizes});
        take.samples.push_back({.what = p.what,
                                .arguments = {arg(p.x), fixed(arg(p.x))},
                                .call =
                                    [to_y](const Inputs& in) {
                                        const Tensor places =
                                            graph::apply(ops::max_pool_op, {in[1]}, to_y)[1];
                                        return graph::apply(ops::max_pool_take_op, {in[0], places}, to_y);
                                    },
                                .sizes = sizes});
    }
    rows.insert(rows.end(), {forward, vjp, take});
}

// -- max pooling --

void add_max(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "max_pool1d",
         .is_op = false,
         .samples =
             {sample("pairs", {n(), 3, 10}, [](const Tensor& x) { return max_pool1d(x, 2); }),
              with_places("a symbolic length, dilated", {2, 3, n() + 6},
                          [](const Tensor& x) {
                              return max_pool1d_with_indices(
                                  x, {.kernel_size = {3}, .stride = {2}, .padding = {1}, .dilation = {2}});
                          }),
              sample("without a batch", {3, n() + 2},
                     [](const Tensor& x) { return max_pool1d(x, {.kernel_size = {2}, .ceil_mode = true}); })},
         .mistakes = {{"two dimensions too many",
                       [] {
                           max_pool1d(ones({2, 3, 8, 8}), 2);
                       },
                       ErrorKind::shape, "[batch, channels, length]"},
                      {"a window larger than the line",
                       [] {
                           max_pool1d(ones({1, 1, 4}), {.kernel_size = {3}, .dilation = {2}});
                       },
                       ErrorKind::shape, "dilation (2)"},
                      {"integers",
                       [] {
                           max_pool1d(ones({1, 1, 4}, {.dtype = i32}), 2);
                       },
                       ErrorKind::dtype, "a floating dtype"}}});
    rows.push_back(
        {.name = "max_pool2d",
         .is_op = false,
         .samples =
             {sample("2x2", {n(), 2, 8, 8}, [](const Tensor& x) { return max_pool2d(x, 2); }),
              with_places("2x2 with ceil_mode", {2, n(), 7, 8},
                          [](const Tensor& x) { return max_pool2d_with_indices(x, {.ceil_mode = true}); }),
              with_places("symbolic sizes and ceil_mode", {2, 1, n() + 3, n() * 2 + 4},
                          [](const Tensor& x) {
                              return max_pool2d_with_indices(x, {.kernel_size = {3, 2},
                                                                 .stride = {2, 3},
                                                                 .padding = {1, 1},
                                                                 .ceil_mode = true});
                          }),
              with_places("dilated", {n(), 2, 9, 8},
                          [](const Tensor& x) {
                              return max_pool2d_with_indices(x, {.kernel_size = {3, 2},
                                                                 .stride = {2, 1},
                                                                 .padding = {1, 1},
                                                                 .dilation = {2, 3},
                                                                 .ceil_mode = true});
                          }),
              sample("without a batch", {n(), 6, 6}, [](const Tensor& x) { return max_pool2d(x, 3); })},
         .mistakes = {{"two dimensions",
                       [] {
                           max_pool2d(ones({8, 8}), 2);
                       },
                       ErrorKind::shape, "[batch, channels, height, width] or [channels, height, width]"},
                      {"too much padding",
                       [] {
                           max_pool2d(ones({1, 1, 8, 8}), {.kernel_size = {2, 2}, .padding = {2, 2}});
                       },
                       ErrorKind::argument, "The padding (2)"},
                      {"a window larger than the image",
                       [] {
                           max_pool2d(ones({1, 1, 2, 2}), 3);
                       },
                       ErrorKind::shape, "3"},
                      {"no image",
                       [] {
                           max_pool2d(ones({1, 1, 0, 2}), 1);
                       },
                       ErrorKind::shape, "no elements"}}});
    rows.push_back(
        {.name = "max_pool3d",
         .is_op = false,
         .samples = {sample("cubes", {n(), 2, 4, 4, 4}, [](const Tensor& x) { return max_pool3d(x, 2); }),
                     with_places("symbolic sizes", {1, 2, n() + 2, 5, n() + 3},
                                 [](const Tensor& x) {
                                     return max_pool3d_with_indices(x, {.kernel_size = {2, 3, 2},
                                                                        .stride = {1, 2, 2},
                                                                        .padding = {1, 1, 0},
                                                                        .dilation = {1, 2, 1},
                                                                        .ceil_mode = true});
                                 })},
         .mistakes = {{"an image",
                       [] {
                           max_pool3d(ones({8, 8, 8}), 2);
                       },
                       ErrorKind::shape, "depth, height, width"},
                      {"a stride below 0",
                       [] {
                           max_pool3d(ones({1, 4, 4, 4}), {.stride = {1, 1, -1}});
                       },
                       ErrorKind::argument, "stride (-1)"},
                      {"a dilation of 0",
                       [] {
                           max_pool3d(ones({1, 4, 4, 4}), {.dilation = {1, 0, 1}});
                       },
                       ErrorKind::argument, "dilation (0)"}}});
}

// -- averages --

graph::Attributes averages(const Shape& to, const Integers& kernel, const Integers& stride,
                           const DimVector& padding)
{
    return {{"how", std::int64_t{0}},
            {"to", to},
            {"kernel", kernel},
            {"stride", stride},
            {"counts_padding", std::int64_t{1}},
            {"divisor", std::int64_t{0}},
            {"scales", Integers()},
            {"before_0", padding[0]},
            {"before_1", padding[1]},
            {"before_2", padding[2]}};
}

void add_resample(std::vector<OpInfo>& rows)
{
    OpInfo forward{.name = "resample"}, vjp{.name = "resample_vjp"};
    struct Case {
        const char* what;
        Shape x, y;
        Integers kernel, stride;
        DimVector padding;
    };
    for (const Case& c :
         {Case{"a line", {n(), 2, 9}, {n(), 2, 5}, {3}, {2}, {0, 0, 1}},
          {"planes", {n(), 2, 6, 7}, {n(), 2, 4, 6}, {2, 3}, {2, 1}, {0, 1, 1}},
          {"volumes", {n(), 1, 4, 5, 6}, {n(), 1, 3, 2, 4}, {2, 3, 3}, {1, 2, 2}, {0, 0, 1}}}) {
        const std::size_t dims = c.x.size() - 2;
        forward.samples.push_back({.what = c.what,
                                   .arguments = {arg(c.x)},
                                   .call = apply(ops::resample_op, averages(ops::last_of(c.y, dims), c.kernel,
                                                                            c.stride, c.padding))});
        vjp.samples.push_back({.what = c.what,
                               .arguments = {arg(c.y)},
                               .call = apply(ops::resample_vjp_op, averages(ops::last_of(c.x, dims), c.kernel,
                                                                            c.stride, c.padding))});
    }
    rows.insert(rows.end(), {forward, vjp});
}

void add_averages(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "avg_pool1d",
         .is_op = false,
         .samples = {sample("pairs", {n(), 3, 10}, [](const Tensor& x) { return avg_pool1d(x, 2); }),
                     sample("a symbolic length", {3, n() + 4},
                            [](const Tensor& x) {
                                return avg_pool1d(
                                    x,
                                    {.kernel_size = {4}, .stride = {3}, .padding = {2}, .ceil_mode = true});
                            })},
         .mistakes = {
             {"one dimension", [] { avg_pool1d(ones({8}), 2); }, ErrorKind::shape, "[channels, length]"},
             {"too much padding",
              [] {
                  avg_pool1d(ones({1, 8}), {.kernel_size = {3}, .padding = {2}});
              },
              ErrorKind::argument, "The padding (2)"},
             {"integers",
              [] {
                  avg_pool1d(ones({1, 8}, {.dtype = i32}), 2);
              },
              ErrorKind::dtype, "a floating dtype"}}});
    rows.push_back(
        {.name = "avg_pool2d",
         .is_op = false,
         .samples = {sample("2x2", {n(), 2, 8, 8}, [](const Tensor& x) { return avg_pool2d(x, 2); }),
                     sample("padding counts", {2, 1, n() + 3, n() * 2 + 4},
                            [](const Tensor& x) {
                                return avg_pool2d(x, {.kernel_size = {3, 2},
                                                      .stride = {2, 3},
                                                      .padding = {1, 1},
                                                      .ceil_mode = true});
                            }),
                     sample("padding does not count", {2, 1, n() + 3, n() * 2 + 4},
                            [](const Tensor& x) {
                                return avg_pool2d(x, {.kernel_size = {3, 2},
                                                      .stride = {2, 3},
                                                      .padding = {1, 1},
                                                      .ceil_mode = true,
                                                      .count_include_pad = false});
                            }),
                     sample("another divisor, overlapping", {n(), 5, 6},
                            [](const Tensor& x) {
                                return avg_pool2d(x, {.kernel_size = {3, 3},
                                                      .stride = {1, 2},
                                                      .padding = {1, 0},
                                                      .divisor_override = 4});
                            }),
                     sample("many planes", {n(), 30, 3, 3},
                            [](const Tensor& x) {
                                return avg_pool2d(x, {.stride = {1, 1}});
                            },
                            {3, 40})},
         .mistakes = {{"a divisor of 0",
                       [] {
                           avg_pool2d(ones({1, 4, 4}), {.divisor_override = 0});
                       },
                       ErrorKind::argument, "divisor_override (0)"},
                      {"a window larger than the image",
                       [] {
                           avg_pool2d(ones({1, 2, 2}), 3);
                       },
                       ErrorKind::shape, "(3)"},
                      {"a vector",
                       [] {
                           avg_pool2d(ones({4, 4}), 2);
                       },
                       ErrorKind::shape, "[channels, height, width]"}}});
    rows.push_back(
        {.name = "avg_pool3d",
         .is_op = false,
         .samples = {sample("cubes", {n(), 2, 4, 4, 4}, [](const Tensor& x) { return avg_pool3d(x, 2); }),
                     sample("symbolic sizes", {1, 2, n() + 2, 5, n() + 3},
                            [](const Tensor& x) {
                                return avg_pool3d(x, {.kernel_size = {2, 3, 2},
                                                      .stride = {1, 2, 2},
                                                      .padding = {1, 1, 0},
                                                      .ceil_mode = true,
                                                      .count_include_pad = false});
                            })},
         .mistakes = {{"an image",
                       [] {
                           avg_pool3d(ones({8, 8, 8}), 2);
                       },
                       ErrorKind::shape, "depth, height, width"},
                      {"no kernel",
                       [] {
                           avg_pool3d(ones({1, 8, 8, 8}), 0);
                       },
                       ErrorKind::argument, "kernel size (0)"}}});
    rows.push_back(
        {.name = "lp_pool1d",
         .is_op = false,
         .samples = {{.what = "cubes",
                      .arguments = {arg({n(), 3, 8}, 0.2, 1)},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{lp_pool1d(in[0], 3, {.kernel_size = {3}, .stride = {2}})};
                          },
                      .sizes = {0, 1, 4},
                      .tolerance = 1e-5}},
         .mistakes = {{"an image", [] { lp_pool1d(ones({8}), 2, {}); }, ErrorKind::shape, "length"}}});
    rows.push_back({.name = "lp_pool2d",
                    .is_op = false,
                    .samples = {{.what = "squares",
                                 .arguments = {arg({n(), 2, 5, 6}, 0.2, 1)},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{lp_pool2d(in[0], 2, {.ceil_mode = true})};
                                     },
                                 .sizes = {0, 1, 4},
                                 .tolerance = 1e-5}},
                    .mistakes = {{"a line",
                                  [] {
                                      lp_pool2d(ones({2, 8}), 2, {});
                                  },
                                  ErrorKind::shape, "height, width"}}});
}

// -- adaptive and global --

void add_adaptive(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "adaptive_avg_pool",
         .is_op = false,
         .samples = {sample("a line", {n(), 3, 10},
                            [](const Tensor& x) { return adaptive_avg_pool1d(x, 4); }),
                     sample("planes of any size", {2, 2, n() + 2, n() * 2 + 1},
                            [](const Tensor& x) {
                                return adaptive_avg_pool2d(x, {3, 5});
                            }),
                     sample("more outputs than inputs, one size kept", {n(), 5, 3},
                            [](const Tensor& x) {
                                return adaptive_avg_pool2d(x, {-1, 7});
                            }),
                     sample("to one", {n(), 3, 4, 5},
                            [](const Tensor& x) { return adaptive_avg_pool2d(x, 1); }),
                     sample("volumes", {2, n() + 1, 3, 5, 4},
                            [](const Tensor& x) {
                                return adaptive_avg_pool3d(x, {2, 3, 3});
                            }),
                     sample("to a symbolic size", {2, n() + 1, 6},
                            [](const Tensor& x) {
                                return adaptive_avg_pool2d(x, {floor_div(x.size(1) + 1, 2), x.size(1)});
                            })},
         .mistakes = {{"a negative size",
                       [] {
                           adaptive_avg_pool1d(ones({1, 4}), -2);
                       },
                       ErrorKind::shape, "(-2)"},
                      {"no image",
                       [] {
                           adaptive_avg_pool2d(ones({1, 0, 4}), 2);
                       },
                       ErrorKind::shape, "no elements"},
                      {"a line",
                       [] {
                           adaptive_avg_pool3d(ones({1, 4}), 2);
                       },
                       ErrorKind::shape, "depth, height, width"}}});
    rows.push_back(
        {.name = "adaptive_max_pool",
         .is_op = false,
         .samples = {with_places("a line", {n(), 3, 10},
                                 [](const Tensor& x) { return adaptive_max_pool1d_with_indices(x, 4); }),
                     with_places("planes of any size", {2, 2, n() + 2, n() * 2 + 1},
                                 [](const Tensor& x) {
                                     return adaptive_max_pool2d_with_indices(x, {3, 5});
                                 }),
                     with_places("to one", {n(), 3, 4, 5},
                                 [](const Tensor& x) {
                                     return adaptive_max_pool2d_with_indices(x, {1, 1});
                                 }),
                     sample("volumes", {2, n() + 1, 3, 5, 4},
                            [](const Tensor& x) {
                                return adaptive_max_pool3d(x, {2, 3, 3});
                            })},
         .mistakes = {{"a negative size",
                       [] {
                           adaptive_max_pool1d(ones({1, 4}), -2);
                       },
                       ErrorKind::shape, "(-2)"},
                      {"no image",
                       [] {
                           adaptive_max_pool2d(ones({1, 0, 4}), 2);
                       },
                       ErrorKind::shape, "no elements"},
                      {"integers",
                       [] {
                           adaptive_max_pool2d(ones({1, 4, 4}, {.dtype = i32}), 2);
                       },
                       ErrorKind::dtype, "a floating dtype"}}});
    rows.push_back(
        {.name = "global_pool2d",
         .is_op = false,
         .samples = {sample("averages", {n(), 3, 7, 5}, [](const Tensor& x) { return global_avg_pool2d(x); }),
                     sample("maxima", {2, 3, n() + 1, 5},
                            [](const Tensor& x) { return global_max_pool2d(x); })},
         .mistakes = {{"a line",
                       [] {
                           global_avg_pool2d(ones({2, 8}));
                       },
                       ErrorKind::shape, "height, width"}}});
}

} // namespace

void add_pooling(std::vector<OpInfo>& rows)
{
    add_max_ops(rows);
    add_max(rows);
    add_resample(rows);
    add_averages(rows);
    add_adaptive(rows);
}

} // namespace reprise::test
