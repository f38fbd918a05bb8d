#include "ops/autocast.hpp"

#include <algorithm>
#include <span>

#include <reprise/autocast.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/promotion.hpp>

#include "graph/cell.hpp"

namespace reprise::ops {

namespace {

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }
bool is_cast(DType t) { return t == DType::f32 || is_half(t); }

bool any(std::span<const Tensor* const> all, bool (*is)(DType))
{
    return std::any_of(all.begin(), all.end(),
                       [is](const Tensor* t) { return t->defined() && is(graph::type_of(*t).dtype); });
}

// Whether autocast is on.  If the result depends on it, a recording notes that, unless the recorded function has set
// it.
bool is_on(bool matters)
{
    const graph::Autocast& state = graph::ambient().autocast;
    if (graph::Tracer* const tracer = graph::current_tracer();
        matters && tracer && state.set_in != tracer->id())
        tracer->read_autocast(state);
    return state.on;
}

} // namespace

Autocast Autocast::low(Arguments all)
{
    const bool casts = any({all.begin(), all.end()}, is_cast) && is_on(true);
    return Autocast(casts ? std::optional(graph::ambient().autocast.dtype) : std::nullopt);
}

Autocast Autocast::f32(Arguments all)
{
    const std::span<const Tensor* const> list(all.begin(), all.end());
    const bool casts = any(list, is_cast) && is_on(any(list, is_half));
    return Autocast(casts ? std::optional(DType::f32) : std::nullopt);
}

Autocast Autocast::widest(std::span<const Tensor* const> all)
{
    if (!any(all, is_cast) || !is_on(any(all, is_half))) return Autocast(std::nullopt);
    DType to = graph::ambient().autocast.dtype;
    for (const Tensor* t : all)
        if (t->defined() && is_cast(t->dtype())) to = promote_types(to, t->dtype());
    return Autocast(to);
}

Tensor Autocast::operator()(const Tensor& t) const
{
    return t.defined() && is_cast(graph::type_of(t).dtype) ? cast(t, *to_) : t;
}

} // namespace reprise::ops

namespace reprise {

Tensor autocast_to_low(const Tensor& t)
{
    const ops::Autocast to = ops::Autocast::low({&t});
    return to ? to(t) : t;
}

Tensor autocast_to_f32(const Tensor& t)
{
    const ops::Autocast to = ops::Autocast::f32({&t});
    return to ? to(t) : t;
}

std::vector<Tensor> autocast_to_widest(std::vector<Tensor> tensors)
{
    std::vector<const Tensor*> all;
    for (const Tensor& t : tensors) all.push_back(&t);
    if (const ops::Autocast to = ops::Autocast::widest(all); to)
        for (Tensor& t : tensors) t = to(t);
    return tensors;
}

} // namespace reprise
