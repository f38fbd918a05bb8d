// Softmax, losses, normalisation.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

graph::Attributes along(std::int64_t dim) { return {{"dim", dim}}; }

void add_softmax(std::vector<OpInfo>& rows)
{
    using Function = Tensor (*)(const Tensor&, std::int64_t);
    const auto forward = [&](const char* name, Function f) {
        const auto call = [f](std::int64_t dim) {
            return [f, dim](const Inputs& in) { return std::vector{f(in[0], dim)}; };
        };
        rows.push_back(
            {.name = name,
             .samples = {{.what = "rows",
                          .arguments = {arg({n(), 8}, -5, 5)},
                          .call = call(1),
                          .sizes = {0, 1, 5, 70}},
                         {.what = "odd rows", .arguments = {arg({n(), 3, 5}, -5, 5)}, .call = call(-1)},
                         {.what = "a symbolic length",
                          .arguments = {arg({3, n()}, -5, 5)},
                          .call = call(1),
                          .sizes = {1, 7, 300}},
                         {.what = "columns", .arguments = {arg({4, n(), 6}, -5, 5)}, .call = call(0)}}});
    };
    forward("softmax", softmax);
    forward("log_softmax", log_softmax);
    rows[rows.size() - 2].mistakes = {
        {"no such dimension", [] { softmax(ones({2}), 1); }, ErrorKind::argument, "1"},
        {"integers", [] { softmax(arange(3), 0); }, ErrorKind::dtype, "a floating dtype"}};
    rows.back().mistakes = {
        {"no such dimension", [] { log_softmax(ones({2}), 1); }, ErrorKind::argument, "1"}};
    for (const graph::Op* op : {&ops::softmax_vjp_op, &ops::log_softmax_vjp_op})
        rows.push_back({.name = op->name,
                        .samples = {{.what = "rows",
                                     .arguments = {arg({n(), 8}), arg({n(), 8}, -2, 1)},
                                     .call = apply(*op, along(1))},
                                    {.what = "columns",
                                     .arguments = {arg({5, n(), 2}), arg({5, n(), 2}, -2, 1)},
                                     .call = apply(*op, along(0))}}});
}

void add_nll(std::vector<OpInfo>& rows)
{
    rows.push_back({.name = "nll",
                    .samples = {{.what = "rows",
                                 .arguments = {arg({n(), 6}), whole({n()}, 0, 5)},
                                 .call = apply(ops::nll_op, {{"ignore", std::int64_t{4}}}),
                                 .sizes = {0, 1, 5, 200}}}});
    rows.push_back(
        {.name = "nll_vjp",
         .samples = {{.what = "rows",
                      .arguments = {arg({n()}), whole({n()}, 0, 5)},
                      .call = apply(ops::nll_vjp_op, {{"classes", Dim(6)}, {"ignore", std::int64_t{4}}}),
                      .sizes = {0, 1, 5, 200}}}});
    OpInfo loss{.name = "nll_loss", .is_op = false}, entropy{.name = "cross_entropy", .is_op = false};
    for (const Reduction r : {Reduction::none, Reduction::sum, Reduction::mean}) {
        const auto sizes = r == Reduction::mean ? test::sizes({1, 5, 40}) : test::sizes({0, 1, 5, 40});
        const std::string what = r == Reduction::none ? "each" : r == Reduction::sum ? "sum" : "mean";
        entropy.samples.push_back(
            {.what = what,
             .arguments = {arg({n(), 6}, -3, 3), whole({n()}, 0, 5)},
             .call = [r](const Inputs& in) { return std::vector{cross_entropy(in[0], in[1], r)}; },
             .sizes = sizes});
        entropy.samples.push_back(
            {.what = what + " of pixels",
             .arguments = {arg({n(), 4, 2, 3}, -3, 3), whole({n(), 2, 3}, 0, 3)},
             .call = [r](const Inputs& in) { return std::vector{cross_entropy(in[0], in[1], r)}; },
             .sizes = sizes});
        loss.samples.push_back(
            {.what = what,
             .arguments = {arg({n(), 6}, -3, 0), whole({n()}, 0, 5)},
             .call = [r](const Inputs& in) { return std::vector{nll_loss(in[0], in[1], r)}; },
             .sizes = sizes});
    }
    entropy.mistakes = {
        {"a count of targets",
         [] {
             cross_entropy(ones({3, 4}), zeros({2}, {.dtype = i32}));
         },
         ErrorKind::shape, "[2]"},
        {"floating targets",
         [] {
             cross_entropy(ones({3, 4}), ones({3}));
         },
         ErrorKind::dtype, "(f32), class numbers are (i32)"},
        {"no classes", [] { cross_entropy(ones({3}), zeros({3}, {.dtype = i32})); }, ErrorKind::shape,
         "no classes"},
        {"integers",
         [] {
             cross_entropy(ones({3, 4}, {.dtype = i32}), zeros({3}, {.dtype = i32}));
         },
         ErrorKind::dtype, "a floating dtype"},
    };
    rows.insert(rows.end(), {loss, entropy});
    rows.push_back({.name = "mse_loss",
                    .is_op = false,
                    .samples = {{.what = "mean and sum",
                                 .arguments = {arg({n(), 3}), arg({n(), 3})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{mse_loss(in[0], in[1]),
                                                            mse_loss(in[0], in[1], Reduction::sum),
                                                            mse_loss(in[0], in[1], Reduction::none)};
                                     },
                                 .sizes = {1, 5, 40}}},
                    .mistakes = {{"shapes",
                                  [] {
                                      mse_loss(ones({3, 1}), ones({3}));
                                  },
                                  ErrorKind::shape, "[3, 1]"}}});
}

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
Sample layer_norm_vjp_sample(const graph::Op& op)
{
    const bool of_input = &op == &ops::layer_norm_vjp_op;
    std::vector<Argument> arguments = {arg({n(), 6}), arg({n(), 6}, -2, 3), arg({6}, 0.5, 2)};
    if (!of_input) arguments.pop_back();
    return {.what = "rows",
            .arguments = std::move(arguments),
            .call =
                [&op, of_input](const Inputs& in) {
                    const graph::Attributes eps = {{"eps", 1e-5}};
                    const Tensor numbers = zeros({in[1].size(1)}, {.dtype = in[1].dtype()});
                    const std::vector<Tensor> y =
                        graph::apply(ops::layer_norm_op, {in[1], numbers, numbers}, eps);
                    if (of_input) return graph::apply(op, {in[0], in[1], in[2], y[1], y[2]}, eps);
                    return graph::apply(op, {in[0], in[1], y[1], y[2]}, eps);
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
        rows.push_back({.name = op->name, .samples = {layer_norm_vjp_sample(*op)}, .tolerance = 1e-5});
}

void add_embedding(std::vector<OpInfo>& rows)
{
    const auto call = [](std::optional<std::int64_t> padding) {
        return [padding](const Inputs& in) { return std::vector{embedding(in[0], in[1], padding)}; };
    };
    rows.push_back(
        {.name = "embedding",
         .samples = {{.what = "texels",
                      .arguments = {whole({n()}, 0, 5), arg({6, 8})},
                      .call = call({}),
                      .sizes = {0, 1, 5, 600}},
                     {.what = "odd rows",
                      .arguments = {whole({2, n()}, 0, 5), arg({6, 5})},
                      .call = call({}),
                      .sizes = {0, 1, 5}},
                     {.what = "padding",
                      .arguments = {whole({n(), 3}, 0, 2), arg({3, 4})},
                      .call = call(-2),
                      .sizes = {1, 9},
                      .differentiable = false}, // its gradient leaves a row out: embedding_test.cpp
                     {.what = "any number of rows",
                      .arguments = {whole({20}, 0, 1), arg({n(), 4})},
                      .call = call({}),
                      .sizes = {2, 300}}},
         .mistakes = {{"no row numbers",
                       [] {
                           embedding(zeros({2}), ones({3, 4}));
                       },
                       ErrorKind::dtype, "(f32), row numbers are (i32)"},
                      {"a vector of weights", [] { embedding(zeros({2}, {.dtype = i32}), ones({3})); },
                       ErrorKind::shape, "[3]"},
                      {"no such padding",
                       [] {
                           embedding(zeros({2}, {.dtype = i32}), ones({3, 4}), 3);
                       },
                       ErrorKind::argument, "(3)"},
                      {"weights of truth values",
                       [] {
                           embedding(zeros({2}, {.dtype = i32}), ones({3, 4}, {.dtype = boolean}));
                       },
                       ErrorKind::dtype, "a floating dtype"}}});
    rows.push_back(
        {.name = "embedding_vjp",
         .samples = {
             {.what = "all rows",
              .arguments = {arg({n(), 8}), whole({n()}, 0, 5)},
              .call = apply(ops::embedding_vjp_op, {{"rows", Dim(6)}, {"padding", std::int64_t{-1}}}),
              .sizes = {0, 1, 5, 600}},
             {.what = "padding",
              .arguments = {arg({n(), 3}), whole({n()}, 0, 5)},
              .call = apply(ops::embedding_vjp_op, {{"rows", Dim(6)}, {"padding", std::int64_t{2}}})}}});
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
         .mistakes = {{"one value",
                       [] {
                           batch_norm(ones({1, 3, 1, 1}), {}, {}, {}, {});
                       },
                       ErrorKind::shape, "one value"},
                      {"channels",
                       [] {
                           batch_norm(ones({2, 3, 2, 2}), zeros({4}), ones({3}), {}, {});
                       },
                       ErrorKind::shape, "(3) channels"},
                      {"weights",
                       [] {
                           batch_norm(ones({2, 3, 2, 2}), {}, {}, ones({3, 1}), {});
                       },
                       ErrorKind::shape, "weight has the shape ([3, 1])"},
                      {"dtypes",
                       [] {
                           batch_norm(ones({2, 3}), {}, {}, ones({3}, {.dtype = f16}), {});
                       },
                       ErrorKind::dtype, "(f16)"},
                      {"no channels", [] { batch_norm(ones({3}), {}, {}, {}, {}); }, ErrorKind::shape,
                       "no channels"},
                      {"no statistics",
                       [] {
                           batch_norm(ones({2, 3}), {}, {}, {}, {}, {.training = false});
                       },
                       ErrorKind::argument, "no running statistics"},
                      {"integers",
                       [] {
                           batch_norm(ones({2, 3}, {.dtype = i32}), {}, {}, {}, {});
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

} // namespace

void add_losses(std::vector<OpInfo>& rows)
{
    add_softmax(rows);
    add_nll(rows);
    add_layer_norm(rows);
    add_embedding(rows);
    add_batch_norm(rows);
}

} // namespace reprise::test
