// Numbers drawn from distributions.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

void add_draws(Rows& rows)
{
    rows.op("random_integers").differentiable = false;
    rows.sample("of a few and of many", {whole({n(), 3}, 0, 9)}, {0, 1, 7, 300}, [](const Inputs& in) {
        reseed();
        return std::vector{randint_like(in[0], -3, 5), randint_like(in[0], -2147483648LL, 2147483647LL)};
    });
    rows.mistake("none", ErrorKind::argument, "[randint] There are no integers", [] { randint(3, 3, {2}); });
    rows.mistake("too large", ErrorKind::argument, "32 bits", [] { randint(1LL << 40, {2}); });
    rows.mistake("a dtype too narrow", ErrorKind::argument, "(299)",
                 [] { randint(0, 300, {2}, {.dtype = u8}); });
    rows.mistake("a negative size", ErrorKind::shape, "[randint]", [] { randint(3, {-1}); });

    rows.composed("randperm").differentiable = false;
    rows.sample("of so many", {arg({n()})}, {0, 1, 7, 300}, [](const Inputs& in) {
        reseed();
        return randperm(in[0].size(0));
    });
    rows.mistake("bool", ErrorKind::dtype, "[randperm]", [] { randperm(3, {.dtype = boolean}); });
    rows.mistake("a negative size", ErrorKind::shape, "[randperm]", [] { randperm(-1); });

    rows.composed("bernoulli").differentiable = false;
    rows.sample("by tensors and numbers", {arg({n(), 3}, 0, 1), whole({n()}, 0, 9)}, {0, 1, 7, 300},
                [](const Inputs& in) {
                    reseed();
                    return std::vector{bernoulli(in[0]), bernoulli(in[0], 0.25), bernoulli(in[1], 0.5)};
                });
    rows.mistake("no probability", ErrorKind::argument, "(1.5)", [] { bernoulli(ones({2}), 1.5); });
    rows.mistake("integers", ErrorKind::dtype, "[bernoulli]", [] { bernoulli(arange(3)); });

    rows.composed("normal").differentiable = false;
    rows.sample("by tensors and numbers", {arg({n(), 3}), arg({3}, 0.5, 2)}, {0, 1, 7, 300},
                [](const Inputs& in) {
                    reseed();
                    return std::vector{normal(in[0], in[1]), normal(in[0], 2), normal(1, in[1])};
                });
    rows.mistake("a negative deviation", ErrorKind::argument, "(-1)", [] { normal(0, -1, {2}); });
    rows.mistake("shapes that do not fit", ErrorKind::shape, "[normal]",
                 [] { normal(ones({2}), ones({3})); });
    rows.mistake("integers", ErrorKind::dtype, "[normal]", [] { normal(arange(3)); });

    rows.composed("multinomial").differentiable = false;
    rows.sample("without replacement", {arg({n(), 5}, 0.1, 1)}, {0, 1, 7, 300}, [](const Inputs& in) {
        reseed();
        return multinomial(in[0], 3);
    });
    rows.sample("with replacement", {arg({n(), 5}, 0, 1)}, {0, 1, 7, 300}, [](const Inputs& in) {
        reseed();
        return multinomial(in[0], 8, true);
    });
    rows.sample("of a vector", {arg({n()}, 0.1, 1)}, {2, 7, 300}, [](const Inputs& in) {
        reseed();
        return std::vector{multinomial(in[0], 2), multinomial(in[0], 9, true)};
    });
    rows.mistake("more than there are", ErrorKind::shape, "without replacement",
                 [] { multinomial(ones({3}), 4); });
    rows.mistake("three dimensions", ErrorKind::shape, "[N, C]", [] { multinomial(ones({2, 2, 2}), 1); });
    rows.mistake("integers", ErrorKind::dtype, "[multinomial]", [] { multinomial(arange(3), 1); });
    rows.mistake("none", ErrorKind::shape, "(0)", [] { multinomial(ones({3}), 0, true); });
}

void add_drops(Rows& rows)
{
    rows.composed("dropout1d_2d_3d");
    rows.sample("of channels", {arg({n(), 3, 4}), arg({n(), 3, 2, 2}), arg({2, n(), 2, 1, 2})}, {0, 1, 5},
                [](const Inputs& in) {
                    reseed();
                    return std::vector{dropout1d(in[0]), dropout2d(in[0], 0.3), dropout2d(in[1]),
                                       dropout3d(in[2], 0.9)};
                });
    rows.sample("without a batch, and of nothing", {arg({n(), 4}), arg({n(), 2, 2, 3})}, {0, 1, 5},
                [](const Inputs& in) {
                    reseed();
                    return std::vector{dropout1d(in[0]), dropout3d(in[1]), dropout1d(in[0], 0),
                                       dropout1d(in[0], 0.5, false), dropout1d(in[0], 1)};
                });
    rows.mistake("a vector", ErrorKind::shape, "[dropout1d]", [] { dropout1d(ones({3})); });
    rows.mistake("no probability", ErrorKind::argument, "(-1)", [] { dropout2d(ones({1, 1, 1}), -1); });
    rows.mistake("integers", ErrorKind::dtype, "[dropout3d]", [] {
        dropout3d(zeros({1, 1, 1, 1}, {.dtype = i32}));
    });

    rows.composed("alpha_dropout");
    rows.sample("half, all and nothing", {arg({n(), 3})}, {0, 1, 7, 300}, [](const Inputs& in) {
        reseed();
        return std::vector{alpha_dropout(in[0], 0.5, true), alpha_dropout(in[0], 1, true),
                           alpha_dropout(in[0], 0.2, false)};
    });
    rows.mistake("no probability", ErrorKind::argument, "[alpha_dropout]",
                 [] { alpha_dropout(ones({3}), 2, true); });
}

} // namespace

void add_random(Rows& rows)
{
    add_draws(rows);
    add_drops(rows);
}

} // namespace reprise::test
