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

double number(std::size_t n, const double* o, std::int64_t step)
{
    if (n == dampening) return step == 1 ? 1 : 1 - o[dampening]; // the gradient's factor in the velocity
    return o[n];
}

} // namespace

Optimizer::Rule SGD::rule()
{
    return {.op = "SGD", .numbers = 4, .number = number, .by_step = 1u << dampening};
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
                           .maximize = made_with(u.group).maximize});
}

} // namespace reprise::optim
