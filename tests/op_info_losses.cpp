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

Sample batch_norm_sample(const char* what, bool training, bool affine)
{
    return {.what = what,
            .arguments = {arg({n(), 3, 4, 5}, -2, 2), fixed(arg({3})), fixed(arg({3}, 0.5, 2)),
                          arg({3}, 0.5, 2), arg({3})},
            .call =
                [=](const Inputs& in) {
                    // Assigned in training: not the inputs themselves.
                    const Tensor mean = in[1].detach(), variance = in[2].detach();
                    const Tensor y =
                        batch_norm(in[0], mean, variance, affine ? in[3] : Tensor(),
                                   affine ? in[4] : Tensor(), {.training = training, .momentum = 0.2});
                    return std::vector{y, mean * 1, variance * 1};
                },
            .sizes = {1, 4, 9}};
}

} // namespace

void add_losses(std::vector<OpInfo>& rows)
{
    add_softmax(rows);
    add_nll(rows);
    rows.push_back(
        {.name = "batch_norm",
         .is_op = false,
         .samples = {batch_norm_sample("training", true, true), batch_norm_sample("evaluation", false, true),
                     batch_norm_sample("without weights", true, false)},
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
                      {"no channels", [] { batch_norm(ones({3}), {}, {}, {}, {}); }, ErrorKind::shape,
                       "no channels"}},
         .tolerance = 1e-5});
}

} // namespace reprise::test
