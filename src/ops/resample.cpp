// resample: each output is a weighted sum of inputs; a weight is the product of one weight per dimension.  The VJP is
// the transposed map: each input gathers from the outputs that read it, without atomics and in a fixed order of sums.
#include "ops/resample.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/windows.hpp"

namespace reprise::ops {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::array befores{"before_0", "before_1", "before_2"};

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    return {{in[0].dtype, with_last(in[0].shape, a.shape("to"))}};
}

std::vector<Tensor> vjp(const VjpArguments& v)
{
    const Attributes& a = v.node.attributes;
    const bool forward = v.node.op == &resample_op;
    const Shape to = last_of(v.node.inputs[0].type().shape, a.shape("to").size());
    return {graph::apply1(forward ? resample_vjp_op : resample_op, {v.cotangents[0]}, a.with("to", to))};
}

// lavapipe ends the loops of a shader after 65,535 iterations in total.  A term takes at most three iterations, so one
// invocation may add max_terms; longer sums are split into parts of `share` terms, each computed by one invocation.
constexpr std::int64_t max_terms = 1 << 14, share = 1 << 12;

// Returns an upper bound of the number of terms that the kernel adds for one element.
Dim terms_of(const Node& node, const Shape& given, const Shape& wanted)
{
    const Attributes& a = node.attributes;
    const auto how = static_cast<Resampling>(a.integer("how"));
    const bool forward = node.op == &resample_op;
    const Integers kernel = three(a.integers("kernel"), 1), stride = three(a.integers("stride"), 1);
    Dim terms = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        const Dim ratio = ceil_div(given[d], max(wanted[d], 1)); // input size over output size
        switch (how) {
        case Resampling::window:
            terms *= forward ? kernel[d] : (kernel[d] + stride[d] - 1) / stride[d];
            break;
        case Resampling::adaptive: terms *= ratio + 1; break;
        case Resampling::replicate: terms *= forward ? Dim(1) : given[d]; break;
        case Resampling::reflect:
        case Resampling::circular: terms *= forward ? 1 : 3; break;
        default: terms *= forward ? Dim(4) : min(given[d], ratio * 8 + 8); break; // interpolation
        }
    }
    return terms;
}

// Lowers the forward or the transposed map; `in` and `out` are sizes of the forward map in both cases.
void lower(Lowering& l, const Node& node)
{
    require_floating_kernel(node.op->name, node.outputs[0].dtype);
    const Attributes& a = node.attributes;
    const bool forward = node.op == &resample_op;
    const View from = l.contiguous(l.input(0)), to = l.output();
    const std::size_t n = a.shape("to").size();
    const Shape given = three_sizes(from.sizes(), n), wanted = three_sizes(to.sizes(), n);
    const Dim planes = planes_of(to.sizes(), n);
    const Shape &in = forward ? given : wanted, &out = forward ? wanted : given;
    const Integers scales = three(a.integers("scales"), 0);
    std::vector<std::uint32_t> constants{static_cast<std::uint32_t>(a.integer("how")), forward ? 0u : 1u,
                                         static_cast<std::uint32_t>(n)};
    for (const char* name : {"kernel", "stride"})
        for (const std::int64_t v : three(a.integers(name), 1))
            constants.push_back(static_cast<std::uint32_t>(v));
    const Dim elements = planes * wanted[0] * wanted[1] * wanted[2];
    const auto launch = [&](const char* kernel, const View& result, const Dim& invocations,
                            const DimVector& parting) {
        const records::resample record{.x = from,
                                       .y = result,
                                       .divisor = static_cast<double>(a.integer("divisor")),
                                       .planes = planes,
                                       .n_z = in[0],
                                       .n_y = in[1],
                                       .n_x = in[2],
                                       .m_z = out[0],
                                       .m_y = out[1],
                                       .m_x = out[2],
                                       .before_z = a.get<Dim>(befores[0]),
                                       .before_y = a.get<Dim>(befores[1]),
                                       .before_x = a.get<Dim>(befores[2]),
                                       .scale_z = scales[0],
                                       .scale_y = scales[1],
                                       .scale_x = scales[2],
                                       .counts_padding = a.integer("counts_padding"),
                                       .parting = parting};
        l.launch(record.launch(
            {.kernel = kernel, .constants = constants, .groups = ceil_div(invocations, 64), .words = true}));
    };
    const Dim terms = terms_of(node, given, wanted);
    const auto whole = [&] { launch("resample", to, elements, {}); };
    const auto parted = [&] {
        const Dim parts = ceil_div(terms, share);
        const View sums = l.temporary(to.dtype, {parts, elements});
        launch("resample_parts", sums, parts * elements, {share, parts});
        reduce_into(l, "sum", sums, {0}, to);
    };
    if (terms.at_most(max_terms)) return whole();
    const Dim many = is_at_least(terms, max_terms + 1);
    if (same(many, 1)) return parted();
    l.when(1 - many, whole);
    l.when(many, parted);
}

// -- the specification --

struct Tap {
    std::int64_t input;
    double weight;
};

// The map along one dimension.
struct Axis {
    Resampling how;
    std::int64_t n, m; // inputs, outputs
    std::int64_t kernel, stride, before;
    float scale;
    bool counts_padding, by_count;

    std::int64_t inside(std::int64_t i) const { return std::clamp<std::int64_t>(i, 0, n - 1); }
    std::vector<Tap> average(std::int64_t first, std::int64_t end, std::int64_t count) const;
    std::vector<Tap> interpolated(std::int64_t o) const;
    std::vector<Tap> taps(std::int64_t o) const;
};

std::vector<Tap> Axis::average(std::int64_t first, std::int64_t end, std::int64_t count) const
{
    std::vector<Tap> list;
    for (std::int64_t i = first; i < end; ++i)
        list.push_back({i, by_count ? 1 / static_cast<double>(count) : 1});
    return list;
}

// Positions are computed in f32 on every device and for every dtype, as PyTorch does for f32.
std::vector<Tap> Axis::interpolated(std::int64_t o) const
{
    const auto at = static_cast<float>(o);
    const bool corners = how == Resampling::linear_corners || how == Resampling::cubic_corners,
               cubic = how == Resampling::cubic || how == Resampling::cubic_corners;
    float position = corners ? at * scale : (at + 0.5f) * scale;
    if (!corners) position -= 0.5f;
    if (!cubic) {
        position = std::max(position, 0.0f);
        const std::int64_t first = std::min(static_cast<std::int64_t>(position), n - 1),
                           second = std::min(first + 1, n - 1);
        const float right = std::min(position - static_cast<float>(first), 1.0f);
        return {{first, 1.0f - right}, {second, right}};
    }
    const float floor = std::floor(position);
    const double t = position - floor, a = -0.75;
    const auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    const auto i = static_cast<std::int64_t>(floor);
    return {{inside(i - 1), far(t + 1)},
            {inside(i), near(t)},
            {inside(i + 1), near(1 - t)},
            {inside(i + 2), far(2 - t)}};
}

std::vector<Tap> Axis::taps(std::int64_t o) const
{
    switch (how) {
    case Resampling::window: {
        const std::int64_t start = o * stride - before, end = std::min(start + kernel, n + before);
        const std::int64_t first = std::max<std::int64_t>(start, 0), last = std::min(end, n);
        return average(first, last, counts_padding ? end - start : last - first);
    }
    case Resampling::adaptive: {
        const std::int64_t first = o * n / m, end = ((o + 1) * n + m - 1) / m;
        return average(first, end, end - first);
    }
    case Resampling::nearest:
        return {{std::min(static_cast<std::int64_t>(static_cast<float>(o) * scale), n - 1), 1}};
    case Resampling::nearest_exact:
        return {{std::min(static_cast<std::int64_t>((static_cast<float>(o) + 0.5f) * scale), n - 1), 1}};
    case Resampling::reflect: {
        const std::int64_t at = std::abs(o - before);
        return {{at < n ? at : 2 * (n - 1) - at, 1}};
    }
    case Resampling::replicate: return {{inside(o - before), 1}};
    case Resampling::circular: return {{(o - before + n) % n, 1}};
    default: return interpolated(o);
    }
}

// Returns the inputs per output: (n - 1) / (m - 1) with aligned corners, else the given factor, else n / m.  As in
// PyTorch, the factor is ignored by `linear` if n == m, and by `nearest` in two dimensions if n == m or 2 n == m.
float scale_of(Resampling how, std::int64_t n, std::int64_t m, float given, bool plane)
{
    const bool corners = how == Resampling::linear_corners || how == Resampling::cubic_corners;
    if (corners) return m > 1 ? static_cast<float>(n - 1) / static_cast<float>(m - 1) : 0;
    const bool exact = (how == Resampling::linear && n == m) ||
                       (how == Resampling::nearest && plane && (n == m || 2 * n == m));
    return given > 0 && !exact ? given : static_cast<float>(n) / static_cast<float>(m);
}

std::vector<Axis> axes_of(const Attributes& a, const Integers& in, const Integers& out,
                          std::span<const std::int64_t> before)
{
    const auto how = static_cast<Resampling>(a.integer("how"));
    const Integers kernel = three(a.integers("kernel"), 1), stride = three(a.integers("stride"), 1),
                   scales = three(a.integers("scales"), 0);
    std::vector<Axis> axes;
    for (std::size_t d = 0; d < 3; ++d)
        axes.push_back({.how = how,
                        .n = in[d],
                        .m = out[d],
                        .kernel = kernel[d],
                        .stride = stride[d],
                        .before = before[d],
                        .scale = scale_of(how, in[d], out[d],
                                          std::bit_cast<float>(static_cast<std::uint32_t>(scales[d])),
                                          a.shape("to").size() == 2),
                        .counts_padding = a.integer("counts_padding") != 0,
                        .by_count = a.integer("divisor") == 0});
    return axes;
}

Integers three_sizes(const HostTensor& t, std::size_t n)
{
    return three(Integers{t.sizes.end() - static_cast<std::ptrdiff_t>(n), t.sizes.end()}, 1);
}

// Iterates over the outputs of the forward map and adds to them or, for the transposed map, to the inputs.
void reference(const ReferenceArguments& a)
{
    const bool forward = a.op == &resample_op;
    const HostTensor &from = a.inputs[0], &to = a.outputs[0];
    const std::size_t n = a.attributes.shape("to").size();
    const Integers given = three_sizes(from, n), wanted = three_sizes(to, n);
    const Integers &in = forward ? given : wanted, &out = forward ? wanted : given;
    const std::vector<Axis> axes = axes_of(a.attributes, in, out, a.dims);
    const double whole =
        a.attributes.integer("divisor") ? static_cast<double>(a.attributes.integer("divisor")) : 1;
    std::vector<double> sums(static_cast<std::size_t>(to.count()));
    const std::int64_t outputs = (forward ? to : from).count();
    for (std::int64_t o = 0; o < outputs; ++o) {
        const std::int64_t line = o / out[2], slice = line / out[1], plane = slice / out[0];
        for (const Tap& z : axes[0].taps(slice % out[0]))
            for (const Tap& y : axes[1].taps(line % out[1]))
                for (const Tap& x : axes[2].taps(o % out[2])) {
                    const std::int64_t i = ((plane * in[0] + z.input) * in[1] + y.input) * in[2] + x.input;
                    const double weight = z.weight * y.weight * x.weight / whole;
                    sums[static_cast<std::size_t>(forward ? o : i)] += weight * from.at(forward ? i : o);
                }
    }
    to.put_all(sums);
}

} // namespace

const Op resample_op{
    .name = "resample", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference, .doubles = true};
const Op resample_vjp_op{.name = "resample_vjp",
                         .infer = infer,
                         .vjp = vjp,
                         .lower = lower,
                         .reference = reference,
                         .doubles = true};

Tensor resample(const Tensor& x, const ResampleOptions& o)
{
    Integers scales;
    for (const float s : o.scales) scales.push_back(std::bit_cast<std::uint32_t>(s));
    const DimVector before = three<DimVector>(o.before, 0);
    return graph::apply1(resample_op, {x},
                         {{"how", static_cast<std::int64_t>(o.how)},
                          {"to", o.to},
                          {"kernel", o.kernel},
                          {"stride", o.stride},
                          {"counts_padding", std::int64_t{o.counts_padding}},
                          {"divisor", o.divisor},
                          {"scales", scales},
                          {befores[0], before[0]},
                          {befores[1], before[1]},
                          {befores[2], before[2]}});
}

} // namespace reprise::ops
