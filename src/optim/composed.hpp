// Helpers of the optimizer steps that are composed of ops.
#pragma once
#include <vector>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/updates.hpp>

namespace reprise::optim {

// A parameter, its gradient and its moments, in the dtype in which a step computes: f32 for f16 and bf16.  Of a
// parameter with a master copy it is that, but where the parameter has been assigned (StepOf::low).
struct Wide {
    Tensor p, g;
    std::vector<Tensor> moments;

    // Negates the gradient if the step maximizes, and adds the weight decay to it if that is defined.
    Wide(const StepOf& of, const Tensor& weight_decay, bool maximize)
        : p(of.low.defined() ? where(cast(of.param, of.low.dtype()) == of.low, of.param, wide(of.low))
                             : wide(of.param)),
          g(maximize ? -wide(of.grad) : wide(of.grad))
    {
        // where(): 0 * p is NaN where p is infinite
        if (weight_decay.defined()) g = where(weight_decay == 0, g, g + weight_decay * p);
        for (const Tensor& m : of.moments) moments.push_back(wide(m));
    }
    static Tensor wide(const Tensor& t) { return t.dtype() == f16 || t.dtype() == bf16 ? cast(t, f32) : t; }
};

// Casts the new values to the dtypes of the parameter and its moments, and appends that of StepOf::low.
inline std::vector<Tensor> narrowed(const StepOf& of, const std::vector<Tensor>& values)
{
    std::vector<Tensor> out{cast(values[0], of.param.dtype())};
    for (std::size_t i = 1; i < values.size(); ++i) out.push_back(cast(values[i], of.moments[i - 1].dtype()));
    if (of.low.defined()) out.push_back(cast(values[0], of.low.dtype()));
    return out;
}

// Computes the new values of each parameter and its moments by `step`, a function of a Wide.
template <class F> std::vector<std::vector<Tensor>> each_of(const std::vector<StepOf>& all,
                                                            const Tensor& weight_decay, bool maximize,
                                                            const F& step)
{
    std::vector<std::vector<Tensor>> out;
    for (const StepOf& of : all) out.push_back(narrowed(of, step(Wide(of, weight_decay, maximize))));
    return out;
}

} // namespace reprise::optim
