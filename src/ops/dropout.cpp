// dropout: the mask is a function of the seed, the node's ordinal and the element, so it is not stored; the gradient
// is the same op applied to the output's gradient.
#include "ops/dropout.hpp"

#include <cmath>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/normalization.hpp>

#include "ops/launch_where.hpp"
#include "ops/random.hpp"
#include "ops/records.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

std::vector<Tensor> vjp(const VjpArguments& a)
{
    return {graph::apply1(dropout_op, {a.cotangents[0]}, a.node.attributes)};
}

void lower(Lowering& l, const Node& n)
{
    launch_dropout(l, n.attributes, l.contiguous(l.input(0)), l.output());
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &from = a.inputs[0], &to = a.outputs[0];
    const RandomWords words(a);
    const auto threshold = static_cast<native::uint>(dropout_threshold(a.attributes));
    const double scale = dropout_scale(a.attributes);
    for (std::int64_t i = 0, count = to.count(); i < count; ++i)
        to.put(i, native::rp_dropped(words.of(i), threshold) ? 0 : from.at(i) * scale);
}

} // namespace

void require_probability(const char* op, double p)
{
    if (!(p >= 0 && p <= 1))
        detail::fail(ErrorKind::argument, op, "The probability (", p, ") must be from 0 to 1.");
}

std::int64_t dropout_threshold(const Attributes& a) { return std::llround(std::ldexp(a.number("p"), 24)); }
double dropout_scale(const Attributes& a) { return a.number("p") < 1 ? 1 / (1 - a.number("p")) : 0; }

void launch_dropout(Lowering& l, const Attributes& a, const View& from, const View& to)
{
    const Dim count = shape::element_count(to.sizes());
    const records::dropout record{.x = from,
                                  .y = to,
                                  .scale = dropout_scale(a),
                                  .count = count,
                                  .threshold = dropout_threshold(a),
                                  .random = random_state(a)};
    launch_with_texels(l, to.dtype == f32,
                       record.launch({.constants = {static_cast<std::uint32_t>(to.dtype)},
                                      .groups = ceil_div(count, 256),
                                      .words = true,
                                      .in_place = true}));
}

const Op dropout_op{.name = "dropout",
                    .infer = infer_one_type,
                    .vjp = vjp,
                    .lower = lower,
                    .reference = reference,
                    .narrow = true,
                    .doubles = true};

} // namespace ops

Tensor ops::dropped(const Tensor& x, graph::RandomState r, double p)
{
    const Dim begin = x.numel() * random_part();
    r.first = floor_div(begin, 4);
    const graph::Attributes attributes = random_attributes(r).with("p", p);
    if (begin.divisible_by(4)) return graph::apply1(dropout_op, {x}, attributes);
    // The kernel's groups of 4 numbers would not be those of all parts together.
    const double threshold = std::ldexp(static_cast<double>(dropout_threshold(attributes)), -24);
    return where(uniform_like(x, x.shape(), r) < threshold, 0, x * dropout_scale(attributes));
}

Tensor dropout(const Tensor& x, double p, bool training)
{
    ops::require_probability("dropout", p);
    ops::require_floating("dropout", x.dtype());
    return training && p != 0 ? ops::dropped(x, ops::next_random(), p) : x;
}

} // namespace reprise
