#include <cmath>

#include <reprise/optim/adamax.hpp>

#include "optim/composed.hpp"

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, beta1, beta2, eps, weight_decay };
enum Number : std::size_t { step_size, share1, beta2_value, epsilon, decay, numbers };

template <class Step> typename Step::Number number(std::size_t n, const Step& s)
{
    switch (n) {
    case step_size: return s.option(lr) / s.one_minus_power(beta1);
    case share1: return 1 - s.option(beta1);
    case beta2_value: return s.option(beta2);
    case epsilon: return s.option(eps);
    default: return s.option(weight_decay); // decay
    }
}

} // namespace

Optimizer::Rule Adamax::rule()
{
    return {.op = "Adamax",
            .numbers = numbers,
            .number = number<HostStep>,
            .number_on_device = number<DeviceStep>,
            .by_step = 1u << step_size};
}

std::vector<Optimizer::Moment> Adamax::moments_of(const Options&) { return {{"exp_avg"}, {"exp_inf"}}; }

std::vector<std::vector<Tensor>> Adamax::updated(const Update& u) const
{
    const std::vector<Tensor>& n = u.numbers;
    return each_of(u.of, n[decay], made_with(u.group).maximize, [&](const Wide& w) {
        const Tensor mean = w.moments[0] + n[share1] * (w.g - w.moments[0]);
        const Tensor largest = maximum(n[beta2_value] * w.moments[1], abs(w.g) + n[epsilon]);
        return std::vector<Tensor>{w.p - n[step_size] * mean / largest, mean, largest};
    });
}

} // namespace reprise::optim
