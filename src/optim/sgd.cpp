#include <reprise/ops/updates.hpp>
#include <reprise/optim.hpp>

namespace reprise::optim {

namespace {

// With dampening, the share of the gradient that the velocity takes differs at the first step: it is a number
// of the host then.  Without momentum there is no velocity.
std::vector<std::string> velocity_of(const SGDOptions& options)
{
    return options.momentum != 0 ? std::vector<std::string>{"momentum_buffer"} : std::vector<std::string>{};
}

bool share_varies(const SGDOptions& options) { return options.momentum != 0 && options.dampening != 0; }

} // namespace

SGD::SGD(std::vector<Variable> parameters, const SGDOptions& options)
    : Optimizer(std::move(parameters), options.lr,
                {.op = "SGD",
                 .moments = velocity_of(options),
                 .step_numbers = share_varies(options) ? 1u : 0u,
                 .step_number = [later = 1 - options.dampening](
                                    std::size_t, std::int64_t step) { return step == 1 ? 1.0 : later; }}),
      options_(options)
{
    check_not_negative("momentum", options.momentum);
    check_not_negative("dampening", options.dampening);
    check_not_negative("weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
        detail::fail(ErrorKind::argument, "SGD", "Nesterov momentum needs a momentum (", options.momentum,
                     ") above 0 and a dampening (", options.dampening, ") of 0.");
}

std::vector<Tensor> SGD::updated(const Update& u) const
{
    if (share_varies(options_)) {
        const Tensor gradient =
            options_.weight_decay != 0 ? u.gradient + u.parameter * options_.weight_decay : u.gradient;
        const Tensor velocity = u.moments[0] * options_.momentum + gradient * u.step_numbers[0];
        return {u.parameter - velocity * u.learning_rate, velocity};
    }
    const bool has_velocity = options_.momentum != 0;
    const Tensor before = has_velocity ? Tensor(u.moments[0]) : Tensor();
    const auto [parameter, velocity] = sgd_step(u.parameter, u.gradient, before,
                                                {.lr = u.learning_rate,
                                                 .momentum = options_.momentum,
                                                 .weight_decay = options_.weight_decay,
                                                 .nesterov = options_.nesterov});
    if (!has_velocity) return {parameter};
    return {parameter, velocity};
}

} // namespace reprise::optim
