// lion_step: updates parameters and their moments in place, with one launch per parameter.
#include "ops/registry.hpp"
#include "ops/step.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr const char* moments[] = {"exp_avg"};
constexpr const char* numbers[] = {"lr", "beta1", "share1", "beta2", "share2", "kept"};
constexpr StepNames names{.moments = moments, .numbers = numbers, .min_moments = 1};

void lower(Lowering& l, const Node& n)
{
    launch_step(l, n, names, {.moments = {0}, .flags = {n.attributes.integer("maximize") != 0}});
}

graph::TensorTypes infer(const graph::Op& op, const graph::InputTypes& in, const graph::Attributes& a)
{
    return infer_step(op, in, a, names);
}

void reference(const ReferenceArguments& a)
{
    const std::vector<double> x = step_numbers(a);
    const double lr = x[0], beta1 = x[1], share1 = x[2], beta2 = x[3], share2 = x[4], kept = x[5];
    reference_step(a, names, 0, [=](double& p, double g, double* m) {
        const double direction = beta1 * m[0] + share1 * g;
        p = p * kept - lr * (direction > 0 ? 1 : direction < 0 ? -1 : 0);
        m[0] = beta2 * m[0] + share2 * g;
    });
}

} // namespace

const Op lion_step_op{.name = "lion_step",
                      .infer = infer,
                      .lower = lower,
                      .reference = reference,
                      .narrow = true,
                      .doubles = true};

} // namespace ops

std::vector<std::vector<Tensor>> lion_step(const std::vector<StepOf>& of, const LionStep& s)
{
    return ops::apply_step(ops::lion_step_op, ops::names, of,
                           {s.lr, s.beta1, s.share1, s.beta2, s.share2, s.kept},
                           {s.skip, s.maximize, s.stochastic_rounding});
}

std::vector<Tensor> lion_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                              const LionStep& s)
{
    return lion_step({{param, grad, moments}}, s).front();
}

} // namespace reprise
