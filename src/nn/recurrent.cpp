
#include <reprise/autocast.hpp>
#include <reprise/nn/recurrent.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/checks.hpp"
#include "nn/repr.hpp"
#include "nn/weights.hpp"

namespace reprise::nn {

namespace {

constexpr const char* state_names[] = {"hidden state", "cell state"};

Tensor activated(const Tensor& x, Nonlinearity f) { return f == Nonlinearity::tanh ? tanh(x) : relu(x); }

Tensor gru_step(const Tensor& from_x, const Tensor& from_h, const Tensor& h)
{
    const std::vector<Tensor> x = chunk(from_x, 3, -1), u = chunk(from_h, 3, -1);
    const Tensor r = sigmoid(x[0] + u[0]), z = sigmoid(x[1] + u[1]), n = tanh(x[2] + r * u[2]);
    return n + z * (h - n);
}

void check_input(const char* name, const Tensor& x, const Tensor& weight)
{
    const Dim size = x.size(-1), wanted = weight.size(1);
    if (!same(size, wanted) && size.is_constant()) // for a symbol the matrix product checks it at each call
        detail::fail(ErrorKind::shape, name, "The input has the shape (", to_string(x.shape()),
                     ") but its last size must be the input_size (", wanted, ").");
    if (x.dtype() != autocast_to_low(weight).dtype())
        detail::fail(ErrorKind::dtype, name, "The input's dtype (", name_of(x.dtype()),
                     ") is not that of the weights (", name_of(weight.dtype()), "): cast one of them.");
}

// Returns the state after checks, or zeros where it is undefined.
Tensor checked_state(const char* name, const char* what, const Tensor& state, const Shape& shape,
                     const Tensor& x)
{
    if (!state.defined()) return zeros(shape, {.dtype = x.dtype(), .device = x.device()});
    const Shape given = state.shape();
    bool fits = given.size() == shape.size();
    std::size_t symbolic = 0; // symbolic sizes; at most one, as reshape() compares numbers of elements only
    for (std::size_t d = 0; fits && d < shape.size(); ++d) {
        if (same(given[d], shape[d])) continue;
        fits = (!given[d].is_constant() || !shape[d].is_constant()) && ++symbolic == 1;
    }
    if (!fits)
        detail::fail(ErrorKind::shape, name, "The first ", what, " has the shape (", to_string(given),
                     ") where (", to_string(shape), ") is needed.");
    if (state.dtype() != x.dtype())
        detail::fail(ErrorKind::dtype, name, "The dtype (", name_of(state.dtype()), ") of the first ", what,
                     " is not the input's (", name_of(x.dtype()), "): cast one of them.");
    return same(given, shape) ? state : reshape(state, shape);
}

LSTMState lstm_step(const Tensor& from_x, const Tensor& from_h, const Tensor& c)
{
    const std::vector<Tensor> g = chunk(from_x + from_h, 4, -1);
    const Tensor after = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2]);
    return {sigmoid(g[3]) * tanh(after), after};
}

} // namespace

// -- layers of steps --

Recurrent::Recurrent(const char* name, std::int64_t gates, std::size_t states, std::int64_t input_size,
                     std::int64_t hidden_size, const RecurrentOptions& options)
    : name_(name), gates_(gates), hidden_size_(hidden_size), states_(states), options_(options)
{
    check_at_least(name, "input_size", input_size, 1);
    check_at_least(name, "hidden_size", hidden_size, 1);
    check_at_least(name, "num_layers", options.num_layers, 1);
    if (!(options.dropout >= 0 && options.dropout <= 1))
        detail::fail(ErrorKind::argument, name, "The probability (", options.dropout,
                     ") must be from 0 to 1.");
    for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
        const std::string suffix = "_l" + std::to_string(layer);
        const std::int64_t in = layer == 0 ? input_size : hidden_size * (options.bidirectional ? 2 : 1);
        add_weights(suffix, in);
        if (options.bidirectional) add_weights(suffix + "_reverse", in);
    }
}

void Recurrent::add_weights(const std::string& suffix, std::int64_t input_size)
{
    const auto add = [&](const char* name, const Shape& shape) {
        return register_parameter(name + suffix, uniform_by_fan_in(shape, hidden_size_));
    };
    Weights& w = weights_.emplace_back();
    const std::int64_t outputs = gates_ * hidden_size_;
    w.ih = add("weight_ih", {outputs, input_size});
    w.hh = add("weight_hh", {outputs, hidden_size_});
    if (!options_.bias) return;
    w.bias_ih = add("bias_ih", {outputs});
    w.bias_hh = add("bias_hh", {outputs});
}

// Returns the first state, [layers D, N, H] for x [T, N, in].
Tensor Recurrent::first_state(const char* what, const Tensor& given, const Tensor& x, bool one) const
{
    Shape shape = {weights_.size(), hidden_size_};
    if (!one) shape.insert(shape.begin() + 1, x.size(1));
    const Tensor state = checked_state(name_, what, autocast_to_low(given), shape, x);
    return one ? unsqueeze(state, 1) : state;
}

// Runs x [T, N, in] through all steps, which update `state`, and returns [T, N, H]. One matrix product multiplies the
// inputs of all steps.
Tensor Recurrent::pass(const Tensor& x, const Weights& w, bool reverse, States& state) const
{
    const std::vector<Tensor> from_x = unbind(linear(x, w.ih, w.bias_ih), 0);
    std::vector<Tensor> out(from_x.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t t = reverse ? out.size() - 1 - i : i;
        state = step(from_x[t], linear(state[0], w.hh, w.bias_hh), state);
        out[t] = state[0];
    }
    return stack(out, 0);
}

Recurrent::Result Recurrent::run(const Tensor& given, const States& first)
{
    const Tensor input = autocast_to_low(given);
    if (input.dim() != 2 && input.dim() != 3)
        detail::fail(ErrorKind::shape, name_, "The shape (", to_string(input.shape()),
                     ") is neither of steps [T, in] nor of a batch of them.");
    check_input(name_, input, weights_[0].ih);
    const bool one = input.dim() == 2;
    Tensor x = one ? unsqueeze(input, 1) : options_.batch_first ? transpose(input, 0, 1) : input;
    if (!x.size(0).is_constant())
        detail::fail(ErrorKind::shape, name_, "The number of steps (", x.size(0),
                     ") is a symbol: record a program for each number.");
    check_at_least(name_, "number of steps", x.size(0).value(), 1);
    std::vector<std::vector<Tensor>> before(states_), last(states_);
    for (std::size_t s = 0; s < states_; ++s)
        before[s] = unbind(first_state(state_names[s], first[s], x, one), 0);
    const std::size_t directions = options_.bidirectional ? 2 : 1;
    for (std::size_t i = 0; i < weights_.size(); i += directions) {
        if (i > 0) x = dropout(x, options_.dropout, is_training());
        std::vector<Tensor> sides;
        for (std::size_t d = 0; d < directions; ++d) {
            States state;
            for (std::size_t s = 0; s < states_; ++s) state.push_back(before[s][i + d]);
            sides.push_back(pass(x, weights_[i + d], d == 1, state));
            for (std::size_t s = 0; s < states_; ++s) last[s].push_back(state[s]);
        }
        x = directions == 1 ? sides[0] : cat(sides, 2);
    }
    Result result{one ? squeeze(x, 1) : options_.batch_first ? transpose(x, 0, 1) : x, {}};
    for (const std::vector<Tensor>& all : last) {
        const Tensor state = stack(all, 0);
        result.last.push_back(one ? squeeze(state, 1) : state);
    }
    return result;
}

Tensor Recurrent::forward(Tensor x) { return run(x, States(states_)).output; }

RecurrentOutput bases::HiddenStateNetwork::operator()(Tensor x, Tensor h_0, Place where)
{
    return called(
        where, [this](Tensor& in, Tensor& h) { return forward(in, h); }, x, h_0);
}
RecurrentOutput bases::HiddenStateNetwork::forward(Tensor x, Tensor h_0)
{
    const Result result = run(x, {h_0});
    return {result.output, result.last[0]};
}

RNN::RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : HiddenStateNetwork("RNN", 1, input_size, hidden_size, options), nonlinearity_(options.nonlinearity)
{}
Recurrent::States RNN::step(const Tensor& from_x, const Tensor& from_h, const States&) const
{
    return {activated(from_x + from_h, nonlinearity_)};
}

GRU::GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : HiddenStateNetwork("GRU", 3, input_size, hidden_size, options)
{}
Recurrent::States GRU::step(const Tensor& from_x, const Tensor& from_h, const States& before) const
{
    return {gru_step(from_x, from_h, before[0])};
}

LSTM::LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : Recurrent("LSTM", 4, 2, input_size, hidden_size, options)
{}
LSTMOutput LSTM::operator()(Tensor x, LSTMState before, Place where)
{
    return called(
        where, [this](Tensor& in, LSTMState& state) { return forward(in, state); }, x, before);
}
LSTMOutput LSTM::forward(Tensor x, LSTMState before)
{
    const auto& [h, c] = before;
    const Result result = run(x, {h, c});
    return {result.output, {result.last[0], result.last[1]}};
}
Recurrent::States LSTM::step(const Tensor& from_x, const Tensor& from_h, const States& before) const
{
    const auto [h, c] = lstm_step(from_x, from_h, before[1]);
    return {h, c};
}

std::string Recurrent::extra_repr() const
{
    if (weights_.empty()) return {};
    return Repr()
        .value(weights_[0].ih.size(1).value())
        .value(hidden_size_)
        .unless("num_layers", options_.num_layers, std::int64_t{1})
        .unless("bias", options_.bias, true)
        .unless("batch_first", options_.batch_first, false)
        .unless("dropout", options_.dropout, 0.0)
        .unless("bidirectional", options_.bidirectional, false)
        .text();
}

// -- single steps --

RecurrentCell::RecurrentCell(const char* name, std::int64_t gates, std::int64_t input_size,
                             std::int64_t hidden_size, bool bias)
    : name_(name)
{
    check_at_least(name, "input_size", input_size, 1);
    check_at_least(name, "hidden_size", hidden_size, 1);
    const std::int64_t outputs = gates * hidden_size;
    weight_ih = register_parameter("weight_ih", uniform_by_fan_in({outputs, input_size}, hidden_size));
    weight_hh = register_parameter("weight_hh", uniform_by_fan_in({outputs, hidden_size}, hidden_size));
    if (!bias) return;
    bias_ih = register_parameter("bias_ih", uniform_by_fan_in({outputs}, hidden_size));
    bias_hh = register_parameter("bias_hh", uniform_by_fan_in({outputs}, hidden_size));
}

std::string RecurrentCell::extra_repr() const
{
    if (!weight_ih.defined()) return {};
    return Repr()
        .value(weight_ih.size(1).value())
        .value(weight_hh.size(1).value())
        .unless("bias", bias_ih.defined(), true)
        .text();
}

std::vector<Tensor> RecurrentCell::states(const Tensor& input, const std::vector<Tensor>& given) const
{
    const Tensor x = autocast_to_low(input);
    if (x.dim() != 1 && x.dim() != 2)
        detail::fail(ErrorKind::shape, name_, "The shape (", to_string(x.shape()),
                     ") is neither of one step [in] nor of a batch of them [N, in].");
    check_input(name_, x, weight_ih);
    Shape shape = x.shape();
    shape.back() = weight_hh.size(1);
    std::vector<Tensor> out;
    for (std::size_t s = 0; s < given.size(); ++s)
        out.push_back(checked_state(name_, state_names[s], autocast_to_low(given[s]), shape, x));
    return out;
}

Tensor RNNCell::operator()(Tensor x, Tensor h, Place where)
{
    return called(
        where, [this](Tensor& in, Tensor& state) { return forward(in, state); }, x, h);
}
Tensor RNNCell::forward(Tensor x, Tensor h)
{
    const Tensor before = states(x, {h})[0];
    return activated(linear(x, weight_ih, bias_ih) + linear(before, weight_hh, bias_hh), nonlinearity_);
}

Tensor GRUCell::operator()(Tensor x, Tensor h, Place where)
{
    return called(
        where, [this](Tensor& in, Tensor& state) { return forward(in, state); }, x, h);
}
Tensor GRUCell::forward(Tensor x, Tensor h)
{
    const Tensor before = states(x, {h})[0];
    return gru_step(linear(x, weight_ih, bias_ih), linear(before, weight_hh, bias_hh), before);
}

LSTMState LSTMCell::operator()(Tensor x, LSTMState before, Place where)
{
    return called(
        where, [this](Tensor& in, LSTMState& state) { return forward(in, state); }, x, before);
}
LSTMState LSTMCell::forward(Tensor x, LSTMState before)
{
    const auto& [h, c] = before;
    const std::vector<Tensor> all = states(x, {h, c});
    return lstm_step(linear(x, weight_ih, bias_ih), linear(all[0], weight_hh, bias_hh), all[1]);
}

} // namespace reprise::nn
