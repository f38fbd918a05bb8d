#include <cmath>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/updates.hpp>
#include <reprise/optim.hpp>

namespace reprise::optim {

Adam::Adam(std::vector<Variable> parameters, const AdamOptions& options)
    : Adam("Adam", std::move(parameters), options, false)
{}

Adam::Adam(const char* name, std::vector<Variable> parameters, const AdamOptions& options, bool decoupled)
    : Optimizer(std::move(parameters), options.lr,
                {.op = name,
                 .moments = {"exp_avg", "exp_avg_sq"},
                 .step_numbers = 2, // the bias corrections 1 - beta^t
                 .step_number =
                     [b = options.betas](std::size_t n, std::int64_t step) {
                         return 1 - std::pow(n == 0 ? b.first : b.second, static_cast<double>(step));
                     }}),
      options_(options), decoupled_(decoupled)
{
    for (const double beta : {options.betas.first, options.betas.second})
        if (!(beta >= 0 && beta < 1))
            detail::fail(ErrorKind::argument, name, "A beta (", beta, ") must be at least 0 and below 1.");
    check_not_negative("eps", options.eps);
    check_not_negative("weight_decay", options.weight_decay);
}

std::vector<Tensor> Adam::updated(const Update& u) const
{
    auto [parameter, m, v] = adam_step(u.parameter, u.gradient, u.moments[0], u.moments[1],
                                       {.lr = u.learning_rate,
                                        .correction1 = u.step_numbers[0],
                                        .correction2 = u.step_numbers[1],
                                        .beta1 = options_.betas.first,
                                        .beta2 = options_.betas.second,
                                        .eps = options_.eps,
                                        .weight_decay = options_.weight_decay,
                                        .decoupled = decoupled_});
    return {parameter, m, v};
}

AdamW::AdamW(std::vector<Variable> parameters, const AdamWOptions& o)
    : Adam("AdamW", std::move(parameters),
           {.lr = o.lr, .betas = o.betas, .eps = o.eps, .weight_decay = o.weight_decay}, true)
{}

} // namespace reprise::optim
