// adam_step: updates parameters and their moments in place, with one launch per parameter.
#include <cmath>

#include "ops/registry.hpp"
#include "ops/step.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr const char* moments[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
constexpr const char* numbers[] = {"step_size", "share1", "beta2",        "share2",
                                   "root",      "eps",    "weight_decay", "kept"};
constexpr StepNames names{.moments = moments, .numbers = numbers, .min_moments = 2, .non_negative = 0b110};

void lower(Lowering& l, const Node& n)
{
    const bool amsgrad = moments_of(n) == 3;
    launch_step(l, n, names,
                {.moments = {0, 1, amsgrad ? 2 : StepLaunch::absent},
                 .flags = {amsgrad, n.attributes.integer("maximize") != 0}});
}

graph::TensorTypes infer(const graph::Op& op, const graph::InputTypes& in, const graph::Attributes& a)
{
    return infer_step(op, in, a, names);
}

void reference(const ReferenceArguments& a)
{
    const std::vector<double> x = step_numbers(a);
    const double size = x[0], share1 = x[1], beta2 = x[2], share2 = x[3], root = x[4], eps = x[5];
    const double decay = x[6], kept = x[7];
    const bool amsgrad = moments_of(a) == 3;
    reference_step(a, names, decay, [=](double& p, double g, double* m) {
        m[0] += share1 * (g - m[0]);
        m[1] = beta2 * m[1] + share2 * g * g;
        if (amsgrad) m[2] = m[1] > m[2] || std::isnan(m[1]) ? m[1] : m[2];
        p = p * kept - size * m[0] / (std::sqrt(m[amsgrad ? 2 : 1]) / root + eps);
    });
}

} // namespace

const Op adam_step_op{.name = "adam_step",
                      .infer = infer,
                      .lower = lower,
                      .reference = reference,
                      .narrow = true,
                      .doubles = true};

} // namespace ops

std::vector<std::vector<Tensor>> adam_step(const std::vector<StepOf>& of, const AdamStep& s)
{
    return ops::apply_step(ops::adam_step_op, ops::names, of,
                           {s.step_size, s.share1, s.beta2, s.share2, s.root, s.eps, s.weight_decay, s.kept},
                           {s.skip, s.maximize, s.stochastic_rounding});
}

std::vector<Tensor> adam_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                              const AdamStep& s)
{
    return adam_step({{param, grad, moments}}, s).front();
}

} // namespace reprise
