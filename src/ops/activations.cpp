// Activations composed of rows of the table of elementwise ops.
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

Tensor relu6(const Tensor& x) { return hardtanh(x, 0, 6); }
Tensor swish(const Tensor& x) { return silu(x); }

// Beyond the threshold, log1p(exp(x)) would overflow and make the gradient NaN, so its argument is replaced by 0 there.
Tensor softplus(const Tensor& x, double beta, double threshold)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return softplus(to(x), beta, threshold);
    const Tensor scaled = x * beta, linear = scaled > threshold;
    return where(linear, x, log1p(exp(where(linear, ops::number_like(scaled, 0), scaled))) / beta);
}

Tensor logsigmoid(const Tensor& x)
{
    const graph::NoAutocast in_its_dtype;
    return minimum(x, 0.0) - log1p(exp(-abs(x)));
}

Tensor prelu(const Tensor& x, const Tensor& weight)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight}); to) return prelu(to(x), to(weight));
    if (weight.dim() > 1 || (!same(weight.numel(), 1) && x.dim() < 2))
        detail::fail(ErrorKind::shape, "prelu", "The weight's shape (", to_string(weight.shape()),
                     ") does not fit the input's (", to_string(x.shape()),
                     "): it has one element, or one for each channel of [N, C, ...].");
    if (weight.dim() == 0 || x.dim() < 2)
        return leaky_relu(x, reshape(weight, Shape(x.dim() > 0 ? 1u : 0u, 1)));
    Shape channels(static_cast<std::size_t>(x.dim()) - 1, 1);
    channels[0] = weight.size(0);
    return leaky_relu(x, reshape(weight, channels));
}

Tensor glu(const Tensor& x, std::int64_t dim)
{
    const Dim size = x.shape()[shape::normalize_dim("glu", dim, x.shape().size())];
    shape::require("glu", shape::Relation::multiple, size, 2, [&] {
        return "The size (" + size.text() + ") of dimension (" + std::to_string(dim) + ") of the shape (" +
               to_string(x.shape()) + ") is not even: it has no halves.";
    });
    const Dim half = floor_div(size, 2);
    return narrow(x, dim, 0, half) * sigmoid(narrow(x, dim, half, half));
}

} // namespace reprise
