#include <cmath>

#include <reprise/ops/updates.hpp>
#include <reprise/optim/adam.hpp>

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, beta1, beta2, eps, weight_decay };
enum Number : std::size_t { step_size, share1, kept2, share2, root, epsilon, decay, kept, numbers };

template <bool decoupled> double number(std::size_t n, const double* o, std::int64_t step)
{
    switch (n) {
    case step_size: return o[lr] / (1 - std::pow(o[beta1], static_cast<double>(step)));
    case share1: return 1 - o[beta1];
    case kept2: return o[beta2];
    case share2: return 1 - o[beta2];
    case root: return std::sqrt(1 - std::pow(o[beta2], static_cast<double>(step)));
    case epsilon: return o[eps];
    case decay: return decoupled ? 0 : o[weight_decay];
    default: return decoupled ? 1 - o[lr] * o[weight_decay] : 1; // kept
    }
}

} // namespace

Adam::Adam(const char* name, bool decoupled)
    : Optimizer({.op = name,
                 .options = {{"lr"}, {"beta1", 0, 1}, {"beta2", 0, 1}, {"eps"}, {"weight_decay"}},
                 .numbers = numbers,
                 .number = decoupled ? number<true> : number<false>,
                 .by_step = 1u << step_size | 1u << root})
{}

Adam::Adam(std::initializer_list<ParamGroup<AdamOptions>> groups, const AdamOptions& options)
    : Adam("Adam", false)
{
    add_groups(*this, groups, options);
}

Adam::Adam(std::vector<Variable> parameters, const AdamOptions& options) : Adam("Adam", false)
{
    add_param_group(std::move(parameters), options);
}

void Adam::add_param_group(std::vector<Variable> parameters, const AdamOptions& o)
{
    std::vector<Moment> moments{{"exp_avg"}, {"exp_avg_sq"}};
    if (o.amsgrad) moments.push_back({"max_exp_avg_sq"});
    add_group(std::move(parameters), {o.lr, o.betas.first, o.betas.second, o.eps, o.weight_decay},
              std::move(moments));
    kinds_.push_back(o);
}

std::vector<std::vector<Tensor>> Adam::updated(const Update& u) const
{
    return adam_step(u.of, {.step_size = u.numbers[step_size],
                            .share1 = u.numbers[share1],
                            .beta2 = u.numbers[kept2],
                            .share2 = u.numbers[share2],
                            .root = u.numbers[root],
                            .eps = u.numbers[epsilon],
                            .weight_decay = u.numbers[decay],
                            .kept = u.numbers[kept],
                            .maximize = kinds_[u.group].maximize});
}

AdamW::AdamW(std::initializer_list<ParamGroup<AdamWOptions>> groups, const AdamWOptions& options)
    : Adam("AdamW", true)
{
    add_groups(*this, groups, options);
}

AdamW::AdamW(std::vector<Variable> parameters, const AdamWOptions& options) : Adam("AdamW", true)
{
    add_param_group(std::move(parameters), options);
}

void AdamW::add_param_group(std::vector<Variable> parameters, const AdamWOptions& o)
{
    Adam::add_param_group(std::move(parameters), {.lr = o.lr,
                                                  .betas = o.betas,
                                                  .eps = o.eps,
                                                  .weight_decay = o.weight_decay,
                                                  .amsgrad = o.amsgrad,
                                                  .maximize = o.maximize});
}

} // namespace reprise::optim
