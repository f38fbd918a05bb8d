// Ops whose sizes and indices are tensors on the device: masks, slices, padding and gathering per row. A slice and its
// padding are one op with opposite signs, and each other's gradient; elements from outside of x are a given value.
#include <algorithm>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/dynamic.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/index_check.hpp"
#include "ops/indices.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

// -- dynamic_shift: x [rows..., T, ...], start [rows...] -> y [rows..., length, ...]:
// y[r, i] = x[r, i + sign * start[r]] --

// Requires that the leading dimensions of x are those of `rows` and that at least one more follows.
void check_rows(const char* op, const char* what, const TensorType& x, const TensorType& rows)
{
    require_indices(op, what, rows.dtype);
    const auto sentence = [&] {
        return std::string("The ") + what + " of the shape (" + to_string(rows.shape) +
               ") are not one for each row of (" + to_string(x.shape) +
               "): their sizes must be its first ones, and a dimension must follow.";
    };
    if (rows.shape.size() >= x.shape.size()) detail::fail(ErrorKind::shape, op, sentence());
    for (std::size_t d = 0; d < rows.shape.size(); ++d)
        shape::require_equal(op, rows.shape[d], x.shape[d], sentence);
}

const char* name_of_shift(const Attributes& a)
{
    return a.integer("sign") > 0 ? "dynamic_slice" : "dynamic_pad";
}

TensorTypes infer(const Op&, const InputTypes& in, const Attributes& a)
{
    check_rows(name_of_shift(a), "starts", in[0], in[1]);
    TensorType t = in[0];
    t.shape[in[1].shape.size()] = a.get<Dim>("length");
    return {t};
}

Tensor shift(const Tensor& x, const Tensor& start, const Dim& length, std::int64_t sign, double value)
{
    return graph::apply1(dynamic_shift_op, {x, start},
                         {{"length", length}, {"sign", sign}, {"value", value}});
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    const auto along = static_cast<std::size_t>(a.inputs[1].dim());
    return {shift(a.cotangents[0], a.inputs[1], a.node.inputs[0].type().shape[along],
                  -a.node.attributes.integer("sign"), 0),
            {}};
}

void lower(Lowering& l, const Node& n)
{
    const View x = l.contiguous(l.input(0)), start = l.contiguous(l.indices(1)), y = l.output();
    const std::size_t along = start.sizes().size();
    const auto [outer, inner] = AroundDim(x.sizes(), along);
    const Dim &size = x.sizes()[along], &length = y.sizes()[along];
    const auto bytes = static_cast<std::uint32_t>(size_of(y.dtype));
    const records::dynamic_shift record{.x = x,
                                        .start = start,
                                        .y = y,
                                        .outer = outer,
                                        .x_size = size,
                                        .y_size = length,
                                        .inner = inner,
                                        .direction = n.attributes.integer("sign"),
                                        .value = bits_of(y.dtype, n.attributes.number("value"))};
    l.launch(record.launch({.constants = {bytes, bytes == 4 && inner.divisible_by(4) ? 1u : 0u},
                            .groups = ceil_div(outer * length * inner, 256),
                            .words = true,
                            .moves = true}));
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &start = a.inputs[1], &y = a.outputs[0];
    const std::size_t along = start.sizes.size();
    const std::int64_t sign = a.attributes.integer("sign"), size = x.sizes[along], length = y.sizes[along];
    std::int64_t inner = 1;
    for (std::size_t d = along + 1; d < y.sizes.size(); ++d) inner *= y.sizes[d];
    for (std::int64_t e = 0, count = y.count(); e < count; ++e) {
        const std::int64_t row = e / inner, outer = row / length;
        const double start_of_row = std::clamp(start.at(outer), -0x1p31, 0x1p31); // larger than any size
        const std::int64_t at = row % length + sign * static_cast<std::int64_t>(start_of_row);
        const bool inside = at >= 0 && at < size;
        if (inside) y.copy(y.offset(e), x, x.offset((outer * size + at) * inner + e % inner));
        else y.put(e, a.attributes.number("value"));
    }
}

// Returns 0, 1, ..., count - 1 shaped to broadcast along dimension `dim` of a tensor of rank `rank`.
Tensor positions(const Tensor& like, const Dim& count, std::size_t dim, std::size_t rank)
{
    const Tensor numbers = count_like(like, count);
    Shape wide(rank - dim, Dim(1));
    wide[0] = count;
    return reshape(numbers, wide);
}

// Appends dimensions of size 1 up to `rank`.
Tensor widened(const Tensor& t, std::size_t rank)
{
    Shape wide = t.shape();
    wide.resize(rank, Dim(1));
    return reshape(t, wide);
}

} // namespace

const Op dynamic_shift_op{.name = "dynamic_shift",
                          .infer = infer,
                          .vjp = vjp,
                          .lower = lower,
                          .reference = reference,
                          .narrow = true,
                          .doubles = true};

} // namespace ops

Tensor dynamic_mask(const Tensor& x, const Tensor& mask_or_lengths, double value)
{
    constexpr const char* op = "dynamic_mask";
    const Shape sizes = x.shape();
    if (mask_or_lengths.dtype() == boolean) {
        shape::require_broadcastable(op, mask_or_lengths.shape(), sizes);
        return where(mask_or_lengths, x, ops::number_like(x, value));
    }
    const std::size_t along = mask_or_lengths.shape().size();
    ops::check_rows(op, "lengths", ops::type_of(x), ops::type_of(mask_or_lengths));
    const Tensor at = ops::positions(x, sizes[along], along, sizes.size());
    return where(less(at, ops::widened(mask_or_lengths, sizes.size())), x, ops::number_like(x, value));
}

Tensor dynamic_mask(const Tensor& x, std::int64_t dim, const Dim& length, double value)
{
    const std::size_t along = shape::normalize_dim("dynamic_mask", dim, x.shape().size());
    const Tensor at = ops::positions(x, x.shape()[along], along, x.shape().size());
    const Dim clamped = max(min(length, x.shape()[along]), 0);
    return where(less(at, ops::size_like(at, clamped)), x, ops::number_like(x, value));
}

Tensor dynamic_slice(const Tensor& x, const Tensor& start, const Dim& length)
{
    return ops::shift(x, start, length, 1, 0);
}

Tensor dynamic_pad(const Tensor& x, const Tensor& before, const Dim& size, double value)
{
    return ops::shift(x, before, size, -1, ops::rounded_to(x.dtype(), value));
}

// Treats the elements of all rows as the rows of one matrix: an index becomes a row of it, or -1 if it lies outside of
// its own row.
Tensor dynamic_gather(const Tensor& x, const Tensor& index)
{
    constexpr const char* op = "dynamic_gather";
    const Shape sizes = x.shape(), given = index.shape();
    if (given.empty())
        detail::fail(ErrorKind::shape, op, "The index has no dimensions: give at least one, [M].");
    const std::size_t along = given.size() - 1;
    const Shape rows(given.begin(), given.end() - 1);
    ops::check_rows(op, "indices", ops::type_of(x), {index.dtype(), rows});
    const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(along);
    const Dim outer = shape::element_count(Shape(sizes.begin(), begin)), size = sizes[along],
              inner = shape::element_count(Shape(begin + 1, sizes.end()));
    const ops::IndexChecksOff checks_off; // an index outside of its row becomes -1
    Tensor at = index;
    if (along > 0) {
        const Tensor first = ops::positions(x, outer, 0, 1) * ops::size_like(index, size);
        Shape column = rows;
        column.push_back(1);
        const Tensor inside = logical_and(index >= 0, less(index, ops::size_like(index, size)));
        at = where(inside, index + reshape(first, column), ops::number_like(index, -1));
    }
    Shape out = given;
    out.insert(out.end(), begin + 1, sizes.end());
    return reshape(embedding(reshape(at, {index.numel()}), reshape(x, {outer * size, inner})), out);
}

} // namespace reprise
