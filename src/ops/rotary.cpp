// rotary_embedding, composed of other ops.
#include <reprise/ops/attention.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved)
{
    constexpr const char* op = "rotary_embedding";
    ops::require_floating(op, x.dtype());
    const Shape sizes = x.shape();
    if (sizes.empty()) detail::fail(ErrorKind::shape, op, "A scalar has no features.");
    shape::require_multiple(op, sizes.back(), 2,
                            [&] { return "The (" + sizes.back().text() + ") features do not make pairs."; });
    const Dim half = floor_div(sizes.back(), 2);
    Shape pairs = sizes;
    pairs.back() = half;
    for (const Tensor* t : {&cos, &sin}) shape::require_broadcastable(op, t->shape(), pairs);
    Tensor a, b;
    if (interleaved) {
        Shape split = pairs;
        split.push_back(2);
        const std::vector<Tensor> sides = unbind(reshape(x, split), -1);
        a = sides[0];
        b = sides[1];
    } else {
        a = narrow(x, -1, 0, half);
        b = narrow(x, -1, half, half);
    }
    const Tensor first = a * cos - b * sin, second = b * cos + a * sin;
    return interleaved ? reshape(stack({first, second}, -1), sizes) : cat({first, second}, -1);
}

} // namespace reprise
