// layer_norm: normalises each row by its own mean and variance, and the gradients; rms_norm is the same with 0 in place
// of the mean. The functions reshape x to a matrix, which is all that the ops take.
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/full.hpp"
#include "ops/launch_where.hpp"
#include "ops/long_rows.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/rows.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr std::int64_t longest_row = std::int64_t{1}
                                     << 16; // per invocation: 3 passes, 4 elements per iteration

// Returns whether an input is the constant `value`: a weight of 1 or a bias of 0 is omitted.
bool is_number(Lowering& l, std::size_t input, double value)
{
    Scalar s;
    return l.scalar(input, s) && !s.source && same(s.factor, 1) && s.constant == value;
}

// An operand of a kernel that computes rows (shaders/common/rows.glsl).
struct RowsOperand {
    View view;
    Dim along, down; // strides: along a row, from row to row
    bool aligned;    // its rows consist of whole texels
    bool absent = false;

    records::Input input() const
    {
        return absent ? records::Input(records::Absent{view}) : records::Input(view);
    }
    DimVector strides(std::int64_t unit) const { return {unit == 1 ? down : floor_div(down, unit)}; }
    std::uint32_t exists() const { return absent ? 0 : 1; }
};
RowsOperand matrix(const View& v)
{
    return {v, v.layout.strides[1], v.layout.strides[0], has_texel_rows(v.layout)};
}
// Returns a vector [D] as an operand that is repeated for each row.
RowsOperand repeated(const View& v)
{
    return {v, v.layout.strides[0], 0, same(v.layout.strides[0], 1) && v.layout.offset.divisible_by(4)};
}
RowsOperand no_row(const View& any) { return {any, 1, 0, true, true}; }

std::uint32_t centered(const Node& n) { return static_cast<std::uint32_t>(n.attributes.integer("centered")); }

// -- layer_norm: x [R, D], weight [D], bias [D] -> y [R, D], mean [R], 1 / sqrt(variance + eps) [R]; if not centered,
// the mean is 0 and the variance is the mean of squares --
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    const TensorType statistic{accumulated(in[0].dtype), {in[0].shape[0]}};
    return {in[0], statistic, statistic};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    const Tensor &x = a.inputs[0], &mean = a.outputs[1], &rstd = a.outputs[2];
    const Tensor dy = a.cotangents[0];
    std::vector<Tensor> d(3);
    const Attributes& same = a.node.attributes;
    if (a.wanted[0]) d[0] = graph::apply1(layer_norm_vjp_op, {dy, x, a.inputs[1], mean, rstd}, same);
    if (!a.wanted[1] && !a.wanted[2]) return d;
    const std::vector<Tensor> both = graph::apply(layer_norm_weight_vjp_op, {dy, x, mean, rstd}, same);
    d[1] = both[0];
    d[2] = both[1];
    return d;
}

// Computes x - mean, or returns x if not centered.
View lower_shifted(LongRows& rows, const Node& n, const View& x, const View& mean)
{
    return centered(n) ? rows.across("sub", {x, mean}) : x;
}

void lower_long(Lowering& l, const Node& n)
{
    const View x = l.input(0), y = l.output(0);
    const View mean = LongRows::column(l.output(1)), rstd = LongRows::column(l.output(2));
    LongRows rows(l, x.sizes(), 1);
    if (centered(n)) l.copy(rows.mean(x), mean);
    else launch_full(l, mean, Scalar(0));
    const View shifted = lower_shifted(rows, n, x, mean);
    const View variance = rows.mean(rows.across("square", {shifted}));
    const View grown = rows.each("add", {variance, LongRows::number(n.attributes.number("eps"))});
    rows.write(rstd, "rsqrt", {grown});
    const bool weightless = is_number(l, 1, 1), biasless = is_number(l, 2, 0);
    if (weightless && biasless) return rows.write(y, "mul", {shifted, rstd});
    const View z = rows.across("mul", {shifted, rstd});
    if (weightless) return rows.write(y, "add", {z, l.input(2)});
    if (biasless) return rows.write(y, "mul", {z, l.input(1)});
    rows.write(y, "add", {rows.across("mul", {z, l.input(1)}), l.input(2)});
}

std::vector<Tensor> decompose(const Node& n, std::span<const Tensor> in)
{
    const Tensor& x = in[0];
    const auto column = [](const Tensor& t) { return unsqueeze(t, 1); };
    const bool shifts = centered(n) != 0;
    const Tensor center = shifts ? mean(x, {1}) : full_on(evaluator_of(x), {x.size(0)}, 0, x.dtype());
    const Tensor shifted = shifts ? x - column(center) : x;
    const Tensor rstd = rsqrt(mean(square(shifted), {1}) + n.attributes.number("eps"));
    return {shifted * column(rstd) * in[1] + in[2], center, rstd};
}

void lower_short(Lowering& l, const Node& n)
{
    const RowsOperand x = matrix(l.input(0)), y = matrix(l.output(0));
    const bool weightless = is_number(l, 1, 1), biasless = is_number(l, 2, 0);
    const RowsOperand weight = weightless ? no_row(x.view) : repeated(l.input(1));
    const RowsOperand bias = biasless ? no_row(x.view) : repeated(l.input(2));
    const View mean = l.output(1), rstd = l.output(2);
    const Dim &rows = x.view.sizes()[0], &columns = x.view.sizes()[1];
    const bool aligned = columns.divisible_by(4) && x.aligned && weight.aligned && bias.aligned && y.aligned;
    const auto launch = [&](const RowsDivision& division) {
        const records::layer_norm record{.x = x.view,
                                         .weight = weight.input(),
                                         .bias = bias.input(),
                                         .y = y.view,
                                         .mean = mean,
                                         .rstd = rstd,
                                         .copy = records::Absent{y.view},
                                         .eps = n.attributes.number("eps"),
                                         .columns = columns,
                                         .rows = rows,
                                         .lane_bits = division.lane_bits,
                                         .x_along = x.along,
                                         .weight_along = weight.along,
                                         .bias_along = bias.along,
                                         .y_along = y.along,
                                         .mean_along = 0,
                                         .rstd_along = 0,
                                         .sizes = DimVector{rows},
                                         .x_strides = x.strides(division.unit),
                                         .weight_strides = weight.strides(division.unit),
                                         .bias_strides = bias.strides(division.unit),
                                         .y_strides = y.strides(division.unit),
                                         .mean_strides = DimVector{1},
                                         .rstd_strides = DimVector{1}};
        return record.launch({.constants = {1, weight.exists(), bias.exists(), centered(n)},
                              .groups = division.groups,
                              .result_columns = columns_if_whole(y.view)});
    };
    launch_rows(l, columns, rows, aligned, launch, {{0, x.view}, {3, y.view}, {6, y.view, 3}});
}

void lower(Lowering& l, const Node& n)
{
    const Shape& sizes = n.outputs[0].shape;
    require_floating_kernel(n.op->name, l.input(0).dtype);
    LongRows::choose(
        l, sizes[1], sizes[0], longest_row, [&] { lower_short(l, n); }, [&] { lower_long(l, n); });
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &weight = a.inputs[1], &bias = a.inputs[2];
    const double eps = a.attributes.number("eps");
    const std::int64_t length = x.sizes[1];
    for (std::int64_t row = 0; row < x.sizes[0]; ++row) {
        double mean = 0, variance = 0;
        for (std::int64_t e = 0; e < length && a.attributes.integer("centered"); ++e)
            mean += x.at(row * length + e);
        mean /= static_cast<double>(length);
        for (std::int64_t e = 0; e < length; ++e)
            variance += (x.at(row * length + e) - mean) * (x.at(row * length + e) - mean);
        const double rstd = 1 / std::sqrt(variance / static_cast<double>(length) + eps);
        for (std::int64_t e = 0; e < length; ++e)
            a.outputs[0].put(row * length + e,
                             (x.at(row * length + e) - mean) * rstd * weight.at(e) + bias.at(e));
        a.outputs[1].put(row, mean);
        a.outputs[2].put(row, rstd);
    }
}

// Recomputes mean and rstd from x, so that they are differentiated as functions of it.
struct Normalised {
    Tensor z, rstd;
};
Normalised normalised(const Node& n, const Tensor& x)
{
    const Tensor shifted = centered(n) ? x - mean(x, {1}, true) : x;
    const Tensor rstd = rsqrt(mean(square(shifted), {1}, true) + n.attributes.number("eps"));
    return {shifted * rstd, rstd};
}

// -- layer_norm_vjp: dy [R, D], x [R, D], weight [D], mean [R], rstd [R] -> dx [R, D] --
TensorTypes infer_vjp(const Op&, const InputTypes& in, const Attributes&) { return {in[1]}; }

std::vector<Tensor> decompose_vjp(const Node& n, std::span<const Tensor> in)
{
    const auto [z, rstd] = normalised(n, in[1]);
    const Tensor g = in[0] * in[2];
    const Tensor across = g - z * mean(g * z, {1}, true);
    return {(centered(n) ? across - mean(g, {1}, true) : across) * rstd};
}

void lower_long_vjp(Lowering& l, const Node& n)
{
    const View dy = l.input(0), x = l.input(1);
    const View mean = LongRows::column(l.input(3)), rstd = LongRows::column(l.input(4));
    LongRows rows(l, x.sizes(), 1);
    const View g = is_number(l, 2, 1) ? dy : rows.across("mul", {dy, l.input(2)});
    const View z = rows.across("mul", {lower_shifted(rows, n, x, mean), rstd});
    const View product = rows.across("mul", {z, rows.mean(rows.across("mul", {g, z}))});
    const View deviation = centered(n) ? rows.across("sub", {g, rows.mean(g)}) : g;
    rows.write(l.output(), "mul", {rows.across("sub", {deviation, product}), rstd});
}

void lower_short_vjp(Lowering& l, const Node& n)
{
    const RowsOperand dy = matrix(l.input(0)), x = matrix(l.input(1));
    const RowsOperand weight = is_number(l, 2, 1) ? no_row(x.view) : repeated(l.input(2));
    const RowsOperand dx = matrix(l.output());
    const View mean = l.input(3), rstd = l.input(4);
    const Dim &rows = x.view.sizes()[0], &columns = x.view.sizes()[1];
    const bool aligned = columns.divisible_by(4) && dy.aligned && x.aligned && weight.aligned && dx.aligned;
    const auto launch = [&](const RowsDivision& division) {
        const records::layer_norm_vjp record{.dy = dy.view,
                                             .x = x.view,
                                             .weight = weight.input(),
                                             .dx = dx.view,
                                             .mean = mean,
                                             .rstd = rstd,
                                             .copy = records::Absent{dx.view},
                                             .columns = columns,
                                             .rows = rows,
                                             .lane_bits = division.lane_bits,
                                             .dy_along = dy.along,
                                             .x_along = x.along,
                                             .weight_along = weight.along,
                                             .dx_along = dx.along,
                                             .mean_along = 0,
                                             .rstd_along = 0,
                                             .sizes = DimVector{rows},
                                             .dy_strides = dy.strides(division.unit),
                                             .x_strides = x.strides(division.unit),
                                             .weight_strides = weight.strides(division.unit),
                                             .dx_strides = dx.strides(division.unit),
                                             .mean_strides = DimVector{1},
                                             .rstd_strides = DimVector{1}};
        return record.launch({.constants = {1, weight.exists(), centered(n)},
                              .groups = division.groups,
                              .result_columns = columns_if_whole(dx.view)});
    };
    launch_rows(l, columns, rows, aligned, launch,
                {{0, dy.view}, {1, x.view}, {3, dx.view}, {6, dx.view, 3}});
}

void lower_vjp(Lowering& l, const Node& n)
{
    const Shape& sizes = n.outputs[0].shape;
    require_floating_kernel(n.op->name, l.input(1).dtype);
    LongRows::choose(
        l, sizes[1], sizes[0], longest_row, [&] { lower_short_vjp(l, n); }, [&] { lower_long_vjp(l, n); });
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &x = a.inputs[1], &weight = a.inputs[2];
    const std::int64_t length = x.sizes[1];
    const auto size = static_cast<double>(length);
    for (std::int64_t row = 0; row < x.sizes[0]; ++row) {
        const double mean = a.inputs[3].at(row), rstd = a.inputs[4].at(row);
        const auto g = [&](std::int64_t e) { return dy.at(row * length + e) * weight.at(e); };
        const auto z = [&](std::int64_t e) { return (x.at(row * length + e) - mean) * rstd; };
        double sum = 0, product = 0;
        for (std::int64_t e = 0; e < length; ++e) {
            if (a.attributes.integer("centered")) sum += g(e);
            product += g(e) * z(e);
        }
        for (std::int64_t e = 0; e < length; ++e)
            a.outputs[0].put(row * length + e, (g(e) - sum / size - z(e) * (product / size)) * rstd);
    }
}

// -- layer_norm_weight_vjp: dy [R, D], x [R, D], mean [R], rstd [R] -> gradients of weight and bias, [D] --
TensorTypes infer_weight_vjp(const Op&, const InputTypes& in, const Attributes&)
{
    const TensorType row = {in[1].dtype, {in[1].shape[1]}};
    return {row, row};
}

std::vector<Tensor> decompose_weight_vjp(const Node& n, std::span<const Tensor> in)
{
    return {sum(in[0] * normalised(n, in[1]).z, {0}), sum(in[0], {0})};
}

void lower_weight_vjp(Lowering& l, const Node& n)
{
    const View dy = l.input(0), x = l.input(1);
    require_floating_kernel(n.op->name, x.dtype);
    const Dim &count = x.sizes()[0], &length = x.sizes()[1];
    const auto &a = dy.layout.strides, &b = x.layout.strides;
    const LanesDivision division(count, length);           // of GPUs
    constexpr std::int64_t block = 64, max_partials = 128; // rows; as in shaders/layer_norm_weight_vjp.comp
    const bool by_lanes = l.groups_share_rows();
    const Dim partials = by_lanes ? division.parts : max(min(ceil_div(count, block), max_partials), 1);
    const bool whole = by_lanes && same(partials, 1);
    const auto sums = [&](std::size_t i) {
        return whole ? l.output(i) : l.temporary(f32, {partials, length});
    };
    const std::array<View, 2> between = {sums(0), sums(1)};
    const records::layer_norm_weight_vjp record{.dy = dy,
                                                .x = x,
                                                .mean = l.input(2),
                                                .rstd = l.input(3),
                                                .weight_partials = between[0],
                                                .bias_partials = between[1],
                                                .rows = count,
                                                .columns = length,
                                                .partial_count = partials,
                                                .dy_row_stride = a[0],
                                                .dy_column_stride = a[1],
                                                .x_row_stride = b[0],
                                                .x_column_stride = b[1],
                                                .lane_bits = division.lane_bits,
                                                .part_length = division.length};
    const bool aligned = has_texel_rows(dy.layout) && has_texel_rows(x.layout);
    if (by_lanes) {
        LaunchSpec spec =
            record.launch({.kernel = "layer_norm_weight_vjp_group",
                           .groups = ceil_div(partials * ceil_div(length, 4) * division.lanes, 256)});
        if (aligned && length.divisible_by(4)) {
            spec.kernel += "_vec4";
            spec.converting_kernel = spec.kernel + "_dtypes";
            spec = converting(l, std::move(spec), {{0, dy}, {1, x}});
        }
        l.launch(std::move(spec));
        for (std::size_t i = 0; i < 2 && !whole; ++i) reduce_into(l, "sum", between[i], {0}, l.output(i));
        return;
    }
    launch_with_texels(l, aligned,
                       converting(l, record.launch({.groups = ceil_div(partials * ceil_div(length, 4), 64)}),
                                  {{0, dy}, {1, x}}));
    for (std::size_t i = 0; i < 2; ++i)
        l.launch({.kernel = "sum_partials",
                  .operands = {{between[i], Use::read}, {l.output(i), Use::write}},
                  .ints = {length, partials},
                  .groups = ceil_div(length, 64)});
}

void reference_weight_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &x = a.inputs[1];
    for (std::int64_t e = 0, length = x.sizes[1]; e < length; ++e) {
        double weight = 0, bias = 0;
        for (std::int64_t row = 0; row < x.sizes[0]; ++row) {
            const double g = dy.at(row * length + e);
            weight += g * (x.at(row * length + e) - a.inputs[2].at(row)) * a.inputs[3].at(row);
            bias += g;
        }
        a.outputs[0].put(e, weight);
        a.outputs[1].put(e, bias);
    }
}

} // namespace

const Op layer_norm_op{.name = "layer_norm",
                       .infer = infer,
                       .vjp = vjp,
                       .decompose = decompose,
                       .lower = lower,
                       .reference = reference};
const Op layer_norm_vjp_op{.name = "layer_norm_vjp",
                           .infer = infer_vjp,
                           .decompose = decompose_vjp,
                           .lower = lower_vjp,
                           .reference = reference_vjp};
const Op layer_norm_weight_vjp_op{.name = "layer_norm_weight_vjp",
                                  .infer = infer_weight_vjp,
                                  .decompose = decompose_weight_vjp,
                                  .lower = lower_weight_vjp,
                                  .reference = reference_weight_vjp};

} // namespace ops

namespace {

Tensor normalized(const char* op, const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, bool centered)
{
    const Shape sizes = x.shape();
    const std::size_t count = normalized_shape.size();
    const auto sentence = [&] {
        return "The normalized_shape (" + to_string(normalized_shape) + ") is not the end of the shape (" +
               to_string(sizes) + ").";
    };
    if (count == 0 || count > sizes.size()) detail::fail(ErrorKind::shape, op, sentence());
    const auto first = sizes.end() - static_cast<std::ptrdiff_t>(count);
    shape::require_same(op, normalized_shape, {first, sizes.end()}, sentence);
    const Dim length = shape::element_count(normalized_shape);
    const auto parameter = [&](const char* what, const Tensor& t, double number) {
        if (!t.defined()) return ops::full_on(ops::evaluator_of(x), {length}, number, x.dtype());
        shape::require_same(op, t.shape(), normalized_shape, [&] {
            return std::string("The ") + what + "'s shape (" + to_string(t.shape()) +
                   ") is not the normalized_shape (" + to_string(normalized_shape) + ").";
        });
        ops::check_dtype(op, what, t.dtype(), x.dtype());
        return reshape(t, {length});
    };
    ops::require_floating(op, x.dtype());
    if (!(eps >= 0)) detail::fail(ErrorKind::argument, op, "eps (", eps, ") must be at least 0.");
    const Shape outer(sizes.begin(), first);
    const Tensor rows = reshape(x, {shape::element_count(outer), length});
    const std::vector<Tensor> out =
        graph::apply(ops::layer_norm_op, {rows, parameter("weight", weight, 1), parameter("bias", bias, 0)},
                     {{"eps", eps}, {"centered", std::int64_t{centered}}});
    return reshape(out[0], sizes);
}

} // namespace

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x, &weight, &bias}); to)
        return layer_norm(to(x), normalized_shape, to(weight), to(bias), eps);
    return normalized("layer_norm", x, normalized_shape, weight, bias, eps, true);
}

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                std::optional<double> eps)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x, &weight}); to)
        return rms_norm(to(x), normalized_shape, to(weight), eps);
    const double epsilon = x.dtype() == DType::f64    ? std::numeric_limits<double>::epsilon()
                           : x.dtype() == DType::f16  ? std::ldexp(1.0, -10)
                           : x.dtype() == DType::bf16 ? std::ldexp(1.0, -7)
                                                      : double{std::numeric_limits<float>::epsilon()};
    return normalized("rms_norm", x, normalized_shape, weight, {}, eps.value_or(epsilon), false);
}

} // namespace reprise
