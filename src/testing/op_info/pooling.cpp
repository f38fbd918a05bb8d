// Pooling.
#include "ops/windows.hpp"
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using Integers = std::vector<std::int64_t>;
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

void add_max_ops(Rows& rows)
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
    const std::vector<std::int64_t> sizes = {0, 1, 5};
    rows.op("max_pool");
    for (const Pool& p : pools) rows.sample(p.what, {arg(p.x)}, sizes, apply(ops::max_pool_op, p.to(p.y)));

    // The indices come from a max pooling of fixed values; they don't depend on the gradient's input.
    rows.op("max_pool_vjp");
    for (const Pool& p : pools)
        rows.sample(p.what, {arg(p.y), fixed(arg(p.x))}, sizes,
                    [to_y = p.to(p.y), to_x = p.to(p.x)](const Tensor& dy, const Tensor& x) {
                        const Tensor places = graph::apply(ops::max_pool_op, {x}, to_y)[1];
                        return graph::apply(ops::max_pool_vjp_op, {dy, places}, to_x);
                    });

    rows.op("max_pool_take");
    for (const Pool& p : pools)
        rows.sample(p.what, {arg(p.x), fixed(arg(p.x))}, sizes,
                    [to_y = p.to(p.y)](const Tensor& taken, const Tensor& x) {
                        const Tensor places = graph::apply(ops::max_pool_op, {x}, to_y)[1];
                        return graph::apply(ops::max_pool_take_op, {taken, places}, to_y);
                    });
}

// -- max pooling --

void add_max(Rows& rows)
{
    rows.composed("max_pool1d");
    rows.sample("pairs", {arg({n(), 3, 10})}, {0, 1, 4}, [](const Tensor& x) { return max_pool1d(x, 2); });
    rows.sample("a symbolic length, dilated", {arg({2, 3, n() + 6})}, {0, 1, 4}, [](const Tensor& x) {
        return max_pool1d_with_indices(x,
                                       {.kernel_size = {3}, .stride = {2}, .padding = {1}, .dilation = {2}});
    });
    rows.sample("without a batch", {arg({3, n() + 2})}, {0, 1, 4},
                [](const Tensor& x) { return max_pool1d(x, {.kernel_size = {2}, .ceil_mode = true}); });
    rows.mistake("two dimensions too many", ErrorKind::shape, "[batch, channels, length]", [] {
        max_pool1d(ones({2, 3, 8, 8}), 2);
    });
    rows.mistake("a window larger than the line", ErrorKind::shape, "dilation (2)", [] {
        max_pool1d(ones({1, 1, 4}), {.kernel_size = {3}, .dilation = {2}});
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        max_pool1d(ones({1, 1, 4}, {.dtype = i32}), 2);
    });

    rows.composed("max_pool2d");
    rows.sample("2x2", {arg({n(), 2, 8, 8})}, {0, 1, 4}, [](const Tensor& x) { return max_pool2d(x, 2); });
    rows.sample("2x2 with ceil_mode", {arg({2, n(), 7, 8})}, {0, 1, 4},
                [](const Tensor& x) { return max_pool2d_with_indices(x, {.ceil_mode = true}); });
    rows.sample("symbolic sizes and ceil_mode", {arg({2, 1, n() + 3, n() * 2 + 4})}, {0, 1, 4},
                [](const Tensor& x) {
                    return max_pool2d_with_indices(
                        x, {.kernel_size = {3, 2}, .stride = {2, 3}, .padding = {1, 1}, .ceil_mode = true});
                });
    rows.sample("dilated", {arg({n(), 2, 9, 8})}, {0, 1, 4}, [](const Tensor& x) {
        return max_pool2d_with_indices(x, {.kernel_size = {3, 2},
                                           .stride = {2, 1},
                                           .padding = {1, 1},
                                           .dilation = {2, 3},
                                           .ceil_mode = true});
    });
    rows.sample("without a batch", {arg({n(), 6, 6})}, {0, 1, 4},
                [](const Tensor& x) { return max_pool2d(x, 3); });
    rows.mistake("two dimensions", ErrorKind::shape,
                 "[batch, channels, height, width] or [channels, height, width]", [] {
                     max_pool2d(ones({8, 8}), 2);
                 });
    rows.mistake("too much padding", ErrorKind::argument, "The padding (2)", [] {
        max_pool2d(ones({1, 1, 8, 8}), {.kernel_size = {2, 2}, .padding = {2, 2}});
    });
    rows.mistake("a window larger than the image", ErrorKind::shape, "3", [] {
        max_pool2d(ones({1, 1, 2, 2}), 3);
    });
    rows.mistake("no image", ErrorKind::shape, "no elements", [] { max_pool2d(ones({1, 1, 0, 2}), 1); });

    rows.composed("max_pool3d");
    rows.sample("cubes", {arg({n(), 2, 4, 4, 4})}, {0, 1, 4},
                [](const Tensor& x) { return max_pool3d(x, 2); });
    rows.sample("symbolic sizes", {arg({1, 2, n() + 2, 5, n() + 3})}, {0, 1, 4}, [](const Tensor& x) {
        return max_pool3d_with_indices(x, {.kernel_size = {2, 3, 2},
                                           .stride = {1, 2, 2},
                                           .padding = {1, 1, 0},
                                           .dilation = {1, 2, 1},
                                           .ceil_mode = true});
    });
    rows.mistake("an image", ErrorKind::shape, "depth, height, width", [] {
        max_pool3d(ones({8, 8, 8}), 2);
    });
    rows.mistake("a stride below 0", ErrorKind::argument, "stride (-1)", [] {
        max_pool3d(ones({1, 4, 4, 4}), {.stride = {1, 1, -1}});
    });
    rows.mistake("a dilation of 0", ErrorKind::argument, "dilation (0)", [] {
        max_pool3d(ones({1, 4, 4, 4}), {.dilation = {1, 0, 1}});
    });
}

// -- averages --

struct Average {
    const char* what;
    Shape x, y;
    Integers kernel, stride;
    DimVector padding;
    graph::Attributes to(const Shape& of) const
    {
        return {{"how", std::int64_t{0}},
                {"to", ops::last_of(of, x.size() - 2)},
                {"kernel", kernel},
                {"stride", stride},
                {"counts_padding", std::int64_t{1}},
                {"divisor", std::int64_t{0}},
                {"scales", Integers()},
                {"before_0", padding[0]},
                {"before_1", padding[1]},
                {"before_2", padding[2]}};
    }
};

void add_resample(Rows& rows)
{
    const std::vector<Average> averages = {
        {"a line", {n(), 2, 9}, {n(), 2, 5}, {3}, {2}, {0, 0, 1}},
        {"planes", {n(), 2, 6, 7}, {n(), 2, 4, 6}, {2, 3}, {2, 1}, {0, 1, 1}},
        {"volumes", {n(), 1, 4, 5, 6}, {n(), 1, 3, 2, 4}, {2, 3, 3}, {1, 2, 2}, {0, 0, 1}}};
    rows.op("resample");
    for (const Average& a : averages) rows.sample(a.what, {arg(a.x)}, apply(ops::resample_op, a.to(a.y)));

    rows.op("resample_vjp");
    for (const Average& a : averages) rows.sample(a.what, {arg(a.y)}, apply(ops::resample_vjp_op, a.to(a.x)));
}

void add_averages(Rows& rows)
{
    rows.composed("avg_pool1d");
    rows.sample("pairs", {arg({n(), 3, 10})}, {0, 1, 4}, [](const Tensor& x) { return avg_pool1d(x, 2); });
    rows.sample("a symbolic length", {arg({3, n() + 4})}, {0, 1, 4}, [](const Tensor& x) {
        return avg_pool1d(x, {.kernel_size = {4}, .stride = {3}, .padding = {2}, .ceil_mode = true});
    });
    rows.mistake("one dimension", ErrorKind::shape, "[channels, length]", [] { avg_pool1d(ones({8}), 2); });
    rows.mistake("too much padding", ErrorKind::argument, "The padding (2)", [] {
        avg_pool1d(ones({1, 8}), {.kernel_size = {3}, .padding = {2}});
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        avg_pool1d(ones({1, 8}, {.dtype = i32}), 2);
    });

    rows.composed("avg_pool2d");
    rows.sample("2x2", {arg({n(), 2, 8, 8})}, {0, 1, 4}, [](const Tensor& x) { return avg_pool2d(x, 2); });
    rows.sample("padding counts", {arg({2, 1, n() + 3, n() * 2 + 4})}, {0, 1, 4}, [](const Tensor& x) {
        return avg_pool2d(x, {.kernel_size = {3, 2}, .stride = {2, 3}, .padding = {1, 1}, .ceil_mode = true});
    });
    rows.sample("padding does not count", {arg({2, 1, n() + 3, n() * 2 + 4})}, {0, 1, 4},
                [](const Tensor& x) {
                    return avg_pool2d(x, {.kernel_size = {3, 2},
                                          .stride = {2, 3},
                                          .padding = {1, 1},
                                          .ceil_mode = true,
                                          .count_include_pad = false});
                });
    rows.sample("another divisor, overlapping", {arg({n(), 5, 6})}, {0, 1, 4}, [](const Tensor& x) {
        return avg_pool2d(
            x, {.kernel_size = {3, 3}, .stride = {1, 2}, .padding = {1, 0}, .divisor_override = 4});
    });
    rows.sample("many planes", {arg({n(), 30, 3, 3})}, {3, 40}, [](const Tensor& x) {
        return avg_pool2d(x, {.stride = {1, 1}});
    });
    rows.mistake("a divisor of 0", ErrorKind::argument, "divisor_override (0)", [] {
        avg_pool2d(ones({1, 4, 4}), {.divisor_override = 0});
    });
    rows.mistake("a window larger than the image", ErrorKind::shape, "(3)", [] {
        avg_pool2d(ones({1, 2, 2}), 3);
    });
    rows.mistake("a vector", ErrorKind::shape, "[channels, height, width]", [] {
        avg_pool2d(ones({4, 4}), 2);
    });

    rows.composed("avg_pool3d");
    rows.sample("cubes", {arg({n(), 2, 4, 4, 4})}, {0, 1, 4},
                [](const Tensor& x) { return avg_pool3d(x, 2); });
    rows.sample("symbolic sizes", {arg({1, 2, n() + 2, 5, n() + 3})}, {0, 1, 4}, [](const Tensor& x) {
        return avg_pool3d(x, {.kernel_size = {2, 3, 2},
                              .stride = {1, 2, 2},
                              .padding = {1, 1, 0},
                              .ceil_mode = true,
                              .count_include_pad = false});
    });
    rows.mistake("an image", ErrorKind::shape, "depth, height, width", [] {
        avg_pool3d(ones({8, 8, 8}), 2);
    });
    rows.mistake("no kernel", ErrorKind::argument, "kernel size (0)", [] {
        avg_pool3d(ones({1, 8, 8, 8}), 0);
    });

    rows.composed("lp_pool1d");
    rows.sample("cubes", {arg({n(), 3, 8}, 0.2, 1)}, {0, 1, 4},
                [](const Inputs& in) { return lp_pool1d(in[0], 3, {.kernel_size = {3}, .stride = {2}}); })
        .tolerance = 1e-5;
    rows.mistake("an image", ErrorKind::shape, "length", [] { lp_pool1d(ones({8}), 2, {}); });

    rows.composed("lp_pool2d");
    rows.sample("squares", {arg({n(), 2, 5, 6}, 0.2, 1)}, {0, 1, 4},
                [](const Inputs& in) { return lp_pool2d(in[0], 2, {.ceil_mode = true}); })
        .tolerance = 1e-5;
    rows.mistake("a line", ErrorKind::shape, "height, width", [] { lp_pool2d(ones({2, 8}), 2, {}); });
}

// -- adaptive and global --

void add_adaptive(Rows& rows)
{
    rows.composed("adaptive_avg_pool");
    rows.sample("a line", {arg({n(), 3, 10})}, {0, 1, 4},
                [](const Tensor& x) { return adaptive_avg_pool1d(x, 4); });
    rows.sample("planes of any size", {arg({2, 2, n() + 2, n() * 2 + 1})}, {0, 1, 4}, [](const Tensor& x) {
        return adaptive_avg_pool2d(x, {3, 5});
    });
    rows.sample("more outputs than inputs, one size kept", {arg({n(), 5, 3})}, {0, 1, 4},
                [](const Tensor& x) {
                    return adaptive_avg_pool2d(x, {-1, 7});
                });
    rows.sample("to one", {arg({n(), 3, 4, 5})}, {0, 1, 4},
                [](const Tensor& x) { return adaptive_avg_pool2d(x, 1); });
    rows.sample("volumes", {arg({2, n() + 1, 3, 5, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return adaptive_avg_pool3d(x, {2, 3, 3});
    });
    rows.sample("to a symbolic size", {arg({2, n() + 1, 6})}, {0, 1, 4}, [](const Tensor& x) {
        return adaptive_avg_pool2d(x, {floor_div(x.size(1) + 1, 2), x.size(1)});
    });
    rows.mistake("a negative size", ErrorKind::shape, "(-2)", [] { adaptive_avg_pool1d(ones({1, 4}), -2); });
    rows.mistake("no image", ErrorKind::shape, "no elements", [] {
        adaptive_avg_pool2d(ones({1, 0, 4}), 2);
    });
    rows.mistake("a line", ErrorKind::shape, "depth, height, width", [] {
        adaptive_avg_pool3d(ones({1, 4}), 2);
    });

    rows.composed("adaptive_max_pool");
    rows.sample("a line", {arg({n(), 3, 10})}, {0, 1, 4},
                [](const Tensor& x) { return adaptive_max_pool1d_with_indices(x, 4); });
    rows.sample("planes of any size", {arg({2, 2, n() + 2, n() * 2 + 1})}, {0, 1, 4}, [](const Tensor& x) {
        return adaptive_max_pool2d_with_indices(x, {3, 5});
    });
    rows.sample("to one", {arg({n(), 3, 4, 5})}, {0, 1, 4}, [](const Tensor& x) {
        return adaptive_max_pool2d_with_indices(x, {1, 1});
    });
    rows.sample("volumes", {arg({2, n() + 1, 3, 5, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return adaptive_max_pool3d(x, {2, 3, 3});
    });
    rows.mistake("a negative size", ErrorKind::shape, "(-2)", [] { adaptive_max_pool1d(ones({1, 4}), -2); });
    rows.mistake("no image", ErrorKind::shape, "no elements", [] {
        adaptive_max_pool2d(ones({1, 0, 4}), 2);
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        adaptive_max_pool2d(ones({1, 4, 4}, {.dtype = i32}), 2);
    });

    rows.composed("global_pool2d");
    rows.sample("averages", {arg({n(), 3, 7, 5})}, {0, 1, 4},
                [](const Tensor& x) { return global_avg_pool2d(x); });
    rows.sample("maxima", {arg({2, 3, n() + 1, 5})}, {0, 1, 4},
                [](const Tensor& x) { return global_max_pool2d(x); });
    rows.mistake("a line", ErrorKind::shape, "height, width", [] { global_avg_pool2d(ones({2, 8})); });
}

} // namespace

void add_pooling(Rows& rows)
{
    add_max_ops(rows);
    add_max(rows);
    add_resample(rows);
    add_averages(rows);
    add_adaptive(rows);
}

} // namespace reprise::test
