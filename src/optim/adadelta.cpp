#include <reprise/optim/adadelta.hpp>

#include "optim/composed.hpp"

namespace reprise::optim {

namespace {

enum Number : std::size_t { lr, rho, eps, weight_decay, share }; // the options in their order, then 1 - rho

double number(std::size_t n, const HostStep& s) { return n == share ? 1 - s.option(rho) : s.option(n); }

} // namespace

Optimizer::Rule Adadelta::rule() { return {.op = "Adadelta", .numbers = 5, .number = number}; }

std::vector<Optimizer::Moment> Adadelta::moments_of(const Options& o)
{
    if (!(o.rho <= 1))
        detail::fail(ErrorKind::argument, "Adadelta", "The rho (", o.rho, ") must be from 0 to 1.");
    return {{"square_avg"}, {"acc_delta"}};
}

std::vector<std::vector<Tensor>> Adadelta::updated(const Update& u) const
{
    const std::vector<Tensor>& n = u.numbers;
    return each_of(u.of, n[weight_decay], made_with(u.group).maximize, [&](const Wide& w) {
        const Tensor square = n[rho] * w.moments[0] + n[share] * w.g * w.g;
        const Tensor delta = sqrt(w.moments[1] + n[eps]) / sqrt(square + n[eps]) * w.g;
        const Tensor squared_deltas = n[rho] * w.moments[1] + n[share] * delta * delta;
        return std::vector<Tensor>{w.p - n[lr] * delta, square, squared_deltas};
    });
}

} // namespace reprise::optim
