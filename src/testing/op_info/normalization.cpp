// Normalisation.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

// Inputs: x, weight, bias, running mean, running variance.
Sample batch_norm_sample(const char* what, const Shape& x, bool training, bool affine,
                         std::vector<std::int64_t> sizes)
{
    return {.what = what,
            .arguments = {arg(x, -2, 2), arg({x[1]}, 0.5, 2), arg({x[1]}), fixed(arg({x[1]})),
                          fixed(arg({x[1]}, 0.5, 2))},
            .call =
                [=](const Inputs& in) {
                    // Assigned in training: not the inputs themselves.
                    const Tensor mean = in[3].detach(), variance = in[4].detach();
                    const Tensor y =
                        batch_norm(in[0], mean, variance, affine ? in[1] : Tensor(),
                                   affine ? in[2] : Tensor(), {.training = training, .momentum = 0.2});
                    return std::vector{y, mean * 1, variance * 1};
                },
            .sizes = std::move(sizes)};
}

// Channels by the symbolic size.
Sample update_sample(const char* what, Dim (*count)(const Dim& channels), std::vector<std::int64_t> sizes)
{
    return {.what = what,
            .arguments = {arg({n()}), arg({n()}, 0.5, 2), arg({n()}), arg({n()}, 0.5, 2)},
            .call =
                [count](const Inputs& in) {
                    return graph::apply(ops::batch_norm_update_op, in,
                                        {{"momentum", 0.2}, {"count", count(in[0].size(0))}});
                },
            .sizes = std::move(sizes)};
}

Sample layer_norm_sample(const char* what, Shape x, std::size_t dims, bool weight, bool bias,
                         std::vector<std::int64_t> sizes)
{
    const Shape parameter(x.end() - static_cast<std::ptrdiff_t>(dims), x.end());
    std::vector<Argument> arguments;
    arguments.reserve(3);
    arguments.push_back(arg(std::move(x), -2, 3));
    if (weight) arguments.push_back(arg(parameter, 0.5, 2));
    if (bias) arguments.push_back(arg(parameter));
    return {.what = what,
            .arguments = std::move(arguments),
            .call =
                [=](const Inputs& in) {
                    const Shape all = in[0].shape();
                    const Shape last(all.end() - static_cast<std::ptrdiff_t>(dims), all.end());
                    return std::vector{
                        layer_norm(in[0], last, weight ? in[1] : Tensor(), bias ? in.back() : Tensor())};
                },
            .sizes = std::move(sizes)};
}

// The statistics come from the op: mean and 1 / deviation of any other numbers belong to no x.
Sample layer_norm_vjp_sample(const graph::Op& op, bool centered)
{
    const bool of_input = &op == &ops::layer_norm_vjp_op;
    std::vector<Argument> arguments = {arg({n(), 6}), arg({n(), 6}, -2, 3), arg({6}, 0.5, 2)};
    if (!of_input) arguments.pop_back();
    return {.what = centered ? "rows" : "around 0",
            .arguments = std::move(arguments),
            .call =
                [&op, of_input, centered](const Inputs& in) {
                    const graph::Attributes same = {{"eps", 1e-5}, {"centered", std::int64_t{centered}}};
                    const Tensor numbers = zeros({in[1].size(1)}, {.dtype = in[1].dtype()});
                    const std::vector<Tensor> y =
                        graph::apply(ops::layer_norm_op, {in[1], numbers, numbers}, same);
                    if (of_input) return graph::apply(op, {in[0], in[1], in[2], y[1], y[2]}, same);
                    return graph::apply(op, {in[0], in[1], y[1], y[2]}, same);
                },
            .sizes = {0, 1, 5, 200}};
}

void add_layer_norm(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "layer_norm",
         .samples = {layer_norm_sample("rows of texels", {n(), 3, 8}, 1, true, true, {0, 1, 5, 70}),
                     layer_norm_sample("odd rows", {2, n(), 7}, 1, true, true, {1, 5}),
                     layer_norm_sample("two dimensions", {n(), 3, 5}, 2, true, false, {1, 4}),
                     layer_norm_sample("a bias alone", {n(), 12}, 1, false, true, {1, 4}),
                     layer_norm_sample("long rows", {n(), 600}, 1, false, false, {2, 3}),
                     layer_norm_sample("a symbolic length", {3, n()}, 1, true, true, {2, 9, 300})},
         .mistakes = {{"another shape",
                       [] {
                           layer_norm(ones({2, 3}), {4});
                       },
                       ErrorKind::shape, "([4]) is not the end of the shape ([2, 3])"},
                      {"no shape", [] { layer_norm(ones({3}), {}); }, ErrorKind::shape, "([])"},
                      {"a weight of another size",
                       [] {
                           layer_norm(ones({2, 3}), {3}, ones({2}));
                       },
                       ErrorKind::shape, "The weight's shape ([2])"},
                      {"a bias of another dtype",
                       [] {
                           layer_norm(ones({2, 3}), {3}, {}, ones({3}, {.dtype = f16}));
                       },
                       ErrorKind::dtype, "The bias's dtype (f16)"},
                      {"a negative eps",
                       [] {
                           layer_norm(ones({2, 3}), {3}, {}, {}, -1);
                       },
                       ErrorKind::argument, "(-1)"},
                      {"integers",
                       [] {
                           layer_norm(ones({2, 3}, {.dtype = i32}), {3});
                       },
                       ErrorKind::dtype, "a floating dtype"}},
         .tolerance = 1e-5});
    for (const graph::Op* op : {&ops::layer_norm_vjp_op, &ops::layer_norm_weight_vjp_op})
        rows.push_back({.name = op->name,
                        .samples = {layer_norm_vjp_sample(*op, true), layer_norm_vjp_sample(*op, false)},
                        .tolerance = 1e-5});
}

void add_batch_norm(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "batch_norm",
         .samples = {batch_norm_sample("training", {n(), 3, 4, 5}, true, true, {0, 1, 4, 9}),
                     batch_norm_sample("without weights", {n(), 3, 4, 5}, true, false, {1, 4}),
                     batch_norm_sample("no image", {n(), 5}, true, true, {0, 2, 5, 300}),
                     batch_norm_sample("one dimension", {3, 4, n()}, true, true, {0, 1, 7, 8, 130}),
                     batch_norm_sample("three dimensions", {2, 2, 3, n(), 4}, true, true, {0, 1, 3}),
                     batch_norm_sample("no channels", {n(), 0, 2}, true, true, {2})},
         .mistakes =
             {{"one value",
               [] {
                   batch_norm(ones({1, 3, 1, 1}), {}, {}, {}, {}, {.training = true});
               },
               ErrorKind::shape, "one value"},
              {"channels",
               [] {
                   batch_norm(ones({2, 3, 2, 2}), zeros({4}), ones({3}), {}, {}, {.training = true});
               },
               ErrorKind::shape, "(3) channels"},
              {"weights",
               [] {
                   batch_norm(ones({2, 3, 2, 2}), {}, {}, ones({3, 1}), {}, {.training = true});
               },
               ErrorKind::shape, "weight has the shape ([3, 1])"},
              {"dtypes",
               [] {
                   batch_norm(ones({2, 3}), {}, {}, ones({3}, {.dtype = f16}), {}, {.training = true});
               },
               ErrorKind::dtype, "(f16)"},
              {"no channels", [] { batch_norm(ones({3}), {}, {}, {}, {}, {.training = true}); },
               ErrorKind::shape, "no channels"},
              {"no statistics",
               [] {
                   batch_norm(ones({2, 3}), {}, {});
               },
               ErrorKind::argument, "no running statistics"},
              {"integers",
               [] {
                   batch_norm(ones({2, 3}, {.dtype = i32}), {}, {}, {}, {}, {.training = true});
               },
               ErrorKind::dtype, "a floating dtype"}},
         .tolerance = 1e-5});
    rows.push_back({.name = "batch_norm_evaluation",
                    .is_op = false,
                    .samples = {batch_norm_sample("images", {n(), 3, 4, 5}, false, true, {0, 1, 4}),
                                batch_norm_sample("rows", {n(), 3}, false, false, {0, 1, 4})},
                    .tolerance = 1e-5});
    const auto vjp = [](const char* what, const Shape& x, std::vector<std::int64_t> sizes) {
        return Sample{
            .what = what,
            .arguments = {arg(x), arg(x, -2, 2), arg({x[1]}), arg({x[1]}, 0.5, 2), arg({x[1]}, 0.5, 2)},
            .call = apply(ops::batch_norm_vjp_op, {{"eps", 1e-5}}),
            .sizes = std::move(sizes)};
    };
    rows.push_back(
        {.name = "batch_norm_vjp",
         .samples = {vjp("images", {n(), 3, 4, 5}, {0, 1, 4, 9}), vjp("rows", {n(), 5}, {0, 1, 300}),
                     vjp("one dimension", {3, 2, n()}, {0, 1, 7, 8, 130})},
         .tolerance = 1e-5});
    rows.push_back({.name = "batch_norm_update",
                    .differentiable = false,
                    .samples = {update_sample("channels", [](const Dim& n) { return n * 2; }, {0, 1, 5, 100}),
                                update_sample("an empty batch", [](const Dim&) { return Dim(0); }, {1, 3})}});
}

void add_rms_norm(std::vector<OpInfo>& rows)
{
    const auto sample = [](const char* what, Shape x, std::size_t dims, bool weight,
                           std::vector<std::int64_t> sizes) {
        std::vector<Argument> arguments = {arg(x, -2, 3)};
        if (weight) arguments.push_back(arg({x.end() - static_cast<std::ptrdiff_t>(dims), x.end()}, 0.5, 2));
        return Sample{.what = what,
                      .arguments = std::move(arguments),
                      .call =
                          [=](const Inputs& in) {
                              const Shape all = in[0].shape();
                              const Shape last(all.end() - static_cast<std::ptrdiff_t>(dims), all.end());
                              return std::vector{rms_norm(in[0], last, weight ? in[1] : Tensor(), 1e-5)};
                          },
                      .sizes = std::move(sizes)};
    };
    rows.push_back({.name = "rms_norm",
                    .is_op = false,
                    .samples = {sample("rows of texels", {n(), 3, 8}, 1, true, {0, 1, 5, 70}),
                                sample("odd rows", {2, n(), 7}, 1, true, {1, 5}),
                                sample("two dimensions", {n(), 3, 5}, 2, false, {1, 4}),
                                sample("a symbolic length", {3, n()}, 1, true, {2, 9, 300})},
                    .mistakes = {{"another shape",
                                  [] {
                                      rms_norm(ones({2, 3}), {4});
                                  },
                                  ErrorKind::shape, "[rms_norm] The normalized_shape ([4])"},
                                 {"a weight of another size",
                                  [] {
                                      rms_norm(ones({2, 3}), {3}, ones({2}));
                                  },
                                  ErrorKind::shape, "The weight's shape ([2])"},
                                 {"integers",
                                  [] {
                                      rms_norm(ones({2, 3}, {.dtype = i32}), {3});
                                  },
                                  ErrorKind::dtype, "a floating dtype"}},
                    .tolerance = 1e-5});
}

void add_group_norm(std::vector<OpInfo>& rows)
{
    const auto sample = [](const char* what, const Shape& x, std::int64_t groups, bool affine,
                           std::vector<std::int64_t> sizes) {
        std::vector<Argument> arguments = {arg(x, -2, 3)};
        if (affine) arguments.insert(arguments.end(), {arg({x[1]}, 0.5, 2), arg({x[1]})});
        return Sample{.what = what,
                      .arguments = std::move(arguments),
                      .call =
                          [=](const Inputs& in) {
                              return std::vector{group_norm(in[0], groups, affine ? in[1] : Tensor(),
                                                            affine ? in[2] : Tensor())};
                          },
                      .sizes = std::move(sizes)};
    };
    rows.push_back({.name = "group_norm",
                    .samples = {sample("images", {n(), 6, 4, 5}, 3, true, {0, 1, 4, 9}),
                                sample("without weights", {n(), 4, 3, 3}, 2, false, {1, 4}),
                                sample("no image", {n(), 6}, 2, true, {0, 2, 70}),
                                sample("one group", {2, 3, n()}, 1, true, {1, 7, 8, 300}),
                                sample("three dimensions", {2, 4, 3, n(), 4}, 4, true, {1, 3})},
                    .mistakes = {{"groups",
                                  [] {
                                      group_norm(ones({2, 5, 3}), 2);
                                  },
                                  ErrorKind::shape, "(5) channels do not make (2) groups"},
                                 {"one value",
                                  [] {
                                      group_norm(ones({1, 3, 1}), 3);
                                  },
                                  ErrorKind::shape, "one value for each group"},
                                 {"no groups",
                                  [] {
                                      group_norm(ones({2, 5, 3}), 0);
                                  },
                                  ErrorKind::argument, "(0)"},
                                 {"weights",
                                  [] {
                                      group_norm(ones({2, 4, 3}), 2, ones({2}));
                                  },
                                  ErrorKind::shape, "weight has the shape ([2])"},
                                 {"dtypes",
                                  [] {
                                      group_norm(ones({2, 4}), 2, {}, ones({4}, {.dtype = f16}));
                                  },
                                  ErrorKind::dtype, "(f16)"},
                                 {"a negative eps",
                                  [] {
                                      group_norm(ones({2, 4}), 2, {}, {}, -1);
                                  },
                                  ErrorKind::argument, "(-1)"}},
                    .tolerance = 1e-5});
    // The statistics come from the op: other numbers belong to no x.
    rows.push_back(
        {.name = "group_norm_vjp",
         .samples =
             {{.what = "images",
               .arguments = {arg({n(), 4, 6}), arg({n(), 4, 6}, -2, 3), arg({4}, 0.5, 2)},
               .call =
                   [](const Inputs& in) {
                       const graph::Attributes same = {{"groups", Dim(2)}, {"eps", 1e-5}};
                       const Tensor numbers = zeros({4}, {.dtype = in[1].dtype()});
                       const std::vector<Tensor> y =
                           graph::apply(ops::group_norm_op, {in[1], numbers, numbers}, same);
                       return graph::apply(ops::group_norm_vjp_op, {in[0], in[1], in[2], y[1], y[2]}, same);
                   },
               .sizes = {0, 1, 5, 70}}},
         .tolerance = 1e-5});
}

// Inputs: x, running mean, running variance, and where affine weight and bias.
Sample instance_norm_sample(const char* what, const Shape& x, bool input_stats, bool affine,
                            std::vector<std::int64_t> sizes)
{
    std::vector<Argument> arguments = {arg(x, -2, 2), fixed(arg({x[1]})), fixed(arg({x[1]}, 0.5, 2))};
    if (affine) arguments.insert(arguments.end(), {arg({x[1]}, 0.5, 2), arg({x[1]})});
    return {.what = what,
            .arguments = std::move(arguments),
            .call =
                [=](const Inputs& in) {
                    // Assigned: not the inputs themselves.
                    const Tensor mean = in[1].detach(), variance = in[2].detach();
                    const Tensor y = instance_norm(in[0], mean, variance, affine ? in[3] : Tensor(),
                                                   affine ? in[4] : Tensor(),
                                                   {.use_input_stats = input_stats, .momentum = 0.2});
                    return std::vector{y, mean * 1, variance * 1};
                },
            .sizes = std::move(sizes)};
}

void add_instance_norm(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "instance_norm",
         .is_op = false,
         .samples = {instance_norm_sample("images", {n(), 3, 4, 5}, true, true, {0, 1, 4}),
                     instance_norm_sample("one dimension", {2, 3, n()}, true, false, {2, 8, 300}),
                     instance_norm_sample("running statistics", {n(), 3, 4, 2}, false, true, {0, 1, 4}),
                     instance_norm_sample("features by running statistics", {n(), 3}, false, true, {1, 4})},
         .mistakes = {{"no image",
                       [] {
                           instance_norm(ones({2, 3}));
                       },
                       ErrorKind::shape, "no image"},
                      {"one value",
                       [] {
                           instance_norm(ones({2, 3, 1}));
                       },
                       ErrorKind::shape, "one value"},
                      {"weights",
                       [] {
                           instance_norm(ones({2, 3, 4}), {}, {}, ones({2}));
                       },
                       ErrorKind::shape, "weight has the shape ([2])"},
                      {"no statistics",
                       [] {
                           instance_norm(ones({2, 3, 4}), {}, {}, {}, {}, {.use_input_stats = false});
                       },
                       ErrorKind::argument, "no running statistics"}},
         .tolerance = 1e-5});
}

} // namespace

void add_normalization(std::vector<OpInfo>& rows)
{
    add_layer_norm(rows);
    add_rms_norm(rows);
    add_batch_norm(rows);
    add_group_norm(rows);
    add_instance_norm(rows);
}

} // namespace reprise::test
