// pad: adds a constant value before and after a tensor.  The op pads one dimension; its gradient is narrow, and it is
// the gradient of narrow.  Modes that repeat elements of the tensor resample all dimensions in one op.
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/full.hpp"
#include "ops/index_check.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/resample.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op&, const InputTypes& in, const Attributes& a)
{
    TensorType t = in[0];
    t.shape[static_cast<std::size_t>(a.integer("dim"))] = a.get<Dim>("size");
    return {t};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    const Attributes& at = a.node.attributes;
    const auto d = at.integer("dim");
    return {narrow(a.cotangents[0], d, at.get<Dim>("start"),
                   a.node.inputs[0].type().shape[static_cast<std::size_t>(d)])};
}

void lower(Lowering& l, const Node& n)
{
    const View from = l.contiguous(l.input(0)), to = l.output();
    const auto d = static_cast<std::size_t>(n.attributes.integer("dim"));
    const auto [outer, inner] = AroundDim(to.sizes(), d);
    const Dim count = outer * to.sizes()[d] * inner;
    const records::pad record{.x = from,
                              .y = to,
                              .outer = outer,
                              .x_size = from.sizes()[d],
                              .size = to.sizes()[d],
                              .start = n.attributes.get<Dim>("start"),
                              .inner = inner,
                              .value = bits_of(to.dtype, n.attributes.number("value"))};
    l.launch(record.launch({.constants = {static_cast<std::uint32_t>(size_of(to.dtype))},
                            .groups = ceil_div(count, 256),
                            .words = true,
                            .moves = true}));
}

void reference(const ReferenceArguments& a)
{
    for_each_row(a, [&](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        for (std::int64_t e = 0; e < out[0].count(); ++e) out[0].put(e, a.attributes.number("value"));
        for (std::int64_t e = 0; e < in[0].count(); ++e)
            out[0].copy(out[0].offset(a.dims[0] + e), in[0], in[0].offset(e));
    });
}

// Whether the amount is a negative constant, so that elements are removed.
bool crops(const Dim& amount) { return amount.is_constant() && amount.value() < 0; }

} // namespace

const Op pad_op{.name = "pad",
                .infer = infer,
                .vjp = vjp,
                .lower = lower,
                .reference = reference,
                .narrow = true,
                .doubles = true};

} // namespace ops

Tensor pad(const Tensor& x, const DimVector& amounts, double value)
{
    const std::size_t rank = x.shape().size();
    if (amounts.size() % 2 != 0 || amounts.size() > 2 * rank)
        detail::fail(ErrorKind::argument, "pad", "There are (", amounts.size(), ") amounts for (", rank,
                     ") dimensions: give two for each padded dimension, beginning with the last.");
    const double held = ops::rounded_to(x.dtype(), value);
    ops::require_holds("pad", x.dtype(), held);
    Tensor y = x;
    for (std::size_t i = 0; i < amounts.size(); i += 2) {
        const std::size_t d = rank - 1 - i / 2;
        const auto dim = static_cast<std::int64_t>(d);
        const Dim before = ops::crops(amounts[i]) ? Dim(0) : amounts[i],
                  after = ops::crops(amounts[i + 1]) ? Dim(0) : amounts[i + 1];
        const auto sentence = [&] {
            return "The amounts (" + amounts[i].text() + " and " + amounts[i + 1].text() +
                   ") leave less than nothing of dimension (" + std::to_string(d) + ") of the shape (" +
                   to_string(x.shape()) + ").";
        };
        const Dim cut_before = before - amounts[i], cut = cut_before + (after - amounts[i + 1]),
                  left = y.shape()[d] - cut;
        if (!same(cut, 0)) {
            shape::require_at_least("pad", left, 0, sentence);
            y = narrow(y, dim, cut_before, left);
        }
        shape::require_at_least("pad", before, 0, sentence);
        shape::require_at_least("pad", after, 0, sentence);
        if (same(before, 0) && same(after, 0)) continue;
        y = graph::apply1(
            ops::pad_op, {y},
            {{"dim", dim}, {"start", before}, {"size", before + left + after}, {"value", held}});
    }
    return ops::copy_if_aliased(y, x);
}

// -- modes that repeat elements of the tensor --
namespace {

struct Mode {
    const char* name;
    ops::Resampling how;
};

Mode mode_of(PaddingMode mode)
{
    if (mode == PaddingMode::reflect) return {"reflect", ops::Resampling::reflect};
    if (mode == PaddingMode::replicate) return {"replicate", ops::Resampling::replicate};
    return {"circular", ops::Resampling::circular};
}

void check_amounts(const Tensor& x, const DimVector& amounts, const Mode& mode)
{
    const std::size_t n = amounts.size() / 2, rank = x.shape().size();
    if (amounts.size() % 2 != 0 || n < 1 || n > 3 || (rank != n + 1 && rank != n + 2))
        detail::fail(ErrorKind::argument, "pad", "There are (", amounts.size(), ") amounts for the shape (",
                     to_string(x.shape()), "): the mode (", mode.name,
                     ") pads the last one, two or three dimensions of one or two more.");
}

// Checks that the tensor has enough elements for the amounts, and that the result has at least one.
void check_amount(const Tensor& x, const Mode& mode, const Dim& size, const Dim& before, const Dim& after)
{
    const auto sentence = [&] {
        return "The amounts (" + before.text() + " and " + after.text() + ") are too much for the size (" +
               size.text() + ") of the shape (" + to_string(x.shape()) + ") in the mode (" + mode.name + ").";
    };
    for (const Dim& amount : {before, after}) {
        if (mode.how == ops::Resampling::reflect) shape::require_at_least("pad", size - 1, amount, sentence);
        if (mode.how == ops::Resampling::circular) shape::require_at_least("pad", size, amount, sentence);
    }
    shape::require_at_least("pad", size, 1, sentence);
    shape::require_at_least("pad", size + before + after, 1, sentence);
}

} // namespace

namespace {

// Pads integers along one dimension: computes the index of the source of each output and calls index_select().
Tensor taken(const Tensor& x, std::size_t d, ops::Resampling how, const Dim& before, const Dim& to)
{
    const Tensor counted = ops::count_like(x, to), end = ops::size_like(counted, x.shape()[d]);
    const Tensor at = counted - ops::size_like(counted, before), last = end - 1.0;
    Tensor index;
    if (how == ops::Resampling::reflect) {
        const Tensor away = abs(at);
        index = where(away > last, last * 2.0 - away, away);
    } else if (how == ops::Resampling::replicate) index = minimum(maximum(at, 0.0), last);
    else index = where(at < 0.0, at + end, where(at >= end, at - end, at));
    const ops::IndexChecksOff checks_off;
    return index_select(x, static_cast<std::int64_t>(d), index);
}

} // namespace

Tensor constant_pad_nd(const Tensor& x, const DimVector& amounts, double value)
{
    return pad(x, amounts, value);
}

Tensor pad(const Tensor& x, const DimVector& amounts, Choice<PaddingMode> mode, double value)
{
    if (mode == PaddingMode::constant) return pad(x, amounts, value);
    const Mode m = mode_of(mode);
    check_amounts(x, amounts, m);
    const std::size_t n = amounts.size() / 2, rank = x.shape().size();
    DimVector added = amounts;
    Tensor from = x;
    if (mode == PaddingMode::circular) { // elements that are cut off are not repeated at the other end
        DimVector cut(amounts.size(), 0);
        for (std::size_t i = 0; i < amounts.size(); ++i)
            if (ops::crops(amounts[i])) std::swap(cut[i], added[i]);
        from = pad(x, cut);
    }
    Shape to;
    DimVector before;
    for (std::size_t d = 0; d < n; ++d) {
        const Dim &front = added[2 * (n - 1 - d)], &back = added[2 * (n - 1 - d) + 1];
        const Dim size = from.shape()[rank - n + d];
        check_amount(x, m, size, front, back);
        to.push_back(size + front + back);
        before.push_back(front);
    }
    if (!is_floating(x.dtype())) {
        for (std::size_t d = 0; d < n; ++d) from = taken(from, rank - n + d, m.how, before[d], to[d]);
        return from;
    }
    return ops::resample(from, {.how = m.how, .to = to, .before = before});
}

} // namespace reprise
