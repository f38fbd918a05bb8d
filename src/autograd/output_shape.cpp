#include <reprise/autograd/output_shape.hpp>

#include <optional>

#include "autograd/probe.hpp"
#include "shape/guard.hpp"

namespace reprise {

Shape output_shape(const FunctionOfSeveral& f, const std::vector<Shape>& inputs)
{
    shape::GuardList open; // collected and ignored: no call will have these sizes
    std::optional<shape::GuardScope> guarding;
    if (!graph::current_tracer()) guarding.emplace(open);
    const autograd::Probe probe;
    std::vector<Tensor> placeholders;
    for (const Shape& s : inputs) placeholders.push_back(probe.placeholder({f32, s}));
    return f(placeholders).shape();
}

} // namespace reprise
