// Norms of rows and of differences between them.
#include <string>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/pooling.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

Tensor normalize(const Tensor& x, double p, std::int64_t dim, double eps)
{
    ops::require_floating("normalize", x.dtype());
    return x / maximum(norm(x, p, {dim}, true), eps);
}

// The mean over neighbouring channels is an average pooling with windows [size, 1] over planes [C, other sizes].
Tensor local_response_norm(const Tensor& given, std::int64_t size, double alpha, double beta, double k)
{
    constexpr const char* op = "local_response_norm";
    ops::require_floating(op, given.dtype());
    if (size < 1) detail::fail(ErrorKind::argument, op, "The size (", size, ") must be at least 1.");
    const Shape sizes = given.shape();
    if (sizes.size() < 3)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes), ") must be [N, C, ...] with a ",
                     "dimension behind the channels.");
    if (same(given.numel(), 0)) return given;
    const Tensor x = ops::accumulated(given);
    const Dim rest = shape::element_count({sizes.begin() + 2, sizes.end()});
    const Tensor planes = reshape(square(x), {sizes[0], 1, sizes[1], rest});
    const Tensor means = avg_pool2d(pad(planes, {0, 0, size / 2, (size - 1) / 2}),
                                    {.kernel_size = {size, 1}, .stride = {1, 1}});
    return cast(x / pow(reshape(means, sizes) * alpha + k, beta), given.dtype());
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim)
{
    ops::require_floating("pairwise_distance", a.dtype());
    return norm(a - b + eps, p, {-1}, keepdim);
}

Tensor cdist(const Tensor& a, const Tensor& b, double p)
{
    if (const ops::Autocast to = ops::Autocast::f32({&a, &b}); to) return cdist(to(a), to(b), p);
    constexpr const char* op = "cdist";
    ops::require_floating(op, a.dtype());
    if (a.dim() < 2 || b.dim() < 2)
        detail::fail(ErrorKind::shape, op, "The shapes (", to_string(a.shape()), " and ",
                     to_string(b.shape()), ") must be [..., rows, features].");
    if (!(p >= 0)) detail::fail(ErrorKind::argument, op, "The order (", p, ") must be at least 0.");
    shape::require_equal(op, a.size(-1), b.size(-1), [&] {
        return "The rows have (" + a.size(-1).text() + ") and (" + b.size(-1).text() + ") features.";
    });
    return norm(unsqueeze(a, -2) - unsqueeze(b, -3), p, {-1});
}

} // namespace reprise
