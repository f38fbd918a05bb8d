// Recurrent networks of one layer.
#include <algorithm>
#include <cctype>
#include <functional>
#include <initializer_list>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

using Activation = std::function<Tensor(const Tensor&)>;

// An activation function by its name, case-insensitively, with its numbers.
Activation activation(const Call& call, std::string name, std::optional<double> alpha,
                      std::optional<double> beta)
{
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const double a = alpha.value_or(name == "leakyrelu" ? 0.01 : name == "hardsigmoid" ? 0.2 : 1);
    const double b = beta.value_or(name == "hardsigmoid" ? 0.5 : name == "scaledtanh" ? 1 : 0);
    const std::pair<const char*, Activation> known[] = {
        {"relu", [](const Tensor& x) { return relu(x); }},
        {"tanh", [](const Tensor& x) { return tanh(x); }},
        {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
        {"softsign", [](const Tensor& x) { return softsign(x); }},
        {"softplus", [](const Tensor& x) { return softplus(x); }},
        {"affine", [=](const Tensor& x) { return affine(x, a, b); }},
        {"leakyrelu", [=](const Tensor& x) { return leaky_relu(x, a); }},
        {"thresholdedrelu", [=](const Tensor& x) { return threshold(x, a, 0); }},
        {"scaledtanh", [=](const Tensor& x) { return mul(tanh(mul(x, b)), a); }},
        {"hardsigmoid", [=](const Tensor& x) { return clamp(affine(x, a, b), 0, 1); }},
        {"elu", [=](const Tensor& x) { return elu(x, a); }},
    };
    for (const auto& [key, f] : known)
        if (name == key) return f;
    call.fail("The activation (", name, ") is not known.");
}

bool is_one_of(std::string name, std::initializer_list<const char*> names)
{
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether a function has a number alpha or beta; only such functions take one of the lists.
bool has_alpha(const std::string& name)
{
    return is_one_of(name, {"affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu"});
}
bool has_beta(const std::string& name) { return is_one_of(name, {"affine", "scaledtanh", "hardsigmoid"}); }

// One direction: parameters of G gates, and the state before the first step.
struct Direction {
    Tensor w, r, wb, rb;       // [G H, in], [G H, H], [G H] or undefined
    Tensor peephole;           // [3 H] or undefined
    Tensor h, c;               // [N, H]
    std::vector<Activation> f; // of the gates
    bool reverse = false;
};

// The state after one step, from the contribution of the input [N, G H].
using Step = std::function<void(const Call&, const Tensor& from_x, Direction&)>;

Tensor clipped(const Call& call, const Tensor& x)
{
    if (!call.has_attribute("clip")) return x;
    const double limit = call.real("clip", 0);
    return clamp(x, -limit, limit);
}

Tensor product(const Tensor& x, const Tensor& weight, const Tensor& bias) { return linear(x, weight, bias); }

void rnn_step(const Call& call, const Tensor& from_x, Direction& d)
{
    d.h = d.f[0](clipped(call, add(from_x, product(d.h, d.r, d.rb))));
}

void gru_step(const Call& call, const Tensor& from_x, Direction& d)
{
    const Dim hidden = d.h.size(1);
    const auto part = [&](const Tensor& x, std::int64_t gate) {
        return x.defined() ? narrow(x, x.dim() - 1, hidden * gate, hidden) : x;
    };
    const auto rows_of = [&](std::int64_t gate) { return narrow(d.r, 0, hidden * gate, hidden); };
    const Tensor z = d.f[0](clipped(call, add(part(from_x, 0), product(d.h, rows_of(0), part(d.rb, 0)))));
    const Tensor r = d.f[0](clipped(call, add(part(from_x, 1), product(d.h, rows_of(1), part(d.rb, 1)))));
    Tensor from_h;
    if (call.flag("linear_before_reset")) from_h = mul(r, product(d.h, rows_of(2), part(d.rb, 2)));
    else from_h = product(mul(r, d.h), rows_of(2), part(d.rb, 2));
    const Tensor n = d.f[1](clipped(call, add(part(from_x, 2), from_h)));
    d.h = add(sub(n, mul(z, n)), mul(z, d.h));
}

void lstm_step(const Call& call, const Tensor& from_x, Direction& d)
{
    const Dim hidden = d.h.size(1);
    const Tensor all = add(from_x, product(d.h, d.r, d.rb));
    const auto gate = [&](std::int64_t i) { return narrow(all, 1, hidden * i, hidden); };
    const auto peeped = [&](const Tensor& x, std::int64_t i, const Tensor& cell) {
        return d.peephole.defined() ? add(x, mul(narrow(d.peephole, 0, hidden * i, hidden), cell)) : x;
    };
    const Tensor i = d.f[0](clipped(call, peeped(gate(0), 0, d.c)));
    const Tensor f =
        call.flag("input_forget") ? sub(ones_like(i), i) : d.f[0](clipped(call, peeped(gate(2), 2, d.c)));
    const Tensor g = d.f[1](clipped(call, gate(3)));
    d.c = add(mul(f, d.c), mul(i, g));
    const Tensor o = d.f[0](clipped(call, peeped(gate(1), 1, d.c)));
    d.h = mul(o, d.f[2](d.c));
}

// Runs all steps of x [T, N, in]; the outputs by step.
std::vector<Tensor> pass(const Call& call, const Tensor& x, const Tensor& lengths, Direction& d,
                         const Step& step)
{
    if (!x.size(0).is_constant())
        call.fail("The number of steps (", x.size(0).text(),
                  ") must be constant: give it in the spec of the input.");
    const std::int64_t steps = x.size(0).value();
    const Tensor from_x = product(x, d.w, d.wb);
    std::vector<Tensor> out(static_cast<std::size_t>(steps));
    for (std::int64_t k = 0; k < steps; ++k) {
        const std::int64_t t = d.reverse ? steps - 1 - k : k;
        const Tensor h = d.h, c = d.c;
        step(call, select(from_x, 0, t), d);
        Tensor y = d.h;
        if (lengths.defined()) {
            const Tensor inside = unsqueeze(gt(lengths, static_cast<double>(t)), 1);
            y = where(inside, d.h, zeros_like(d.h));
            d.h = where(inside, d.h, h);
            if (c.defined()) d.c = where(inside, d.c, c);
        }
        out[static_cast<std::size_t>(t)] = y;
    }
    return out;
}

struct Kind {
    std::int64_t gates;
    std::vector<std::string> activations; // of one direction
    bool cell;                            // whether there is a cell state
    Step step;
};

Direction read_direction(const Call& call, const Kind& kind, std::int64_t index, const Tensor& x,
                         bool batch_first)
{
    Direction d;
    d.w = select(call[1], 0, index);
    d.r = select(call[2], 0, index);
    const Dim hidden = d.r.size(1);
    if (call.has(3)) {
        const Tensor bias = select(call[3], 0, index);
        d.wb = narrow(bias, 0, 0, hidden * kind.gates);
        d.rb = narrow(bias, 0, hidden * kind.gates, hidden * kind.gates);
    }
    const auto state = [&](std::size_t input) {
        if (!call.has(input))
            return zeros(Shape{x.size(1), hidden}, {.dtype = x.dtype(), .device = call.device});
        return select(call[input], batch_first ? 1 : 0, index);
    };
    d.h = state(5);
    if (kind.cell) d.c = state(6);
    if (kind.cell && call.has(7)) d.peephole = select(call[7], 0, index);
    const std::vector<std::string> names = call.texts("activations");
    const std::vector<double> alphas = call.reals("activation_alpha"), betas = call.reals("activation_beta");
    std::size_t next_alpha = 0, next_beta = 0;
    const auto take = [](const std::vector<double>& list, std::size_t& next, bool has) {
        const std::size_t at = has ? next++ : list.size();
        return at < list.size() ? std::optional(list[at]) : std::nullopt;
    };
    const std::size_t count = kind.activations.size(), first = static_cast<std::size_t>(index) * count;
    for (std::size_t at = 0; at < first + count; ++at) { // also those of the direction before
        const std::string name = at < names.size() ? names[at] : kind.activations[at % count];
        const auto alpha = take(alphas, next_alpha, has_alpha(name)),
                   beta = take(betas, next_beta, has_beta(name));
        if (at >= first) d.f.push_back(activation(call, name, alpha, beta));
    }
    return d;
}

Values recurrent(Call& call, const Kind& kind)
{
    const bool batch_first = call.flag("layout");
    const Tensor x = batch_first ? transpose(call[0], 0, 1) : call[0];
    const Tensor lengths = call.has(4) ? call[4] : Tensor();
    const std::string direction =
        call.choice("direction", "forward", {"forward", "reverse", "bidirectional"});
    const std::int64_t count = direction == "bidirectional" ? 2 : 1;
    std::vector<Tensor> by_direction, h, c;
    for (std::int64_t i = 0; i < count; ++i) {
        Direction d = read_direction(call, kind, i, x, batch_first);
        d.reverse = direction == "reverse" || i == 1;
        by_direction.push_back(stack(pass(call, x, lengths, d, kind.step), 0)); // [T, N, H]
        h.push_back(d.h);
        if (kind.cell) c.push_back(d.c);
    }
    const Tensor y = batch_first ? transpose(stack(by_direction, 2), 0, 1) : stack(by_direction, 1);
    Values results{Value(y), Value(stack(h, batch_first ? 1 : 0))};
    if (kind.cell) results.emplace_back(stack(c, batch_first ? 1 : 0));
    return results;
}

Values rnn(Call& call) { return recurrent(call, {1, {"Tanh"}, false, rnn_step}); }
Values gru(Call& call) { return recurrent(call, {3, {"Sigmoid", "Tanh"}, false, gru_step}); }
Values lstm(Call& call) { return recurrent(call, {4, {"Sigmoid", "Tanh", "Tanh"}, true, lstm_step}); }

const Operator rows[] = {
    {"GRU", gru, {.since = 7, .limits = "the number of steps must be constant"}},
    {"LSTM", lstm, {.since = 7, .limits = "the number of steps must be constant"}},
    {"RNN", rnn, {.since = 7, .limits = "the number of steps must be constant"}},
};

} // namespace

Operators recurrent_operators() { return rows; }

} // namespace reprise::onnx
