// Softmax, losses, embedding.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

graph::Attributes along(std::int64_t dim) { return {{"dim", dim}}; }

void add_softmax(Rows& rows)
{
    using Function = Tensor (*)(const Tensor&, std::int64_t);
    const auto forward = [&](const char* name, Function f) {
        const auto along_dim = [f](std::int64_t dim) {
            return [f, dim](const Tensor& x) { return f(x, dim); };
        };
        rows.op(name);
        rows.sample("rows", {arg({n(), 8}, -5, 5)}, {0, 1, 5, 70}, along_dim(1));
        rows.sample("odd rows", {arg({n(), 3, 5}, -5, 5)}, along_dim(-1));
        rows.sample("a symbolic length", {arg({3, n()}, -5, 5)}, {1, 7, 300}, along_dim(1));
        rows.sample("columns", {arg({4, n(), 6}, -5, 5)}, along_dim(0));
    };
    forward("softmax", softmax);
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { softmax(ones({2}), 1); });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { softmax(arange(3), 0); });
    forward("log_softmax", log_softmax);
    rows.mistake("no such dimension", ErrorKind::argument, "1", [] { log_softmax(ones({2}), 1); });
    for (const graph::Op* op : {&ops::softmax_vjp_op, &ops::log_softmax_vjp_op}) {
        rows.op(op->name);
        rows.sample("rows", {arg({n(), 8}), arg({n(), 8}, -2, 1)}, apply(*op, along(1)));
        rows.sample("columns", {arg({5, n(), 2}), arg({5, n(), 2}, -2, 1)}, apply(*op, along(0)));
    }
}

void add_nll(Rows& rows)
{
    rows.op("nll");
    rows.sample("rows", {arg({n(), 6}), whole({n()}, 0, 5)}, {0, 1, 5, 200},
                apply(ops::nll_op, {{"ignore", std::int64_t{4}}}));

    rows.op("nll_vjp");
    rows.sample("rows", {arg({n()}), whole({n()}, 0, 5)}, {0, 1, 5, 200},
                apply(ops::nll_vjp_op, {{"classes", Dim(6)}, {"ignore", std::int64_t{4}}}));

    const auto sizes = [](Reduction r) {
        return r == Reduction::mean ? std::vector<std::int64_t>{1, 5, 40}
                                    : std::vector<std::int64_t>{0, 1, 5, 40};
    };
    rows.composed("nll_loss");
    for (const auto& [what, r] : reductions)
        rows.sample(what, {arg({n(), 6}, -3, 0), whole({n()}, 0, 5)}, sizes(r),
                    [r = r](const Tensor& x, const Tensor& target) { return nll_loss(x, target, r); });

    rows.composed("cross_entropy");
    for (const auto& [what, r] : reductions) {
        const auto call = [r = r](const Tensor& x, const Tensor& target) {
            return cross_entropy(x, target, r);
        };
        rows.sample(what, {arg({n(), 6}, -3, 3), whole({n()}, 0, 5)}, sizes(r), call);
        rows.sample(what + std::string(" of pixels"), {arg({n(), 4, 2, 3}, -3, 3), whole({n(), 2, 3}, 0, 3)},
                    sizes(r), call);
    }
    rows.mistake("a count of targets", ErrorKind::shape, "[2]", [] {
        cross_entropy(ones({3, 4}), zeros({2}, {.dtype = i32}));
    });
    rows.mistake("floating targets", ErrorKind::dtype, "(f32), it must be i32 or i64", [] {
        cross_entropy(ones({3, 4}), ones({3}));
    });
    rows.mistake("no classes", ErrorKind::shape, "no classes",
                 [] { cross_entropy(ones({3}), zeros({3}, {.dtype = i32})); });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        cross_entropy(ones({3, 4}, {.dtype = i32}), zeros({3}, {.dtype = i32}));
    });

    rows.composed("mse_loss");
    rows.sample("mean and sum", {arg({n(), 3}), arg({n(), 3})}, {1, 5, 40}, [](const Inputs& in) {
        return std::vector{mse_loss(in[0], in[1]), mse_loss(in[0], in[1], Reduction::sum),
                           mse_loss(in[0], in[1], Reduction::none)};
    });
    rows.mistake("shapes", ErrorKind::shape, "[3, 1]", [] { mse_loss(ones({3, 1}), ones({3})); });
}

void add_embedding(Rows& rows)
{
    const auto call = [](std::optional<std::int64_t> padding) {
        return [padding](const Inputs& in) { return std::vector{embedding(in[0], in[1], padding)}; };
    };

    rows.op("embedding");
    rows.sample("texels", {whole({n()}, 0, 5), arg({6, 8})}, {0, 1, 5, 600}, call({}));
    rows.sample("odd rows", {whole({2, n()}, 0, 5), arg({6, 5})}, {0, 1, 5}, call({}));
    // The gradient skips the padding row; tests/ops/embedding.cpp tests that.
    rows.forward("padding", {whole({n(), 3}, 0, 2), arg({3, 4})}, {1, 9}, call(-2));
    rows.sample("any number of rows", {whole({20}, 0, 1), arg({n(), 4})}, {2, 300}, call({}));
    rows.mistake("no row numbers", ErrorKind::dtype, "(f32), it must be i32 or i64", [] {
        embedding(zeros({2}), ones({3, 4}));
    });
    rows.mistake("a vector of weights", ErrorKind::shape, "[3]",
                 [] { embedding(zeros({2}, {.dtype = i32}), ones({3})); });
    rows.mistake("no such padding", ErrorKind::argument, "(3)", [] {
        embedding(zeros({2}, {.dtype = i32}), ones({3, 4}), 3);
    });

    rows.op("embedding_vjp");
    rows.sample("all rows", {arg({n(), 8}), whole({n()}, 0, 5)}, {0, 1, 5, 600},
                apply(ops::embedding_vjp_op, {{"rows", Dim(6)}, {"padding", std::int64_t{-1}}}));
    rows.sample("padding", {arg({n(), 3}), whole({n()}, 0, 5)},
                apply(ops::embedding_vjp_op, {{"rows", Dim(6)}, {"padding", std::int64_t{2}}}));
}

} // namespace

void add_losses(Rows& rows)
{
    add_softmax(rows);
    add_nll(rows);
    add_embedding(rows);
}

} // namespace reprise::test
