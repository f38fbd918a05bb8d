#include <cmath>
#include <type_traits>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/updates.hpp>
#include <reprise/optim/adam.hpp>

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, beta1, beta2, eps, weight_decay };
enum Number : std::size_t { step_size, share1, beta2_value, share2, root, epsilon, decay, shrink, numbers };

template <bool decoupled, class Step> typename Step::Number number(std::size_t n, const Step& s)
{
    using std::sqrt;
    switch (n) {
    case step_size: return s.option(lr) / s.one_minus_power(beta1);
    case share1: return 1 - s.option(beta1);
    case beta2_value: return s.option(beta2);
    case share2: return 1 - s.option(beta2);
    case root: return sqrt(s.one_minus_power(beta2));
    case epsilon: return s.option(eps);
    case decay: return s.option(weight_decay) * (decoupled ? 0 : 1);
    default: return 1 - s.option(lr) * s.option(weight_decay) * (decoupled ? 1 : 0); // shrink
    }
}

template <class Named> constexpr bool is_decoupled = std::is_same_v<Named, AdamWOptions>;

} // namespace

template <class Named> Optimizer::Rule AdamOf<Named>::rule()
{
    return {.op = is_decoupled<Named> ? "AdamW" : "Adam",
            .numbers = numbers,
            .number = number<is_decoupled<Named>, HostStep>,
            .number_on_device = number<is_decoupled<Named>, DeviceStep>,
            .by_step = 1u << step_size | 1u << root,
            .skips = true,
            .low_precision = true};
}

template <class Named>
std::vector<Optimizer::Moment> AdamOf<Named>::moments_of(const typename Named::Fields& o)
{
    std::vector<Optimizer::Moment> moments{{"exp_avg"}, {"exp_avg_sq"}};
    if (o.amsgrad) moments.push_back({"max_exp_avg_sq"});
    return moments;
}

template <class Named>
std::vector<std::vector<Tensor>> AdamOf<Named>::updated(const Optimizer::Update& u) const
{
    return adam_step(u.of, {.step_size = u.numbers[step_size],
                            .share1 = u.numbers[share1],
                            .beta2 = u.numbers[beta2_value],
                            .share2 = u.numbers[share2],
                            .root = u.numbers[root],
                            .eps = u.numbers[epsilon],
                            .weight_decay = u.numbers[decay],
                            .kept = u.numbers[shrink],
                            .maximize = this->made_with(u.group).maximize,
                            .skip = u.skipped(),
                            .stochastic_rounding = u.stochastic_rounding});
}

template class AdamOf<AdamOptions>;
template class AdamOf<AdamWOptions>;

} // namespace reprise::optim
