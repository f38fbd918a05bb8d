#include <reprise/ops/updates.hpp>
#include <reprise/optim/adagrad.hpp>

namespace reprise::optim {

namespace {

enum Option : std::size_t { lr, lr_decay, weight_decay, eps };
enum Number : std::size_t { rate, decay, epsilon };

double number(std::size_t n, const double* o, std::int64_t step)
{
    if (n == rate) return o[lr] / (1 + static_cast<double>(step - 1) * o[lr_decay]);
    return n == decay ? o[weight_decay] : o[eps];
}

} // namespace

Optimizer::Rule Adagrad::rule()
{
    return {.op = "Adagrad", .numbers = 3, .number = number, .by_step = 1u << rate};
}

std::vector<Optimizer::Moment> Adagrad::moments_of(const Options& o)
{
    if (!(o.initial_accumulator_value >= 0))
        detail::fail(ErrorKind::argument, "Adagrad", "The initial_accumulator_value (",
                     o.initial_accumulator_value, ") must be at least 0.");
    return {{"sum", o.initial_accumulator_value}};
}

std::vector<std::vector<Tensor>> Adagrad::updated(const Update& u) const
{
    return adagrad_step(u.of, {.lr = u.numbers[rate],
                               .eps = u.numbers[epsilon],
                               .weight_decay = u.numbers[decay],
                               .maximize = made_with(u.group).maximize});
}

} // namespace reprise::optim
