// adam_step: a step of one parameter, in one launch and in place.  Formulas, and their order in
// shaders/adam_step.comp, are those of torch.optim.Adam and AdamW.
#include <cmath>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/updates.hpp>

#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/step.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Attributes;
using graph::Node;
using graph::Op;
using graph::TensorType;

// Inputs: param, grad, m, v, lr, correction1, correction2; outputs: param, m, v.
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> in, const Attributes&)
{
    check_step(op.name, in, {{"param", "grad", "m", "v"}, {"lr", "correction1", "correction2"}});
    return {in[0], in[0], in[0]};
}

// How the weights decay, as the kernel's constant.
std::uint32_t decay_of(const Attributes& a)
{
    if (a.number("weight_decay") == 0) return 0;
    return a.integer("decoupled") != 0 ? 2 : 1;
}

void lower(Lowering& l, const Node& n)
{
    const Attributes& a = n.attributes;
    const double beta1 = a.number("beta1"), beta2 = a.number("beta2");
    launch_step(l, n,
                {.tensors = {0, 1, 2, 3},
                 .numbers = {4, 5, 6},
                 .outputs = {0, 1, 2},
                 .constants = {beta1, 1 - beta1, beta2, 1 - beta2, a.number("eps"), a.number("weight_decay")},
                 .flags = {decay_of(a), 1 - beta1 < 0.5 ? 0u : 1u}});
}

void reference(const ReferenceArguments& r)
{
    const Attributes& a = r.attributes;
    const double lr = r.inputs[4].at(0), correction1 = r.inputs[5].at(0), correction2 = r.inputs[6].at(0);
    const double beta1 = a.number("beta1"), beta2 = a.number("beta2"), decay = a.number("weight_decay");
    const std::uint32_t mode = decay_of(a);
    for (std::int64_t i = 0, count = r.outputs[0].count(); i < count; ++i) {
        double p = r.inputs[0].at(i), g = r.inputs[1].at(i);
        if (mode == 1) g += decay * p;
        if (mode == 2) p *= 1 - lr * decay;
        const double m = r.inputs[2].at(i) + (1 - beta1) * (g - r.inputs[2].at(i));
        const double v = beta2 * r.inputs[3].at(i) + (1 - beta2) * g * g;
        const double root = std::sqrt(v) / std::sqrt(correction2) + a.number("eps");
        r.outputs[0].put(i, p - lr / correction1 * m / root);
        r.outputs[1].put(i, m);
        r.outputs[2].put(i, v);
    }
}

} // namespace

const Op adam_step_op{.name = "adam_step", .infer = infer, .lower = lower, .reference = reference};

} // namespace ops

std::array<Tensor, 3> adam_step(const Tensor& param, const Tensor& grad, const Tensor& m, const Tensor& v,
                                const AdamStep& step)
{
    const std::vector<Tensor> out =
        graph::apply(ops::adam_step_op, {param, grad, m, v, step.lr, step.correction1, step.correction2},
                     {{"beta1", step.beta1},
                      {"beta2", step.beta2},
                      {"eps", step.eps},
                      {"weight_decay", step.weight_decay},
                      {"decoupled", std::int64_t{step.decoupled}}});
    return {out[0], out[1], out[2]};
}

} // namespace reprise
