// sgd_step: updates parameters and their moments in place, with one launch per parameter.
#include "ops/registry.hpp"
#include "ops/step.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr const char* moments[] = {"momentum_buffer"};
constexpr const char* numbers[] = {"lr", "momentum", "share", "weight_decay"};
constexpr StepNames names{.moments = moments, .numbers = numbers};

void lower(Lowering& l, const Node& n)
{
    const bool velocity = moments_of(n) != 0;
    launch_step(
        l, n, names,
        {.moments = {velocity ? 0 : StepLaunch::absent},
         .flags = {velocity, n.attributes.integer("nesterov") != 0, n.attributes.integer("maximize") != 0}});
}

graph::TensorTypes infer(const graph::Op& op, const graph::InputTypes& in, const graph::Attributes& a)
{
    return infer_step(op, in, a, names);
}

void reference(const ReferenceArguments& a)
{
    const std::vector<double> x = step_numbers(a);
    const double lr = x[0], momentum = x[1], share = x[2], decay = x[3];
    const bool velocity = moments_of(a) == 1, nesterov = a.attributes.integer("nesterov") != 0;
    reference_step(a, names, decay, [=](double& p, double g, double* m) {
        if (velocity) {
            m[0] = momentum * m[0] + share * g;
            g = nesterov ? g + momentum * m[0] : m[0];
        }
        p -= lr * g;
    });
}

} // namespace

const Op sgd_step_op{.name = "sgd_step",
                     .infer = infer,
                     .lower = lower,
                     .reference = reference,
                     .narrow = true,
                     .doubles = true};

} // namespace ops

std::vector<std::vector<Tensor>> sgd_step(const std::vector<StepOf>& of, const SgdStep& s)
{
    return ops::apply_step(ops::sgd_step_op, ops::names, of, {s.lr, s.momentum, s.share, s.weight_decay},
                           {s.skip, s.maximize, s.stochastic_rounding},
                           {{"nesterov", std::int64_t{s.nesterov}}});
}

std::vector<Tensor> sgd_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                             const SgdStep& s)
{
    return sgd_step({{param, grad, moments}}, s).front();
}

} // namespace reprise
