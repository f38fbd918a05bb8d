#include <reprise/ops/updates.hpp>
#include <reprise/optim/lion.hpp>

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, beta1, beta2, weight_decay };
enum Number : std::size_t { rate, beta1_value, share1, beta2_value, share2, shrink, numbers };

double number(std::size_t n, const HostStep& s)
{
    switch (n) {
    case rate: return s.option(lr);
    case beta1_value: return s.option(beta1);
    case share1: return 1 - s.option(beta1);
    case beta2_value: return s.option(beta2);
    case share2: return 1 - s.option(beta2);
    default: return 1 - s.option(lr) * s.option(weight_decay); // shrink
    }
}

} // namespace

Optimizer::Rule Lion::rule()
{
    return {.op = "Lion", .numbers = numbers, .number = number, .skips = true, .low_precision = true};
}

std::vector<Optimizer::Moment> Lion::moments_of(const Options&) { return {{"exp_avg"}}; }

std::vector<std::vector<Tensor>> Lion::updated(const Update& u) const
{
    return lion_step(u.of, {.lr = u.numbers[rate],
                            .beta1 = u.numbers[beta1_value],
                            .share1 = u.numbers[share1],
                            .beta2 = u.numbers[beta2_value],
                            .share2 = u.numbers[share2],
                            .kept = u.numbers[shrink],
                            .maximize = made_with(u.group).maximize,
                            .skip = u.skipped(),
                            .stochastic_rounding = u.stochastic_rounding});
}

} // namespace reprise::optim
