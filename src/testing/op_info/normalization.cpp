// Normalisation.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

// Inputs: x, weight, bias, running mean, running variance.
void batch_norm_sample(Rows& rows, const char* what, const Shape& x, bool training, bool affine,
                       std::vector<std::int64_t> sizes)
{
    rows.sample(
        what,
        {arg(x, -2, 2), arg({x[1]}, 0.5, 2), arg({x[1]}), fixed(arg({x[1]})), fixed(arg({x[1]}, 0.5, 2))},
        std::move(sizes), [=](const Inputs& in) {
            // Training assigns these, so the inputs are not used directly.
            const Tensor mean = in[3].detach(), variance = in[4].detach();
            const Tensor y = batch_norm(in[0], mean, variance, affine ? in[1] : Tensor(),
                                        affine ? in[2] : Tensor(), {.training = training, .momentum = 0.2});
            return std::vector{y, mean * 1, variance * 1};
        });
}

// Adds a sample with a symbolic number of channels.
void update_sample(Rows& rows, const char* what, Dim (*count)(const Dim& channels),
                   std::vector<std::int64_t> sizes)
{
    rows.sample(what, {arg({n()}), arg({n()}, 0.5, 2), arg({n()}), arg({n()}, 0.5, 2)}, std::move(sizes),
                [count](const Inputs& in) {
                    return graph::apply(ops::batch_norm_update_op, in,
                                        {{"momentum", 0.2}, {"count", count(in[0].size(0))}});
                });
}

void layer_norm_sample(Rows& rows, const char* what, Shape x, std::size_t dims, bool weight, bool bias,
                       std::vector<std::int64_t> sizes)
{
    const Shape parameter(x.end() - static_cast<std::ptrdiff_t>(dims), x.end());
    std::vector<Argument> arguments;
    arguments.reserve(3);
    arguments.push_back(arg(std::move(x), -2, 3));
    if (weight) arguments.push_back(arg(parameter, 0.5, 2));
    if (bias) arguments.push_back(arg(parameter));
    rows.sample(what, std::move(arguments), std::move(sizes), [=](const Inputs& in) {
        const Shape all = in[0].shape();
        const Shape last(all.end() - static_cast<std::ptrdiff_t>(dims), all.end());
        return layer_norm(in[0], last, weight ? in[1] : Tensor(), bias ? in.back() : Tensor());
    });
}

// The mean and 1 / deviation are computed by the op, since arbitrary numbers would not match any x.
void layer_norm_vjp_sample(Rows& rows, const graph::Op& op, bool centered)
{
    const bool of_input = &op == &ops::layer_norm_vjp_op;
    std::vector<Argument> arguments = {arg({n(), 6}), arg({n(), 6}, -2, 3), arg({6}, 0.5, 2)};
    if (!of_input) arguments.pop_back();
    rows.sample(
        centered ? "rows" : "around 0", std::move(arguments), {0, 1, 5, 200},
        [&op, of_input, centered](const Inputs& in) {
            const graph::Attributes same = {{"eps", 1e-5}, {"centered", std::int64_t{centered}}};
            const Tensor numbers = zeros({in[1].size(1)}, {.dtype = in[1].dtype()});
            const std::vector<Tensor> y = graph::apply(ops::layer_norm_op, {in[1], numbers, numbers}, same);
            if (of_input) return graph::apply(op, {in[0], in[1], in[2], y[1], y[2]}, same);
            return graph::apply(op, {in[0], in[1], y[1], y[2]}, same);
        });
}

void add_layer_norm(Rows& rows)
{
    rows.op("layer_norm").tolerance = 1e-5;
    layer_norm_sample(rows, "rows of texels", {n(), 3, 8}, 1, true, true, {0, 1, 5, 70});
    layer_norm_sample(rows, "odd rows", {2, n(), 7}, 1, true, true, {1, 5});
    layer_norm_sample(rows, "two dimensions", {n(), 3, 5}, 2, true, false, {1, 4});
    layer_norm_sample(rows, "a bias alone", {n(), 12}, 1, false, true, {1, 4});
    layer_norm_sample(rows, "long rows", {n(), 600}, 1, false, false, {2, 3});
    layer_norm_sample(rows, "a symbolic length", {3, n()}, 1, true, true, {2, 9, 300});
    rows.mistake("another shape", ErrorKind::shape, "([4]) is not the end of the shape ([2, 3])", [] {
        layer_norm(ones({2, 3}), {4});
    });
    rows.mistake("no shape", ErrorKind::shape, "([])", [] { layer_norm(ones({3}), {}); });
    rows.mistake("a weight of another size", ErrorKind::shape, "The weight's shape ([2])", [] {
        layer_norm(ones({2, 3}), {3}, ones({2}));
    });
    rows.mistake("a bias of another dtype", ErrorKind::dtype, "The bias's dtype (f16)", [] {
        layer_norm(ones({2, 3}), {3}, {}, ones({3}, {.dtype = f16}));
    });
    rows.mistake("a negative eps", ErrorKind::argument, "(-1)", [] {
        layer_norm(ones({2, 3}), {3}, {}, {}, -1);
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        layer_norm(ones({2, 3}, {.dtype = i32}), {3});
    });

    for (const graph::Op* op : {&ops::layer_norm_vjp_op, &ops::layer_norm_weight_vjp_op}) {
        rows.op(op->name).tolerance = 1e-5;
        for (const bool centered : {true, false}) layer_norm_vjp_sample(rows, *op, centered);
    }
}

void add_batch_norm(Rows& rows)
{
    rows.op("batch_norm").tolerance = 1e-5;
    batch_norm_sample(rows, "training", {n(), 3, 4, 5}, true, true, {0, 1, 4, 9});
    batch_norm_sample(rows, "without weights", {n(), 3, 4, 5}, true, false, {1, 4});
    batch_norm_sample(rows, "no image", {n(), 5}, true, true, {0, 2, 5, 300});
    batch_norm_sample(rows, "one dimension", {3, 4, n()}, true, true, {0, 1, 7, 8, 130});
    batch_norm_sample(rows, "three dimensions", {2, 2, 3, n(), 4}, true, true, {0, 1, 3});
    batch_norm_sample(rows, "no channels", {n(), 0, 2}, true, true, {2});
    rows.mistake("one value", ErrorKind::shape, "one value", [] {
        batch_norm(ones({1, 3, 1, 1}), {}, {}, {}, {}, {.training = true});
    });
    rows.mistake("channels", ErrorKind::shape, "(3) channels", [] {
        batch_norm(ones({2, 3, 2, 2}), zeros({4}), ones({3}), {}, {}, {.training = true});
    });
    rows.mistake("weights", ErrorKind::shape, "weight has the shape ([3, 1])", [] {
        batch_norm(ones({2, 3, 2, 2}), {}, {}, ones({3, 1}), {}, {.training = true});
    });
    rows.mistake("dtypes", ErrorKind::dtype, "(f16)", [] {
        batch_norm(ones({2, 3}), {}, {}, ones({3}, {.dtype = f16}), {}, {.training = true});
    });
    rows.mistake("no channels", ErrorKind::shape, "no channels",
                 [] { batch_norm(ones({3}), {}, {}, {}, {}, {.training = true}); });
    rows.mistake("no statistics", ErrorKind::argument, "no running statistics", [] {
        batch_norm(ones({2, 3}), {}, {});
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        batch_norm(ones({2, 3}, {.dtype = i32}), {}, {}, {}, {}, {.training = true});
    });

    rows.composed("batch_norm_evaluation").tolerance = 1e-5;
    batch_norm_sample(rows, "images", {n(), 3, 4, 5}, false, true, {0, 1, 4});
    batch_norm_sample(rows, "rows", {n(), 3}, false, false, {0, 1, 4});
    const auto vjp = [&](const char* what, const Shape& x, std::vector<std::int64_t> sizes) {
        rows.sample(what, {arg(x), arg(x, -2, 2), arg({x[1]}), arg({x[1]}, 0.5, 2), arg({x[1]}, 0.5, 2)},
                    std::move(sizes), apply(ops::batch_norm_vjp_op, {{"eps", 1e-5}}));
    };

    rows.op("batch_norm_vjp").tolerance = 1e-5;
    vjp("images", {n(), 3, 4, 5}, {0, 1, 4, 9});
    vjp("rows", {n(), 5}, {0, 1, 300});
    vjp("one dimension", {3, 2, n()}, {0, 1, 7, 8, 130});

    rows.op("batch_norm_update").differentiable = false;
    update_sample(rows, "channels", [](const Dim& n) { return n * 2; }, {0, 1, 5, 100});
    update_sample(rows, "an empty batch", [](const Dim&) { return Dim(0); }, {1, 3});
}

void add_rms_norm(Rows& rows)
{
    const auto sample = [&](const char* what, Shape x, std::size_t dims, bool weight,
                            std::vector<std::int64_t> sizes) {
        std::vector<Argument> arguments = {arg(x, -2, 3)};
        if (weight) arguments.push_back(arg({x.end() - static_cast<std::ptrdiff_t>(dims), x.end()}, 0.5, 2));
        rows.sample(what, std::move(arguments), std::move(sizes), [=](const Inputs& in) {
            const Shape all = in[0].shape();
            const Shape last(all.end() - static_cast<std::ptrdiff_t>(dims), all.end());
            return rms_norm(in[0], last, weight ? in[1] : Tensor(), 1e-5);
        });
    };

    rows.composed("rms_norm").tolerance = 1e-5;
    sample("rows of texels", {n(), 3, 8}, 1, true, {0, 1, 5, 70});
    sample("odd rows", {2, n(), 7}, 1, true, {1, 5});
    sample("two dimensions", {n(), 3, 5}, 2, false, {1, 4});
    sample("a symbolic length", {3, n()}, 1, true, {2, 9, 300});
    rows.mistake("another shape", ErrorKind::shape, "[rms_norm] The normalized_shape ([4])", [] {
        rms_norm(ones({2, 3}), {4});
    });
    rows.mistake("a weight of another size", ErrorKind::shape, "The weight's shape ([2])", [] {
        rms_norm(ones({2, 3}), {3}, ones({2}));
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        rms_norm(ones({2, 3}, {.dtype = i32}), {3});
    });
}

void add_group_norm(Rows& rows)
{
    const auto sample = [&](const char* what, const Shape& x, std::int64_t groups, bool affine,
                            std::vector<std::int64_t> sizes) {
        std::vector<Argument> arguments = {arg(x, -2, 3)};
        if (affine) arguments.insert(arguments.end(), {arg({x[1]}, 0.5, 2), arg({x[1]})});
        rows.sample(what, std::move(arguments), std::move(sizes), [=](const Inputs& in) {
            return group_norm(in[0], groups, affine ? in[1] : Tensor(), affine ? in[2] : Tensor());
        });
    };

    rows.op("group_norm").tolerance = 1e-5;
    sample("images", {n(), 6, 4, 5}, 3, true, {0, 1, 4, 9});
    sample("without weights", {n(), 4, 3, 3}, 2, false, {1, 4});
    sample("no image", {n(), 6}, 2, true, {0, 2, 70});
    sample("one group", {2, 3, n()}, 1, true, {1, 7, 8, 300});
    sample("three dimensions", {2, 4, 3, n(), 4}, 4, true, {1, 3});
    rows.mistake("groups", ErrorKind::shape, "(5) channels do not make (2) groups", [] {
        group_norm(ones({2, 5, 3}), 2);
    });
    rows.mistake("one value", ErrorKind::shape, "one value for each group", [] {
        group_norm(ones({1, 3, 1}), 3);
    });
    rows.mistake("no groups", ErrorKind::argument, "(0)", [] { group_norm(ones({2, 5, 3}), 0); });
    rows.mistake("weights", ErrorKind::shape, "weight has the shape ([2])", [] {
        group_norm(ones({2, 4, 3}), 2, ones({2}));
    });
    rows.mistake("dtypes", ErrorKind::dtype, "(f16)", [] {
        group_norm(ones({2, 4}), 2, {}, ones({4}, {.dtype = f16}));
    });
    rows.mistake("a negative eps", ErrorKind::argument, "(-1)", [] {
        group_norm(ones({2, 4}), 2, {}, {}, -1);
    });

    // The statistics are computed by the op, since arbitrary numbers would not match any x.
    rows.op("group_norm_vjp").tolerance = 1e-5;
    rows.sample(
        "images", {arg({n(), 4, 6}), arg({n(), 4, 6}, -2, 3), arg({4}, 0.5, 2)}, {0, 1, 5, 70},
        [](const Inputs& in) {
            const graph::Attributes same = {{"groups", Dim(2)}, {"eps", 1e-5}};
            const Tensor numbers = zeros({4}, {.dtype = in[1].dtype()});
            const std::vector<Tensor> y = graph::apply(ops::group_norm_op, {in[1], numbers, numbers}, same);
            return graph::apply(ops::group_norm_vjp_op, {in[0], in[1], in[2], y[1], y[2]}, same);
        });
}

// Inputs: x, running mean, running variance and, if affine, weight and bias.
void instance_norm_sample(Rows& rows, const char* what, const Shape& x, bool input_stats, bool affine,
                          std::vector<std::int64_t> sizes)
{
    std::vector<Argument> arguments = {arg(x, -2, 2), fixed(arg({x[1]})), fixed(arg({x[1]}, 0.5, 2))};
    if (affine) arguments.insert(arguments.end(), {arg({x[1]}, 0.5, 2), arg({x[1]})});
    rows.sample(what, std::move(arguments), std::move(sizes), [=](const Inputs& in) {
        // The op assigns these, so the inputs are not used directly.
        const Tensor mean = in[1].detach(), variance = in[2].detach();
        const Tensor y =
            instance_norm(in[0], mean, variance, affine ? in[3] : Tensor(), affine ? in[4] : Tensor(),
                          {.use_input_stats = input_stats, .momentum = 0.2});
        return std::vector{y, mean * 1, variance * 1};
    });
}

void add_instance_norm(Rows& rows)
{
    rows.composed("instance_norm").tolerance = 1e-5;
    instance_norm_sample(rows, "images", {n(), 3, 4, 5}, true, true, {0, 1, 4});
    instance_norm_sample(rows, "one dimension", {2, 3, n()}, true, false, {2, 8, 300});
    instance_norm_sample(rows, "running statistics", {n(), 3, 4, 2}, false, true, {0, 1, 4});
    instance_norm_sample(rows, "features by running statistics", {n(), 3}, false, true, {1, 4});
    rows.mistake("no image", ErrorKind::shape, "no image", [] { instance_norm(ones({2, 3})); });
    rows.mistake("one value", ErrorKind::shape, "one value", [] { instance_norm(ones({2, 3, 1})); });
    rows.mistake("weights", ErrorKind::shape, "weight has the shape ([2])", [] {
        instance_norm(ones({2, 3, 4}), {}, {}, ones({2}));
    });
    rows.mistake("no statistics", ErrorKind::argument, "no running statistics", [] {
        instance_norm(ones({2, 3, 4}), {}, {}, {}, {}, {.use_input_stats = false});
    });
}

} // namespace

void add_normalization(Rows& rows)
{
    add_layer_norm(rows);
    add_rms_norm(rows);
    add_batch_norm(rows);
    add_group_norm(rows);
    add_instance_norm(rows);
}

} // namespace reprise::test
