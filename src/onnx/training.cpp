// Steps of optimizers as operators (ai.onnx.preview.training).
#include <cmath>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

// The inputs after rate and count are groups of n tensors: values, gradients and states.
struct Step {
    std::size_t count; // n
    double rate, t;
    double decay; // of the values in the gradient
};

Step read_step(const Call& call, std::size_t groups)
{
    if (call.inputs() < 2 || (call.inputs() - 2) % groups != 0)
        call.fail("There are (", call.inputs(), ") inputs, not 2 and groups of (", groups, ").");
    return {(call.inputs() - 2) / groups, call.number(0, 0), call.number(1, 0),
            call.real("norm_coefficient", 0)};
}

Tensor gradient(const Call& call, const Step& s, std::size_t i)
{
    return add(call[2 + s.count + i], mul(call[2 + i], s.decay));
}

Values adagrad(Call& call)
{
    const Step s = read_step(call, 3);
    const double rate = s.rate / (1 + s.t * call.real("decay_factor", 0)), eps = call.real("epsilon", 1e-6);
    Values out(2 * s.count);
    for (std::size_t i = 0; i < s.count; ++i) {
        const Tensor g = gradient(call, s, i), h = add(call[2 + 2 * s.count + i], square(g));
        out[i] = sub(call[2 + i], mul(div(g, add(sqrt(h), eps)), rate));
        out[s.count + i] = h;
    }
    return out;
}

Values adam(Call& call)
{
    const Step s = read_step(call, 4);
    const double alpha = call.real("alpha", 0.9), beta = call.real("beta", 0.999),
                 eps = call.real("epsilon", 1e-6);
    const double rate =
        s.t > 0 ? s.rate * std::sqrt(1 - std::pow(beta, s.t)) / (1 - std::pow(alpha, s.t)) : s.rate;
    const double after = 1 - call.real("norm_coefficient_post", 0);
    Values out(3 * s.count);
    for (std::size_t i = 0; i < s.count; ++i) {
        const Tensor g = gradient(call, s, i);
        const Tensor v = add(mul(call[2 + 2 * s.count + i], alpha), mul(g, 1 - alpha));
        const Tensor h = add(mul(call[2 + 3 * s.count + i], beta), mul(square(g), 1 - beta));
        out[i] = mul(sub(call[2 + i], mul(div(v, add(sqrt(h), eps)), rate)), after);
        out[s.count + i] = v;
        out[2 * s.count + i] = h;
    }
    return out;
}

Values momentum(Call& call)
{
    const Step s = read_step(call, 3);
    const double alpha = call.real("alpha", 0), beta = s.t > 0 ? call.real("beta", 1) : 1;
    const bool nesterov = call.text("mode") == "nesterov";
    Values out(2 * s.count);
    for (std::size_t i = 0; i < s.count; ++i) {
        const Tensor g = gradient(call, s, i);
        const Tensor v = add(mul(call[2 + 2 * s.count + i], alpha), mul(g, beta));
        out[i] = sub(call[2 + i], mul(nesterov ? add(g, mul(v, alpha)) : v, s.rate));
        out[s.count + i] = v;
    }
    return out;
}

constexpr const char* own_domain = "ai.onnx.preview.training";
constexpr const char* limits = "rate and count are read on the host";

const Operator rows[] = {
    {"Adagrad", adagrad, {.constants = 0b11, .limits = limits, .domain = own_domain}},
    {"Adam", adam, {.constants = 0b11, .limits = limits, .domain = own_domain}},
    {"Momentum", momentum, {.constants = 0b11, .limits = limits, .domain = own_domain}},
};

} // namespace

Operators training_operators() { return rows; }

} // namespace reprise::onnx
