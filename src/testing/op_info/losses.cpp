// Softmax, losses, embedding.
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
         ErrorKind::dtype, "(f32), it must be i32 or i64"},
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
                       ErrorKind::dtype, "(f32), it must be i32 or i64"},
                      {"a vector of weights", [] { embedding(zeros({2}, {.dtype = i32}), ones({3})); },
                       ErrorKind::shape, "[3]"},
                      {"no such padding",
                       [] {
                           embedding(zeros({2}, {.dtype = i32}), ones({3, 4}), 3);
                       },
                       ErrorKind::argument, "(3)"}}});
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

} // namespace

void add_losses(std::vector<OpInfo>& rows)
{
    add_softmax(rows);
    add_nll(rows);
    add_embedding(rows);
}

} // namespace reprise::test
