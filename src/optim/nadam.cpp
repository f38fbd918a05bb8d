#include <cmath>

#include <reprise/optim/nadam.hpp>

#include "optim/composed.hpp"

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, beta1, beta2, eps, weight_decay, momentum_decay };
enum Number : std::size_t {
    rate,
    share1,
    beta2_value,
    share2,
    root,
    epsilon,
    decay,
    shrink, // factor of the parameter, if weight decay is decoupled
    now,    // c_t
    next,   // c_t+1
    numbers
};

// The momentum of step t + later.
template <class Step> typename Step::Number momentum(const Step& s, int later)
{
    using std::pow;
    return s.option(beta1) * (1 - 0.5 * pow(0.96, (s.t() + later) * s.option(momentum_decay)));
}

template <class Step> typename Step::Number number(std::size_t n, const Step& s)
{
    using std::sqrt;
    switch (n) {
    case rate: return s.option(lr);
    case share1: return 1 - s.option(beta1);
    case beta2_value: return s.option(beta2);
    case share2: return 1 - s.option(beta2);
    case root: return sqrt(s.one_minus_power(beta2));
    case epsilon: return s.option(eps);
    case decay: return s.option(weight_decay);
    case shrink: return 1 - s.option(lr) * s.option(weight_decay);
    case now: return momentum(s, 0);
    default: return momentum(s, 1); // next
    }
}

} // namespace

Optimizer::Rule NAdam::rule()
{
    return {.op = "NAdam",
            .numbers = numbers,
            .number = number<HostStep>,
            .number_on_device = number<DeviceStep>,
            .by_step = 1u << root | 1u << now | 1u << next};
}

std::vector<Optimizer::Moment> NAdam::moments_of(const Options&)
{
    return {{.name = "mu_product", .initial = 1, .one = true}, {"exp_avg"}, {"exp_avg_sq"}};
}

std::vector<std::vector<Tensor>> NAdam::updated(const Update& u) const
{
    const std::vector<Tensor>& n = u.numbers;
    const bool decoupled = made_with(u.group).decoupled_weight_decay;
    return each_of(u.of, decoupled ? Tensor() : n[decay], made_with(u.group).maximize, [&](const Wide& w) {
        const Tensor product = w.moments[0] * n[now];
        const Tensor mean = w.moments[1] + n[share1] * (w.g - w.moments[1]);
        const Tensor square = n[beta2_value] * w.moments[2] + n[share2] * w.g * w.g;
        const Tensor divisor = sqrt(square) / n[root] + n[epsilon];
        const Tensor p = decoupled ? w.p * n[shrink] : w.p;
        const Tensor of_gradient = n[rate] * (1 - n[now]) / (1 - product);
        const Tensor of_mean = n[rate] * n[next] / (1 - product * n[next]);
        return std::vector<Tensor>{p - (of_gradient * w.g + of_mean * mean) / divisor, product, mean, square};
    });
}

} // namespace reprise::optim
