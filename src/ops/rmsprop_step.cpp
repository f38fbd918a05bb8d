// rmsprop_step: updates parameters and their moments in place, with one launch per parameter.
#include <cmath>

#include "ops/registry.hpp"
#include "ops/step.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr const char* moments[] = {"square_avg", "grad_avg or momentum_buffer", "momentum_buffer"};
constexpr const char* numbers[] = {"lr", "alpha", "share", "eps", "momentum", "weight_decay"};
constexpr StepNames names{.moments = moments, .numbers = numbers, .min_moments = 1, .non_negative = 0b001};

bool centered(const Attributes& a) { return a.integer("centered") != 0; }

void lower(Lowering& l, const Node& n)
{
    const std::size_t average = centered(n.attributes) ? 1 : 0; // follows the mean square
    const bool momentum = moments_of(n) > 1 + average;
    launch_step(
        l, n, names,
        {.moments = {0, average != 0 ? 1 : StepLaunch::absent, momentum ? 1 + average : StepLaunch::absent},
         .flags = {average != 0, momentum, n.attributes.integer("maximize") != 0}});
}

graph::TensorTypes infer(const graph::Op& op, const graph::InputTypes& in, const graph::Attributes& a)
{
    return infer_step(op, in, a, names);
}

void reference(const ReferenceArguments& a)
{
    const std::vector<double> x = step_numbers(a);
    const double lr = x[0], alpha = x[1], share = x[2], eps = x[3], momentum = x[4], decay = x[5];
    const std::size_t average = centered(a.attributes) ? 1 : 0;
    const bool buffer = moments_of(a) > 1 + average;
    reference_step(a, names, decay, [=](double& p, double g, double* m) {
        m[0] = alpha * m[0] + share * g * g;
        double variance = m[0];
        if (average != 0) {
            m[1] += share * (g - m[1]);
            variance -= m[1] * m[1];
        }
        double change = g / (std::sqrt(variance) + eps);
        if (buffer) change = m[1 + average] = momentum * m[1 + average] + change;
        p -= lr * change;
    });
}

} // namespace

const Op rmsprop_step_op{.name = "rmsprop_step",
                         .infer = infer,
                         .lower = lower,
                         .reference = reference,
                         .narrow = true,
                         .doubles = true};

} // namespace ops

std::vector<std::vector<Tensor>> rmsprop_step(const std::vector<StepOf>& of, const RmspropStep& s)
{
    const std::size_t min_moments = s.centered ? 2 : 1;
    for (const StepOf& one : of)
        if (one.moments.size() < min_moments || one.moments.size() > min_moments + 1)
            detail::fail(ErrorKind::argument, "rmsprop_step", "There are (", one.moments.size(),
                         ") moments: give ", min_moments, ", and one more with momentum.");
    return ops::apply_step(
        ops::rmsprop_step_op, ops::names, of, {s.lr, s.alpha, s.share, s.eps, s.momentum, s.weight_decay},
        {s.skip, s.maximize, s.stochastic_rounding}, {{"centered", std::int64_t{s.centered}}});
}

std::vector<Tensor> rmsprop_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                                 const RmspropStep& s)
{
    return rmsprop_step({{param, grad, moments}}, s).front();
}

} // namespace reprise
