// Ops with sizes and indices that are computed on the device.
#include "testing/op_info/rows.hpp"

namespace reprise::test {

namespace {

Tensor i32_of(std::vector<std::int32_t> v)
{
    const auto count = static_cast<std::int64_t>(v.size());
    return from_vector(v, {count});
}

void add_shifts(Rows& rows)
{
    rows.op("dynamic_shift");
    rows.sample(
        "rows of vectors", {arg({n(), 5, 3}), whole({n()}, -6, 6)},
        apply(ops::dynamic_shift_op, {{"length", Dim(4)}, {"sign", std::int64_t{1}}, {"value", 0.5}}));
    rows.sample(
        "whole texels", {arg({2, n(), 8}), whole({2}, -2, 3)}, [](const Tensor& x, const Tensor& start) {
            return graph::apply1(ops::dynamic_shift_op, {x, start},
                                 {{"length", x.size(1) + 2}, {"sign", std::int64_t{-1}}, {"value", -1.0}});
        });
    rows.sample("one start", {arg({n() + 2, 3}), whole({}, 1, 2)}, [](const Tensor& x, const Tensor& start) {
        return graph::apply1(ops::dynamic_shift_op, {x, start},
                             {{"length", x.size(0) - 1}, {"sign", std::int64_t{1}}, {"value", 0.0}});
    });
    rows.forward("numbers of one bit, two and four bytes",
                 {truth({3, n()}), of(f16, arg({3, n()})), whole({3, n()}, -9, 9), whole({3}, -1, 2)},
                 [](const Inputs& in) {
                     std::vector<Tensor> out;
                     for (std::size_t i = 0; i < 3; ++i)
                         out.push_back(dynamic_pad(in[i], in[3], in[i].size(1) + 1, 1));
                     return out;
                 });

    rows.composed("dynamic_mask");
    rows.sample("lengths of rows", {arg({3, n(), 2}), whole({3}, -1, 9)},
                [](const Tensor& x, const Tensor& lengths) { return dynamic_mask(x, lengths, -5); });
    rows.sample("a length for each row of two dimensions", {arg({n(), 2, 5}), whole({n(), 2}, 0, 5)},
                [](const Tensor& x, const Tensor& lengths) { return dynamic_mask(x, lengths); });
    rows.sample("a mask that broadcasts", {arg({n(), 4}), truth({4})},
                [](const Tensor& x, const Tensor& mask) { return dynamic_mask(x, mask, 2); });
    rows.sample(
        "a length that the host knows", {arg({2, n()}), fixed(arg({n()}))},
        [](const Tensor& x, const Tensor& y) { return dynamic_mask(x, -1, floor_div(y.size(0), 2), 1); });
    rows.mistake("lengths that are no integers", ErrorKind::dtype, "it must be i32 or i64", [] {
        dynamic_mask(ones({2, 3}), ones({2}));
    });
    rows.mistake("another number of rows", ErrorKind::shape, "[3]", [] {
        dynamic_mask(ones({2, 3}), i32_of({1, 2, 3}));
    });
    rows.mistake("nothing to mask", ErrorKind::shape, "a dimension must follow", [] {
        dynamic_mask(ones({2}), i32_of({1, 2}));
    });
}

void add_reads(Rows& rows)
{
    rows.composed("dynamic_slice");
    rows.sample("windows of rows", {arg({n(), 6, 2}), whole({n()}, -3, 7)},
                [](const Tensor& x, const Tensor& start) { return dynamic_slice(x, start, 3); });
    rows.sample(
        "longer than the rows", {arg({2, n()}), whole({2}, -2, 2)},
        [](const Tensor& x, const Tensor& start) { return dynamic_slice(x, start, x.size(1) + 3) * 2; });
    rows.sample("empty", {arg({n(), 4}), whole({n()}, 0, 3)},
                [](const Tensor& x, const Tensor& start) { return dynamic_slice(x, start, 0); });
    rows.mistake("a negative length", ErrorKind::shape, "negative size", [] {
        dynamic_slice(ones({2, 3}), i32_of({0, 0}), -1);
    });
    rows.mistake("starts of another dtype", ErrorKind::dtype, "i32", [] {
        dynamic_slice(ones({2, 3}), zeros({2}), 1);
    });

    rows.composed("dynamic_pad");
    rows.sample("rows", {arg({n(), 3}), whole({n()}, -2, 5)},
                [](const Tensor& x, const Tensor& before) { return dynamic_pad(x, before, 7, 0.25); });
    rows.sample("back to where it was cut", {arg({2, n() + 4, 4}), whole({2}, 0, 2)},
                [](const Tensor& x, const Tensor& start) {
                    return dynamic_pad(dynamic_slice(x, start, x.size(1) - 2), start, x.size(1));
                });
    rows.mistake("a row too many", ErrorKind::shape, "[1]", [] {
        dynamic_pad(ones({2, 3}), i32_of({0}), 4);
    });

    rows.composed("dynamic_gather");
    // Results with NaN can't be differentiated.
    rows.forward("of rows, some outside", {arg({n(), 4, 3}), whole({n(), 5}, -2, 6)},
                 [](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); });
    rows.sample("of rows", {arg({2, n() + 1, 4}), whole({2, 6}, 0, 0)},
                [](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); });
    rows.sample("equal indices", {arg({n(), 3, 2}), whole({n(), 7}, 0, 2)},
                [](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); });
    rows.sample("numbers of rows of two dimensions", {arg({2, n(), 5}), whole({2, n(), 3}, 0, 4)},
                [](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index); });
    rows.sample("without rows", {arg({5, 2}), whole({n()}, 0, 4)},
                [](const Tensor& x, const Tensor& index) { return dynamic_gather(x, index) * 2; });
    rows.mistake("an index without dimensions", ErrorKind::shape, "at least one",
                 [] { dynamic_gather(ones({2}), full({}, 1, {.dtype = i32})); });
    rows.mistake("other rows", ErrorKind::shape, "[3]", [] {
        dynamic_gather(ones({2, 3}), zeros({3, 1}, {.dtype = i32}));
    });
    rows.mistake("indices of another dtype", ErrorKind::dtype, "i32", [] {
        dynamic_gather(ones({2, 3}), zeros({2, 1}));
    });
}

} // namespace

void add_dynamic(Rows& rows)
{
    add_shifts(rows);
    add_reads(rows);
}

} // namespace reprise::test
