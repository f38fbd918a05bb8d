// Softmax, losses, normalisation.
#include "op_info_tools.hpp"

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
                                 .call = apply(ops::nll_op),
                                 .sizes = {0, 1, 5, 200}}}});
    rows.push_back({.name = "nll_vjp",
                    .samples = {{.what = "rows",
                                 .arguments = {arg({n()}), whole({n()}, 0, 5)},
                                 .call = apply(ops::nll_vjp_op, {{"classes", Dim(6)}}),
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
    add_batch_norm(rows);
}

} // namespace reprise::test
