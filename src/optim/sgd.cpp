#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/updates.hpp>
#include <reprise/optim/sgd.hpp>

namespace reprise::optim {

namespace {

enum Number : std::size_t {
    lr,
    momentum,
    dampening,
    weight_decay
}; // the options and the numbers of sgd_step()

template <class Step> typename Step::Number number(std::size_t n, const Step& s)
{
    if (n != dampening) return s.option(n);
    return where(s.t() == 1, 1, 1 - s.option(dampening)); // the gradient's factor in the velocity
}

} // namespace

Optimizer::Rule SGD::rule()
{
    return {.op = "SGD",
            .numbers = 4,
            .number = number<HostStep>,
            .number_on_device = number<DeviceStep>,
            .by_step = 1u << dampening,
            .skips = true,
            .low_precision = true};
}

std::vector<Optimizer::Moment> SGD::moments_of(const Options& o)
{
    if (o.nesterov && (!(o.momentum > 0) || o.dampening != 0))
        detail::fail(ErrorKind::argument, "SGD", "Nesterov momentum needs a momentum (", o.momentum,
                     ") above 0 and a dampening (", o.dampening, ") of 0.");
    std::vector<Moment> moments;
    if (o.momentum != 0) moments.push_back({"momentum_buffer"});
    return moments;
}

std::vector<std::vector<Tensor>> SGD::updated(const Update& u) const
{
    return sgd_step(u.of, {.lr = u.numbers[lr],
                           .momentum = u.numbers[momentum],
                           .share = u.numbers[dampening],
                           .weight_decay = u.numbers[weight_decay],
                           .nesterov = made_with(u.group).nesterov,
                           .maximize = made_with(u.group).maximize,
                           .skip = u.skipped(),
                           .stochastic_rounding = u.stochastic_rounding});
}

} // namespace reprise::optim
