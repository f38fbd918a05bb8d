#include <reprise/optim/clip.hpp>

#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "optim/clip_norm.hpp"

namespace reprise::optim {

using detail::fail;

namespace {

// Throws Error(argument) for undefined tensors and for those that are not leaves, which have no gradient to clip.
void check_leaves(const char* op, const Parameters& parameters)
{
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (!parameters[i].defined() || !parameters[i].is_leaf())
            fail(ErrorKind::argument, op, "The parameter with index (", i, ") is ",
                 parameters[i].defined() ? "no leaf but the result of an op" : "undefined",
                 ": give tensors that backward() adds gradients to.");
}

} // namespace

GradNorm clip_by_norm(const char* op, const Parameters& parameters, double max_norm,
                      const ClipGradNormOptions& options, const std::function<Tensor(const Tensor&)>& total)
{
    if (!(max_norm >= 0)) fail(ErrorKind::argument, op, "The max_norm (", max_norm, ") must be at least 0.");
    if (std::isnan(options.norm_type))
        fail(ErrorKind::argument, op, "The norm_type (", options.norm_type,
             ") must be a number or infinite.");
    if (options.error_if_nonfinite && is_recording())
        fail(ErrorKind::state, op,
             "A program that is recorded can't look at the norm: leave error_if_nonfinite out, and look at "
             "the "
             "norm that it gives.");
    check_leaves(op, parameters);
    const no_grad guard;
    std::vector<Variable> with_gradient;
    DType dtype = f32;
    for (const Variable& p : parameters) {
        if (!p.grad().defined()) continue;
        with_gradient.push_back(p);
        if (p.dtype() == f64) dtype = f64;
    }
    if (with_gradient.empty()) return GradNorm(zeros({}));
    std::vector<Tensor> norms;
    for (const Variable& p : with_gradient) norms.push_back(norm(cast(p.grad(), dtype), options.norm_type));
    const Tensor all = total(norm(stack(norms), options.norm_type));
    if (options.error_if_nonfinite)
        if (const float v = cast(all, f32).item<float>(); !std::isfinite(v))
            fail(ErrorKind::argument, op, "The norm of the gradients is (", v,
                 "): they can't be clipped to one of (", max_norm, ").");
    const Tensor scale = clamp_max(max_norm / (all + 1e-6), 1);
    for (Variable& p : with_gradient) {
        const Tensor g = p.grad();
        p.set_grad(g * cast(scale, g.dtype()));
    }
    return GradNorm(all);
}

GradNorm clip_grad_norm_(const Parameters& parameters, double max_norm, const ClipGradNormOptions& options)
{
    return clip_by_norm("clip_grad_norm_", parameters, max_norm, options,
                        [](const Tensor& norm) { return norm; });
}

void clip_grad_value_(const Parameters& parameters, double clip_value)
{
    if (!(clip_value >= 0))
        fail(ErrorKind::argument, "clip_grad_value_", "The clip_value (", clip_value,
             ") must be at least 0.");
    check_leaves("clip_grad_value_", parameters);
    const no_grad guard;
    for (Variable p : parameters)
        if (const Tensor g = p.grad(); g.defined()) p.set_grad(clamp(g, -clip_value, clip_value));
}

} // namespace reprise::optim
