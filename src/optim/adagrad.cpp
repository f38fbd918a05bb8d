#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/updates.hpp>
#include <reprise/optim/adagrad.hpp>

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, lr_decay, weight_decay, eps };
enum Number : std::size_t { rate, decay, epsilon };

template <class Step> typename Step::Number number(std::size_t n, const Step& s)
{
    if (n == rate) return s.option(lr) / (1 + (s.t() - 1) * s.option(lr_decay));
    return s.option(n == decay ? weight_decay : eps);
}

} // namespace

Optimizer::Rule Adagrad::rule()
{
    return {.op = "Adagrad",
            .numbers = 3,
            .number = number<HostStep>,
            .number_on_device = number<DeviceStep>,
            .by_step = 1u << rate,
            .skips = true,
            .low_precision = true};
}

std::vector<Optimizer::Moment> Adagrad::moments_of(const Options& o)
{
    if (!(o.initial_accumulator_value >= 0))
        detail::fail(ErrorKind::argument, "Adagrad", "The initial_accumulator_value (",
                     o.initial_accumulator_value, ") must be at least 0.");
    if (o.initial_accumulator_value != 0 && o.precision.moments == MomentFormat::eight_bit)
        detail::fail(ErrorKind::argument, "Adagrad", "The initial_accumulator_value (",
                     o.initial_accumulator_value, ") must be 0 for moments in 8 bits.");
    return {{"sum", o.initial_accumulator_value}};
}

std::vector<std::vector<Tensor>> Adagrad::updated(const Update& u) const
{
    return adagrad_step(u.of, {.lr = u.numbers[rate],
                               .eps = u.numbers[epsilon],
                               .weight_decay = u.numbers[decay],
                               .maximize = made_with(u.group).maximize,
                               .skip = u.skipped(),
                               .stochastic_rounding = u.stochastic_rounding});
}

} // namespace reprise::optim
