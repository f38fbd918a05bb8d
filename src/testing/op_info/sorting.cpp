// Sorting.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

std::vector<Tensor> both(const std::pair<Tensor, Tensor>& p) { return {p.first, p.second}; }

// Returns numbers many of which are equal.
Tensor coarse(const Tensor& x) { return floor(x * 3.0); }

void add_sort(Rows& rows)
{
    rows.op("sort");
    rows.sample("the last dimension", {arg({3, n()})}, {0, 1, 2, 7, 64, 65, 256, 257, 1300},
                [](const Inputs& in) { return sort(in[0]); });
    rows.sample("the first dimension, descending", {arg({n(), 2, 3})}, {0, 1, 5, 300},
                [](const Inputs& in) { return sort(in[0], 0, true); });
    // No gradients: elements are so close that a step of gradcheck would change their order.
    rows.forward("a known long one", {arg({n(), 700})}, {0, 1, 3},
                 [](const Inputs& in) { return sort(in[0], 1); });
    rows.sample("a known short one", {arg({n(), 5, 4})},
                [](const Inputs& in) { return sort(in[0], -2, true); });
    rows.forward("equal elements", {arg({2, n()})}, {1, 9, 400}, [](const Inputs& in) {
        auto all = both(sort(coarse(in[0])));
        for (const Tensor& t : both(sort(coarse(in[0]), 1, true))) all.push_back(t);
        return all;
    });
    rows.forward("i32", {whole({n(), 3}, -2147483648.0, 2147483647.0)}, {1, 6, 300}, [](const Inputs& in) {
        auto all = both(sort(in[0], 0));
        for (const Tensor& t : both(sort(in[0], 1, true))) all.push_back(t);
        return all;
    });
    rows.forward("bool and u8", {truth({n(), 3}), of(u8, arg({n()}, 0, 255))}, {1, 6, 300},
                 [](const Inputs& in) {
                     auto all = both(sort(in[0], 0));
                     for (const Tensor& t : both(sort(in[1], 0, true))) all.push_back(t);
                     return all;
                 });
    rows.sample("without dimensions", {arg({})}, [](const Inputs& in) { return sort(in[0]); });
    rows.mistake("no such dimension", ErrorKind::argument, "[sort]", [] { sort(ones({2, 3}), 2); });
    rows.mistake("an undefined tensor", ErrorKind::argument, "undefined", [] { sort(Tensor()); });

    rows.op("sort_vjp");
    rows.sample("of some of them", {arg({2, 3, n()}), fixed(arg({2, 7, n()}))}, [](const Inputs& in) {
        return graph::apply(ops::sort_vjp_op, {in[0], narrow(argsort(in[1], 1), 1, 0, 3)},
                            {{"dim", std::int64_t{1}}, {"size", Dim(7)}});
    });
    rows.sample("of all", {arg({2, n()}), fixed(arg({2, n()}))}, [](const Inputs& in) {
        return graph::apply(ops::sort_vjp_op, {in[0], argsort(in[1])},
                            {{"dim", std::int64_t{1}}, {"size", in[0].size(1)}});
    });

    rows.composed("msort");
    rows.sample("columns", {arg({n(), 3})}, [](const Tensor& x) { return msort(x); });

    rows.composed("argsort").differentiable = false;
    rows.sample("places", {arg({n(), 6})}, [](const Inputs& in) {
        return std::vector{argsort(in[0]), argsort(in[0], 0, true)};
    });
    rows.mistake("no such dimension", ErrorKind::argument, "[argsort]", [] { argsort(ones({2}), -2); });
}

void add_selections(Rows& rows)
{
    rows.composed("topk");
    rows.sample("the largest of long lines", {arg({2, n()})}, {5, 8, 300, 5000},
                [](const Inputs& in) { return topk(in[0], 5); });
    rows.sample("the least of short lines", {arg({n(), 9, 2})},
                [](const Inputs& in) { return topk(in[0], 4, {.dim = 1, .largest = false}); });
    rows.sample("more than a block of a known size", {arg({n(), 900})}, {0, 1, 2},
                [](const Inputs& in) { return topk(in[0], 100); });
    rows.sample("all and none", {arg({n(), 4})}, [](const Inputs& in) {
        auto out = both(topk(in[0], 4));
        for (const Tensor& t : both(topk(in[0], 0))) out.push_back(t);
        return out;
    });
    rows.mistake("more than there are", ErrorKind::shape, "[topk] So many elements (4)", [] {
        topk(ones({2, 3}), 4);
    });
    rows.mistake("less than none", ErrorKind::shape, "(-1)", [] { topk(ones({2, 3}), -1); });
    rows.mistake("no such dimension", ErrorKind::argument, "[topk]", [] { topk(ones({2}), 1, {.dim = 1}); });

    rows.composed("kthvalue");
    rows.sample("in the middle", {arg({n(), 7})}, [](const Inputs& in) {
        auto out = both(kthvalue(in[0], 3));
        for (const Tensor& t : both(kthvalue(in[0], 7, 1, true))) out.push_back(t);
        return out;
    });
    rows.sample("along a symbol", {arg({n(), 2})}, {2, 8, 300},
                [](const Inputs& in) { return kthvalue(in[0], 2, 0); });
    rows.mistake("counted from 0", ErrorKind::shape, "counted from 1", [] { kthvalue(ones({3}), 0); });
    rows.mistake("beyond the last", ErrorKind::shape, "[kthvalue]", [] { kthvalue(ones({3}), 4); });
    rows.mistake("no such dimension", ErrorKind::argument, "(1)", [] { kthvalue(ones({3}), 1, 1); });

    rows.composed("median");
    rows.sample("of lines", {arg({n(), 6})}, {1, 2, 5, 301}, [](const Inputs& in) {
        auto out = both(median(in[0], 1));
        for (const Tensor& t : both(median(in[0], 0, true))) out.push_back(t);
        return out;
    });
    rows.sample("of all", {arg({n(), 3})}, {1, 2, 7, 200}, [](const Inputs& in) { return median(in[0]); });
    rows.forward("of integers", {whole({n()}, -9, 9)}, {1, 2, 7, 300},
                 [](const Inputs& in) { return median(in[0], 0); });
    rows.mistake("of nothing", ErrorKind::shape, "in the middle", [] { median(ones({2, 0}), 1); });
    rows.mistake("no such dimension", ErrorKind::argument, "[median]", [] { median(ones({2}), 1); });
}

} // namespace

void add_sorting(Rows& rows)
{
    add_sort(rows);
    add_selections(rows);
}

} // namespace reprise::test
