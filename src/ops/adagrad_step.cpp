// adagrad_step: updates parameters and their moments in place, with one launch per parameter.
#include <cmath>

#include "ops/registry.hpp"
#include "ops/step.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr const char* moments[] = {"sum"};
constexpr const char* numbers[] = {"lr", "eps", "weight_decay"};
constexpr StepNames names{.moments = moments, .numbers = numbers, .min_moments = 1, .non_negative = 0b001};

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
    const double lr = x[0], eps = x[1], decay = x[2];
    reference_step(a, names, decay, [=](double& p, double g, double* m) {
        m[0] += g * g;
        p -= lr * g / (std::sqrt(m[0]) + eps);
    });
}

} // namespace

const Op adagrad_step_op{.name = "adagrad_step",
                         .infer = infer,
                         .lower = lower,
                         .reference = reference,
                         .narrow = true,
                         .doubles = true};

} // namespace ops

std::vector<std::vector<Tensor>> adagrad_step(const std::vector<StepOf>& of, const AdagradStep& s)
{
    return ops::apply_step(ops::adagrad_step_op, ops::names, of, {s.lr, s.eps, s.weight_decay},
                           {s.skip, s.maximize, s.stochastic_rounding});
}

std::vector<Tensor> adagrad_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                                 const AdagradStep& s)
{
    return adagrad_step({{param, grad, moments}}, s).front();
}

} // namespace reprise
