// Normalisation and dropout.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

// [C] as [C, 1, ...], which broadcasts to x [N, C, ...].
Tensor by_channel(const Tensor& v, const Tensor& x)
{
    Shape shape(static_cast<std::size_t>(std::max<std::int64_t>(x.dim() - 1, 1)), 1);
    shape[0] = v.size(0);
    return reshape(v, shape);
}

Values batch_normalization(Call& call)
{
    const Tensor x = call[0], scale = call[1], bias = call[2], mean_of = call[3], variance = call[4];
    const double eps = call.real("epsilon", 1e-5), momentum = call.real("momentum", 0.9);
    const DType wide = x.dtype() == f16 || x.dtype() == bf16 ? f32 : x.dtype();
    const auto normalized = [&](const Tensor& center, const Tensor& spread) {
        const Tensor factor = mul(scale.to(wide), rsqrt(add(spread.to(wide), eps)));
        const Tensor y = mul(sub(x.to(wide), by_channel(center.to(wide), x)), by_channel(factor, x));
        return add(y, by_channel(bias.to(wide), x)).to(x.dtype());
    };
    if (!call.flag("training_mode")) return {Value(normalized(mean_of, variance))};
    Dims dims{0};
    for (std::int64_t i = 2; i < x.dim(); ++i) dims.push_back(i);
    const Tensor center = mean(x.to(wide), dims), spread = var(x.to(wide), dims, VarOptions{.correction = 0});
    const auto running = [&](const Tensor& old, const Tensor& now) {
        return add(mul(old, momentum), mul(now.to(old.dtype()), 1 - momentum));
    };
    return {Value(normalized(center, spread)), Value(running(mean_of, center)),
            Value(running(variance, spread))};
}

// f16 and bf16 as f32.
Tensor widened(const Tensor& x) { return x.dtype() == f16 || x.dtype() == bf16 ? x.to(f32) : x; }

// (x - mean) / sqrt(variance + eps) over dimensions, in f32 at least.
Tensor standardized(const Tensor& x, const Dims& dims, double eps)
{
    const Tensor wide = widened(x), center = sub(wide, mean(wide, dims, true));
    return mul(center, rsqrt(add(mean(square(center), dims, true), eps)));
}

Value instance_normalization(Call& call)
{
    const Tensor x = call[0];
    Dims dims;
    for (std::int64_t i = 2; i < x.dim(); ++i) dims.push_back(i);
    const Tensor y = standardized(x, dims, call.real("epsilon", 1e-5));
    const Tensor scale = by_channel(call[1], x).to(y.dtype()), bias = by_channel(call[2], x).to(y.dtype());
    return add(mul(y, scale), bias).to(x.dtype());
}

// The dtype of the attribute stash_type, in which statistics are computed.
DType stash_type(const Call& call)
{
    const ElementType* type = find_element_type(static_cast<int>(call.integer("stash_type", 1)));
    return type && type->is_floating() ? type->held : f32;
}

Values layer_normalization(Call& call)
{
    const Tensor x = call[0], scale = call[1], bias = call.tensor_or_none(2);
    const std::int64_t axis = call.axis("axis", -1, x.dim());
    const double eps = call.real("epsilon", 1e-5);
    const Shape whole = x.shape(), inner(whole.begin() + axis, whole.end());
    const bool fits = same(scale.shape(), inner) && (!bias.defined() || same(bias.shape(), inner));
    const bool plain = fits && !call.wants(1) && !call.wants(2) && scale.dtype() == x.dtype();
    if (plain) return {Value(layer_norm(x, inner, scale, bias, eps))};
    Dims dims;
    for (std::int64_t i = axis; i < x.dim(); ++i) dims.push_back(i);
    const Tensor wide = x.to(stash_type(call));
    const Tensor center = mean(wide, dims, true), away = sub(wide, center);
    const Tensor inverse = rsqrt(add(mean(square(away), dims, true), eps));
    Tensor y = mul(mul(away, inverse).to(scale.dtype()), scale);
    if (bias.defined()) y = add(y, bias);
    return {Value(y.to(x.dtype())), Value(center), Value(inverse)};
}

Value rms_normalization(Call& call)
{
    const Tensor x = call[0], scale = call[1];
    const std::int64_t axis = call.axis("axis", -1, x.dim());
    Dims dims;
    for (std::int64_t i = axis; i < x.dim(); ++i) dims.push_back(i);
    const Tensor wide = x.to(stash_type(call));
    const Tensor y = mul(wide, rsqrt(add(mean(square(wide), dims, true), call.real("epsilon", 1e-5))));
    return mul(y.to(x.dtype()), scale);
}

// Up to opset 20 scale and bias are of groups, from 21 on of channels.
Value group_normalization(Call& call)
{
    const Tensor x = call[0], scale = call[1], bias = call[2];
    const std::int64_t groups = call.integer("num_groups");
    const Dim n = x.size(0);
    if (groups < 1 || x.dim() < 3)
        call.fail("The shape ", to_string(x.shape()), " has no (", groups, ") groups.");
    const DType wide = call.opset() >= 21 ? stash_type(call) : widened(x).dtype();
    const Tensor parts = reshape(x.to(wide), Shape{n, groups, -1});
    const Tensor y = standardized(parts, {2}, call.real("epsilon", 1e-5));
    if (call.opset() >= 21)
        return add(mul(reshape(y, x.shape()), by_channel(scale.to(wide), x)), by_channel(bias.to(wide), x))
            .to(x.dtype());
    const Tensor shifted = add(mul(y, unsqueeze(scale.to(wide), 1)), unsqueeze(bias.to(wide), 1));
    return reshape(shifted, x.shape()).to(x.dtype());
}

Value lp_normalization(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.axis("axis", -1, x.dim());
    const Tensor length = norm(x, static_cast<double>(call.integer("p", 2)), {axis}, true);
    return div(x, where(eq(length, 0), ones_like(length), length));
}

Value mean_variance(Call& call)
{
    const Tensor x = call[0];
    std::vector<std::int64_t> axes =
        call.has_attribute("axes") ? call.list("axes") : std::vector<std::int64_t>{0, 2, 3};
    for (std::int64_t& axis : axes) axis = call.axis(axis, x.dim());
    const Tensor wide = widened(x), center = sub(wide, mean(wide, Dims(axes), true));
    const Tensor spread = sqrt(mean(square(center), Dims(axes), true));
    return div(center, add(spread, 1e-9)).to(x.dtype());
}

Value local_response(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t size = call.integer("size");
    const double alpha = call.real("alpha", 1e-4), beta = call.real("beta", 0.75),
                 bias = call.real("bias", 1);
    return local_response_norm(x, size, alpha, beta, bias);
}

// Drops elements only where the node's input training_mode is true.
Values dropout_of(Call& call)
{
    const Tensor x = call[0];
    const bool training = call.has(2) && call.number(2, 0) != 0;
    const double ratio = call.number(1, 0.5);
    Tensor y = x, mask = ones(x.shape(), {.dtype = boolean, .device = call.device});
    if (training && ratio > 0) {
        const Tensor kept = dropout(ones_like(x), ratio);
        y = mul(x, kept);
        mask = ne(kept, 0);
    }
    return {Value(y), Value(mask)};
}

constexpr std::uint32_t running = 1u << 3 | 1u << 4;

const Operator rows[] = {
    {"BatchNormalization",
     batch_normalization,
     {.statistics = running, .since = 7, .limits = "running statistics are not updated in the model"}},
    {"Dropout",
     dropout_of,
     {.constants = 0b110, .since = 7, .limits = "random numbers are the library's; `seed` is not used"}},
    {"GroupNormalization", group_normalization},
    {"InstanceNormalization", instance_normalization, {.since = 6}},
    {"LRN", local_response, {.limits = "odd sizes only"}},
    {"LayerNormalization", layer_normalization},
    {"LpNormalization", lp_normalization},
    {"MeanVarianceNormalization", mean_variance},
    {"RMSNormalization", rms_normalization},
};

} // namespace

Operators normalization_operators() { return rows; }

} // namespace reprise::onnx
