#include <reprise/ops/updates.hpp>
#include <reprise/optim/rmsprop.hpp>

namespace reprise::optim {

namespace {

enum Number : std::size_t {
    lr,
    alpha,
    eps,
    weight_decay,
    momentum,
    share
}; // the options in their order, then 1 - alpha

double number(std::size_t n, const HostStep& s) { return n == share ? 1 - s.option(alpha) : s.option(n); }

} // namespace

Optimizer::Rule RMSprop::rule()
{
    return {.op = "RMSprop", .numbers = 6, .number = number, .skips = true, .low_precision = true};
}

std::vector<Optimizer::Moment> RMSprop::moments_of(const Options& o)
{
    // The variance is a difference of averages, which few bits leave nothing of.
    if (o.centered &&
        (o.precision.moments == MomentFormat::bf16 || o.precision.moments == MomentFormat::eight_bit))
        detail::fail(ErrorKind::argument, "RMSprop",
                     "With `centered` the moments need the format f32 (MomentFormat::f32).");
    std::vector<Moment> moments{{"square_avg"}};
    if (o.centered) moments.push_back({"grad_avg"});
    if (o.momentum != 0) moments.push_back({"momentum_buffer"});
    for (Moment& m : moments) m.needs_f32 = o.centered;
    return moments;
}

std::vector<std::vector<Tensor>> RMSprop::updated(const Update& u) const
{
    return rmsprop_step(u.of, {.lr = u.numbers[lr],
                               .alpha = u.numbers[alpha],
                               .share = u.numbers[share],
                               .eps = u.numbers[eps],
                               .momentum = u.numbers[momentum],
                               .weight_decay = u.numbers[weight_decay],
                               .centered = made_with(u.group).centered,
                               .maximize = made_with(u.group).maximize,
                               .skip = u.skipped(),
                               .stochastic_rounding = u.stochastic_rounding});
}

} // namespace reprise::optim
