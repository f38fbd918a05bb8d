// Reading and writing by indices; sorting.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

Tensor indices(std::int64_t n) { return zeros({n}, {.dtype = i32}); }

void add_by_index(Rows& rows)
{
    rows.composed("index_select");
    rows.sample("rows and columns", {arg({n(), 4, 3}), whole({5}, 0, 2)}, [](const Inputs& in) {
        return std::vector{index_select(in[0], 1, in[1]), index_select(in[0], -1, in[1])};
    });
    rows.sample("so many indices", {arg({4, 3}), whole({n()}, 0, 3)},
                [](const Inputs& in) { return index_select(in[0], 0, in[1]); });
    rows.forward("integers", {whole({n(), 4}, -99, 99), whole({3}, 0, 3)},
                 [](const Inputs& in) { return index_select(in[0], 1, in[1]); });
    rows.mistake("a matrix of indices", ErrorKind::shape, "a vector", [] {
        index_select(ones({3}), 0, zeros({1, 1}, {.dtype = i32}));
    });
    rows.mistake("floats for indices", ErrorKind::dtype, "must be i32 or i64",
                 [] { index_select(ones({3}), 0, ones({1})); });
    rows.mistake("no such dimension", ErrorKind::argument, "1",
                 [] { index_select(ones({3}), 1, indices(1)); });

    rows.composed("index_add");
    rows.sample(
        "along the middle", {arg({2, 4, n()}), whole({5}, 0, 3), arg({2, 5, n()})}, [](const Inputs& in) {
            return std::vector{index_add(in[0], 1, in[1], in[2]), index_add(in[0], 1, in[1], in[2], -0.5)};
        });
    rows.mistake("a source of another shape", ErrorKind::shape, "[2, 2]", [] {
        index_add(ones({3, 2}), 0, indices(1), ones({2, 2}));
    });
    rows.mistake("a source of another dtype", ErrorKind::dtype, "i32",
                 [] { index_add(ones({3}), 0, indices(1), zeros({1}, {.dtype = i32})); });

    rows.composed("gather");
    rows.sample("along each dimension",
                {arg({n(), 3, 4}), whole({n(), 2, 4}, 0, 2), whole({n(), 3, 5}, 0, 3)}, [](const Inputs& in) {
                    return std::vector{gather(in[0], 1, in[1]), gather(in[0], -1, in[2])};
                });
    rows.sample("of unknown size", {arg({3, n()}), whole({3, n()}, 0, 2)},
                [](const Inputs& in) { return gather(in[0], 0, in[1]); });
    rows.forward("integers", {whole({n(), 4}, -99, 99), whole({n(), 2}, 0, 3)},
                 [](const Inputs& in) { return gather(in[0], 1, in[1]); });
    rows.mistake("an index of another rank", ErrorKind::shape, "[2]", [] {
        gather(ones({3, 2}), 0, indices(2));
    });
    rows.mistake("an index that is larger beside", ErrorKind::shape, "does not lie inside", [] {
        gather(ones({3, 2}), 0, zeros({3, 3}, {.dtype = i32}));
    });
    rows.mistake("floats for indices", ErrorKind::dtype, "must be i32 or i64",
                 [] { gather(ones({3}), 0, ones({1})); });

    rows.composed("scatter_add");
    rows.sample("along each dimension", {arg({n(), 3}), whole({n(), 5}, 0, 2), arg({n(), 6})},
                [](const Inputs& in) { return scatter_add(in[0], 1, in[1], in[2]); });
    rows.sample("rows", {arg({4, n()}), whole({6, n()}, 0, 3), arg({6, n()})},
                [](const Inputs& in) { return scatter_add(in[0], 0, in[1], in[2]); });
    rows.mistake("a source that is too small", ErrorKind::shape, "does not cover",
                 [] { scatter_add(ones({3}), 0, indices(2), ones({1})); });

    rows.composed("scatter");
    rows.sample("the last wins", {arg({n(), 3}), whole({n(), 5}, 0, 2), arg({n(), 5})}, [](const Inputs& in) {
        return std::vector{scatter(in[0], 1, in[1], in[2]), scatter(in[0], 1, in[1], 0.5)};
    });
    rows.forward("integers", {whole({4, n()}, -9, 9), whole({2, n()}, 0, 3), whole({2, n()}, -9, 9)},
                 [](const Inputs& in) { return scatter(in[0], 0, in[1], in[2]); });
    rows.mistake("a source of another dtype", ErrorKind::dtype, "i32",
                 [] { scatter(ones({3}), 0, indices(1), zeros({1}, {.dtype = i32})); });

    rows.op("last_positions").differentiable = false;
    rows.sample("of each row", {whole({n()}, -1, 5)}, {0, 1, 7, 700},
                apply(ops::last_positions_op, {{"rows", Dim(5)}}));

    rows.composed("take");
    rows.sample("by flat numbers", {arg({n(), 4}), whole({2, 3}, 0, 3)}, {1, 5},
                [](const Inputs& in) { return take(in[0], in[1]); });

    rows.composed("one_hot").differentiable = false;
    rows.sample("of classes", {whole({n(), 2}, 0, 3)}, [](const Inputs& in) { return one_hot(in[0], 4); });
    rows.mistake("no classes", ErrorKind::argument, "0", [] { one_hot(indices(1), 0); });
}

void add_orders(Rows& rows)
{
    rows.composed("select");
    rows.sample("of a matrix", {arg({n(), 4, 3})}, [](const Inputs& in) {
        return std::vector{select(in[0], 1, 2), select(in[0], -1, -1)};
    });
    rows.mistake("an index outside", ErrorKind::shape, "(3)", [] { select(ones({3}), 0, 3); });
    rows.mistake("an index before the first", ErrorKind::shape, "(-4)", [] { select(ones({3}), 0, -4); });

    rows.composed("slice");
    rows.sample("by steps", {arg({n(), 7})}, {2, 3, 8}, [](const Inputs& in) {
        return std::vector{slice(in[0], 1, {.start = 1, .step = 2}),
                           slice(in[0], 1, {.start = -4}),
                           slice(in[0], 1, {.end = -2, .step = 3}),
                           slice(in[0], 1, {.start = 9}),
                           slice(in[0], 0, {.step = 2}),
                           slice(in[0], 0, {.start = -2})};
    });
    rows.mistake("a step back", ErrorKind::argument, "flip", [] { slice(ones({3}), 0, {.step = -1}); });

    rows.composed("repeat");
    rows.sample("copies of the whole", {arg({n(), 3})}, [](const Inputs& in) {
        return std::vector{repeat(in[0], {2, 1}), repeat(in[0], {2, 1, 3}), repeat(in[0], {0, 1})};
    });
    rows.mistake("too few", ErrorKind::argument, "[3, 2]", [] { repeat(ones({3, 2}), {2}); });
    rows.mistake("a negative number", ErrorKind::shape, "-1", [] { repeat(ones({3}), {-1}); });

    rows.composed("repeat_interleave");
    rows.sample("each element", {arg({n(), 3})}, [](const Inputs& in) {
        return std::vector{repeat_interleave(in[0], 2, 0), repeat_interleave(in[0], 3, -1)};
    });
    rows.mistake("a negative number", ErrorKind::argument, "-1", [] { repeat_interleave(ones({3}), -1, 0); });

    rows.composed("roll");
    rows.sample("forward, back and around", {arg({n(), 4})}, [](const Inputs& in) {
        return std::vector{roll(in[0], 1, 1), roll(in[0], -1, 0), roll(in[0], 7, 0)};
    });

    rows.composed("axes");
    rows.sample("under other names", {arg({n(), 3, 4})}, [](const Inputs& in) {
        return std::vector{movedim(in[0], 0, -1), movedim(in[0], 2, 1), swapaxes(in[0], 0, 2),
                           expand_dims(in[0], 1), view(in[0], {-1, 12})};
    });
}

void add_products_by_name(Rows& rows)
{
    rows.composed("matrix_products");
    rows.sample("of two", {arg({n(), 4}), arg({4, 3}), arg({4}), arg({n()})}, [](const Inputs& in) {
        return std::vector{
            mm(in[0], in[1]),
            mv(in[0], in[2]),
            dot(in[2], in[2] * 2),
            outer(in[3], in[2]),
            addmm(ones({3}, {.dtype = in[0].dtype(), .device = in[0].device()}), in[0], in[1], 0.5, 2),
            addmm(in[0], in[0], matmul(in[1], transpose(in[1], 0, 1)), 0)};
    });
    rows.sample("batches", {arg({n(), 2, 4}), arg({n(), 4, 3})},
                [](const Inputs& in) { return bmm(in[0], in[1]); });
    rows.mistake("a vector", ErrorKind::shape, "[3]", [] { mm(ones({3}), ones({3, 1})); });
    rows.mistake("other batches", ErrorKind::shape, "equally many", [] {
        bmm(ones({1, 2, 3}), ones({2, 3, 2}));
    });
    rows.mistake("matrices", ErrorKind::shape, "a vector", [] { dot(ones({2, 2}), ones({2})); });

    rows.composed("diagonal");
    rows.sample("of matrices", {arg({n(), 4, 3})}, [](const Inputs& in) {
        return std::vector{diagonal(in[0], 0, 1, 2), diagonal(in[0], 1, -2, -1), diagonal(in[0], -2, 1, 2),
                           diagonal(in[0], 5, 1, 2)};
    });
    rows.sample("of unknown size", {arg({n(), n()})}, [](const Inputs& in) {
        return std::vector{diagonal(in[0]), trace(in[0])};
    });
    rows.mistake("one dimension twice", ErrorKind::argument, "are one", [] {
        diagonal(ones({2, 2}), 0, 1, -1);
    });

    rows.composed("einsum");
    rows.sample("products, sums and diagonals", {arg({n(), 2, 3}), arg({n(), 3, 4}), arg({2, 4})},
                [](const Inputs& in) {
                    return std::vector{einsum("bij,bjk->bik", {in[0], in[1]}),
                                       einsum("bij,bjk", {in[0], in[1]}),
                                       einsum("bij->jb", {in[0]}),
                                       einsum("bij,bjk,ik->b", {in[0], in[1], in[2]}),
                                       einsum("ik,jl->ijkl", {in[2], in[2]}),
                                       einsum("bij,bij->", {in[0], in[0]})};
                });
    rows.sample("the trace", {arg({n(), n()}), arg({n()})}, [](const Inputs& in) {
        return std::vector{einsum("ii->i", {in[0]}), einsum("ii", {in[0]}),
                           einsum("i,ij,j", {in[1], in[0], in[1]})};
    });
    rows.mistake("operands missing", ErrorKind::argument, "(2) operands", [] {
        einsum("ij,jk", {ones({2, 2})});
    });
    rows.mistake("another rank", ErrorKind::shape, "[2]", [] { einsum("ij->i", {ones({2})}); });
    rows.mistake("sizes that differ", ErrorKind::shape, "(j)", [] {
        einsum("ij,jk->ik", {ones({2, 3}), ones({2, 2})});
    });
    rows.mistake("a letter in the result only", ErrorKind::argument, "(k)", [] {
        einsum("ij->k", {ones({2, 2})});
    });
}

} // namespace

void add_indexing(Rows& rows)
{
    add_by_index(rows);
    add_orders(rows);
    add_products_by_name(rows);
}

} // namespace reprise::test
