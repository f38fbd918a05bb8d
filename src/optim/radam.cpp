#include <cmath>

#include <reprise/optim/radam.hpp>

#include "optim/composed.hpp"

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, beta1, beta2, eps, weight_decay };
enum Number : std::size_t {
    share1,
    beta2_value,
    share2,
    epsilon,
    decay,
    shrink,   // factor of the parameter, if weight decay is decoupled
    plain,    // the factor of m in the first steps, then 0
    adaptive, // the factor of m / (sqrt(v) + eps) in later steps, 0 before
    numbers
};

double limit_of_rho(const double* o) { return 2 / (1 - o[beta2]) - 1; }

// rho_t = rho_inf - 2 t beta2^t / (1 - beta2^t)
double rho(const HostStep& s)
{
    return s.of(limit_of_rho) - 2 * s.t() * s.power(beta2) / s.one_minus_power(beta2);
}
// The same in f32.  Both terms are near rho_inf in the first steps and would cancel, so where x = -t log(beta2) is
// small it is the series of x / (e^x - 1), whose first terms the host adds in double.
Tensor rho(const DeviceStep& s)
{
    const Tensor x = s.t() * s.of([](const double* o) { return -std::log(o[beta2]); });
    const Tensor first = s.of([](const double* o) { return limit_of_rho(o) + 2 / std::log(o[beta2]); });
    const Tensor square = x * x;
    const Tensor series = first + s.t() * (1 - x * (1.0 / 6 - square * (1.0 / 360 - square / 15120)));
    return where(x < 1, series, s.of(limit_of_rho) - 2 * s.t() / expm1(x));
}

// Returns `plain` or `adaptive`, of which one is 0 in each step.
template <class Step> typename Step::Number factor(bool of_adaptive, const Step& s)
{
    using Value = typename Step::Number;
    using std::sqrt;
    const Value correction2 = s.one_minus_power(beta2), rho_inf = s.of(limit_of_rho), rho_t = rho(s);
    const Value size = s.option(lr) / s.one_minus_power(beta1);
    if (!of_adaptive) return where(rho_t > 5, 0, size);
    const Value rectified =
        size * sqrt(correction2) *
        sqrt((rho_t - 4) * (rho_t - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho_t));
    return where(rho_t > 5, rectified, 0);
}

template <class Step> typename Step::Number number(std::size_t n, const Step& s)
{
    switch (n) {
    case share1: return 1 - s.option(beta1);
    case beta2_value: return s.option(beta2);
    case share2: return 1 - s.option(beta2);
    case epsilon: return s.option(eps);
    case decay: return s.option(weight_decay);
    case shrink: return 1 - s.option(lr) * s.option(weight_decay);
    default: return factor(n == adaptive, s);
    }
}

} // namespace

Optimizer::Rule RAdam::rule()
{
    return {.op = "RAdam",
            .numbers = numbers,
            .number = number<HostStep>,
            .number_on_device = number<DeviceStep>,
            .by_step = 1u << plain | 1u << adaptive};
}

std::vector<Optimizer::Moment> RAdam::moments_of(const Options&) { return {{"exp_avg"}, {"exp_avg_sq"}}; }

std::vector<std::vector<Tensor>> RAdam::updated(const Update& u) const
{
    const std::vector<Tensor>& n = u.numbers;
    const bool decoupled = made_with(u.group).decoupled_weight_decay;
    return each_of(u.of, decoupled ? Tensor() : n[decay], made_with(u.group).maximize, [&](const Wide& w) {
        const Tensor mean = w.moments[0] + n[share1] * (w.g - w.moments[0]);
        const Tensor square = n[beta2_value] * w.moments[1] + n[share2] * w.g * w.g;
        const Tensor p = decoupled ? w.p * n[shrink] : w.p;
        // where(): with an eps of 0 the quotient may be 0 / 0 in the first steps, which do not use it.
        const Tensor rectified = where(n[adaptive] > 0, n[adaptive] / (sqrt(square) + n[epsilon]), 0);
        return std::vector<Tensor>{p - mean * (n[plain] + rectified), mean, square};
    });
}

} // namespace reprise::optim
