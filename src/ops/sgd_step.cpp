// sgd_step: a step of one parameter, in one launch and in place.  Formulas, and their order in
// shaders/sgd_step.comp, are those of torch.optim.SGD.
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

// Inputs: param, grad, velocity, lr; outputs: param, velocity.  Without momentum there is no velocity.
bool has_velocity(const Attributes& a) { return a.number("momentum") != 0; }

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> in, const Attributes& a)
{
    if (!has_velocity(a)) {
        check_step(op.name, in, {{"param", "grad"}, {"lr"}});
        return {in[0]};
    }
    check_step(op.name, in, {{"param", "grad", "velocity"}, {"lr"}});
    return {in[0], in[0]};
}

void lower(Lowering& l, const Node& n)
{
    const Attributes& a = n.attributes;
    const bool momentum = has_velocity(a);
    constexpr std::size_t absent = StepLaunch::absent;
    StepLaunch step{.tensors = {0, 1, momentum ? 2 : absent},
                    .numbers = {momentum ? 3u : 2u},
                    .outputs = {0, momentum ? 1 : absent},
                    .constants = {a.number("momentum"), 1 - a.number("dampening"), a.number("weight_decay")},
                    .flags = {momentum ? 1u : 0u, a.number("weight_decay") != 0 ? 1u : 0u,
                              a.integer("nesterov") != 0 ? 1u : 0u}};
    launch_step(l, n, step);
}

void reference(const ReferenceArguments& a)
{
    const bool velocity = has_velocity(a.attributes);
    const double lr = a.inputs.back().at(0), momentum = a.attributes.number("momentum");
    const double share = 1 - a.attributes.number("dampening"), decay = a.attributes.number("weight_decay");
    const bool nesterov = a.attributes.integer("nesterov") != 0;
    for (std::int64_t i = 0, count = a.outputs[0].count(); i < count; ++i) {
        const double p = a.inputs[0].at(i);
        double g = a.inputs[1].at(i);
        if (decay != 0) g += decay * p;
        if (velocity) {
            const double v = momentum * a.inputs[2].at(i) + share * g;
            a.outputs[1].put(i, v);
            g = nesterov ? g + momentum * v : v;
        }
        a.outputs[0].put(i, p - lr * g);
    }
}

} // namespace

const Op sgd_step_op{.name = "sgd_step", .infer = infer, .lower = lower, .reference = reference};

} // namespace ops

std::pair<Tensor, Tensor> sgd_step(const Tensor& param, const Tensor& grad, const Tensor& velocity,
                                   const SgdStep& step)
{
    std::vector<Tensor> inputs{param, grad, step.lr};
    if (step.momentum != 0) inputs.insert(inputs.begin() + 2, velocity);
    const std::vector<Tensor> out = graph::apply(ops::sgd_step_op, inputs,
                                                 {{"momentum", step.momentum},
                                                  {"dampening", step.dampening},
                                                  {"weight_decay", step.weight_decay},
                                                  {"nesterov", std::int64_t{step.nesterov}}});
    return {out[0], step.momentum != 0 ? out[1] : velocity};
}

} // namespace reprise
