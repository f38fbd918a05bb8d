// Recurrent networks.  The number of time steps is a size of the input and must not be symbolic while a
// program is recorded, so each number needs its own program; the batch size may be symbolic.
#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <reprise/choice.hpp>
#include <reprise/nn/module.hpp>

namespace reprise::nn {

// The function that an RNN or RNNCell applies in each step.
enum class Nonlinearity { tanh, relu };
// PyTorch's names of them, for Choice.
inline constexpr ChoiceNames<Nonlinearity, 2> names_of_choices(Nonlinearity)
{
    using enum Nonlinearity;
    return {{{"tanh", tanh}, {"relu", relu}}};
}
// Options of RNN, GRU and LSTM.
struct RecurrentOptions {
    std::int64_t num_layers = 1; // each further layer takes the outputs of the previous one
    bool bias = true;            // whether there are biases
    bool batch_first = false;    // inputs and outputs are [N, T, ...], not [T, N, ...]; not the states
    double dropout = 0;          // probability of the dropout between two layers in training
    bool bidirectional = false;  // each layer also has a pass from the last step to the first
    Choice<Nonlinearity> nonlinearity = Nonlinearity::tanh; // RNN only
};

// RNN, GRU and LSTM call an override of forward(Tensor) through Module, and their own with a state otherwise.
// g++ 12 and clang-cl, which does not define __GNUC__, warn about the hidden function of the base class, so both
// classes are inside this pragma.
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
#endif

// The base class of RNN, GRU and LSTM: x [T, N, in] or [T, in] -> [T, N, D H] or [T, D H] for H = hidden_size
// and D directions.  States are [layers D, N, H] or [layers D, H].  Throws Error(shape) and Error(dtype)
// where input and states do not fit.
//
// Parameters for G gates: weight_ih_l0 [G H, in], weight_hh_l0 [G H, H], bias_ih_l0 and bias_hh_l0 [G H];
// those of further layers end in _l1, ..., those of the backward direction in _l0_reverse, ...  All are
// initialised uniformly from -b to b, b = 1 / sqrt(H).
class Recurrent : public Module {
public:
    using Options = RecurrentOptions; // for make()
    using Module::Module;
    // Returns the output only, from states of zeros.  Sequential calls this.
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

protected:
    using States = std::vector<Tensor>; // the hidden state, and the cell state of an LSTM
    // Takes the number of gates and the number of state tensors; name: the class name, for errors.  Throws
    // Error(argument) for sizes or layers below 1 and a dropout that is not from 0 to 1.
    Recurrent(const char* name, std::int64_t gates, std::size_t states, std::int64_t input_size,
              std::int64_t hidden_size, const RecurrentOptions&);
    // The result of run().
    struct Result {
        Tensor output; // of the last layer, for all steps
        States last;   // of all layers and directions, after their last step
    };
    // Runs all steps, layers and directions; undefined states are zeros.
    Result run(const Tensor& x, const States& first);
    // Returns the states after one step, from the previous ones and the contributions of input and hidden
    // state to the gates, each [N, G H] and including its bias.
    virtual States step(const Tensor& from_x, const Tensor& from_h, const States& before) const = 0;

private:
    struct Weights {
        Variable ih, hh, bias_ih, bias_hh;
    };
    void add_weights(const std::string& suffix, std::int64_t input_size);
    Tensor first_state(const char* what, const Tensor& given, const Tensor& x, bool one) const;
    Tensor pass(const Tensor& x, const Weights&, bool reverse, States& state) const;

    const char* name_ = nullptr;
    std::int64_t gates_ = 0, hidden_size_ = 0;
    std::size_t states_ = 0;
    RecurrentOptions options_;
    std::vector<Weights> weights_; // by layer, and in it by direction
};

// The result of a call of RNN or GRU: the hidden states of the last layer at all steps, [T, N, D H] or [T, D
// H], and the hidden states of all layers after the last step, [layers D, N, H] or [layers D, H].
using RecurrentOutput = std::tuple<Tensor, Tensor>;

namespace bases { // of modules that share options

// The base class of RNN and GRU, which have a hidden state only.
class HiddenStateNetwork : public Recurrent {
public:
    using Recurrent::Recurrent;
    // Returns the output and the last state, from the state h_0 before the first step; undefined: zeros.
    RecurrentOutput forward(Tensor x, Tensor h_0 = {});
    // Calls forward(x, h_0) with the module's hooks.
    RecurrentOutput operator()(Tensor x, Tensor h_0 = {}, // undefined: zeros
                               Place where = Place(std::source_location::current()));

protected:
    // Takes the arguments of Recurrent, for one state tensor.
    HiddenStateNetwork(const char* name, std::int64_t gates, std::int64_t input_size,
                       std::int64_t hidden_size, const RecurrentOptions& options)
        : Recurrent(name, gates, 1, input_size, hidden_size, options)
    {}
};

} // namespace bases

// Elman network: h' = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh), or relu.
class RNN : public bases::HiddenStateNetwork {
public:
    REPRISE_LAYER(RNN)
    using HiddenStateNetwork::HiddenStateNetwork;
    // Throws Error(argument) for sizes or layers below 1 and a dropout that is not from 0 to 1.
    RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});

protected:
    States step(const Tensor& from_x, const Tensor& from_h, const States& before) const override;

private:
    Nonlinearity nonlinearity_ = Nonlinearity::tanh;
};

// Gated recurrent unit (Cho et al., 2014): h' = (1 - z) n + z h with the gates r and z, sigmoids of sums as
// in RNN, and n = tanh(W_in x + b_in + r (W_hn h + b_hn)).  The parameters hold the rows of r, z and n in
// this order.
class GRU : public bases::HiddenStateNetwork {
public:
    REPRISE_LAYER(GRU)
    using HiddenStateNetwork::HiddenStateNetwork;
    // Throws Error(argument) for sizes or layers below 1 and a dropout that is not from 0 to 1.
    GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});

protected:
    States step(const Tensor& from_x, const Tensor& from_h, const States& before) const override;
};

// The states of an LSTM: the hidden state and the cell state; undefined ones are zeros.
using LSTMState = std::tuple<Tensor, Tensor>;
// The result of a call of LSTM: the hidden states of the last layer at all steps, [T, N, D H] or [T, D H],
// and the states after the last step, each [layers D, N, H] or [layers D, H].
using LSTMOutput = std::tuple<Tensor, LSTMState>;
// Long short-term memory (Hochreiter and Schmidhuber, 1997): c' = f c + i g and h' = o tanh(c') with the
// gates i, f and o, sigmoids of sums as in RNN, and g, a tanh of such a sum.  The parameters hold the
// rows of i, f, g and o in this order.
//
//     auto [output, state] = lstm(x);  // then lstm(x, state), or lstm(x, {h, c})
//     auto [h, c] = state;
class LSTM : public Recurrent {
public:
    REPRISE_LAYER(LSTM)
    using Recurrent::Recurrent;
    // Throws Error(argument) for sizes or layers below 1 and a dropout that is not from 0 to 1.
    LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
    // Returns the output and the last states, from the states before the first step.
    LSTMOutput forward(Tensor x, LSTMState before = {});
    // Calls forward(x, before) with the module's hooks.
    LSTMOutput operator()(Tensor x, LSTMState before = {},
                          Place where = Place(std::source_location::current()));

protected:
    States step(const Tensor& from_x, const Tensor& from_h, const States& before) const override;
};

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

// Options of RNNCell, GRUCell and LSTMCell.
struct RecurrentCellOptions {
    bool bias = true;                                       // whether there are biases
    Choice<Nonlinearity> nonlinearity = Nonlinearity::tanh; // RNNCell only
};

// The base class of cells, which compute one step: x [N, in] or [in], states [N, H] or [H].  Parameters are
// initialised as those of Recurrent.  Throws Error(shape) and Error(dtype) where input and states do not fit.
class RecurrentCell : public Module {
public:
    using Module::Module;
    std::string extra_repr() const override;
    Variable weight_ih, // [G H, in] for G gates
        weight_hh,      // [G H, H]
        bias_ih,        // [G H]; undefined without biases
        bias_hh;        // [G H]; undefined without biases

protected:
    // name: the class name, for errors.  Throws Error(argument) for sizes below 1.
    RecurrentCell(const char* name, std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
                  bool bias);
    // Returns the given states after checks, zeros for undefined ones.  Throws Error(shape) and Error(dtype).
    std::vector<Tensor> states(const Tensor& x, const std::vector<Tensor>& given) const;

private:
    const char* name_ = nullptr;
};

// One step of an RNN.
class RNNCell : public RecurrentCell {
public:
    REPRISE_LAYER(RNNCell)
    using Options = RecurrentCellOptions; // for make()
    using RecurrentCell::RecurrentCell;
    // Throws Error(argument) for sizes below 1.
    RNNCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
        : RNNCell(input_size, hidden_size, options.bias, options.nonlinearity)
    {}
    // The same with the options as arguments.
    RNNCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true,
            Choice<Nonlinearity> nonlinearity = Nonlinearity::tanh)
        : RecurrentCell("RNNCell", 1, input_size, hidden_size, bias), nonlinearity_(nonlinearity)
    {}
    Tensor forward(Tensor x) override { return forward(std::move(x), Tensor()); }
    Tensor forward(Tensor x, Tensor h); // the state after the step
    // Calls forward(x, h) with the module's hooks.
    Tensor operator()(Tensor x, Tensor h = {}, // undefined: zeros
                      Place where = Place(std::source_location::current()));

private:
    Nonlinearity nonlinearity_ = Nonlinearity::tanh;
};

// One step of a GRU.
class GRUCell : public RecurrentCell {
public:
    REPRISE_LAYER(GRUCell)
    using Options = RecurrentCellOptions; // for make()
    using RecurrentCell::RecurrentCell;
    // Throws Error(argument) for sizes below 1.
    GRUCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
        : GRUCell(input_size, hidden_size, options.bias)
    {}
    // The same with the options as arguments.
    GRUCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true)
        : RecurrentCell("GRUCell", 3, input_size, hidden_size, bias)
    {}
    Tensor forward(Tensor x) override { return forward(std::move(x), Tensor()); }
    Tensor forward(Tensor x, Tensor h); // the state after the step
    // Calls forward(x, h) with the module's hooks.
    Tensor operator()(Tensor x, Tensor h = {}, // undefined: zeros
                      Place where = Place(std::source_location::current()));
};

// One step of an LSTM: auto [h, c] = cell(x, {h, c}).
class LSTMCell : public RecurrentCell {
public:
    REPRISE_LAYER(LSTMCell)
    using Options = RecurrentCellOptions; // for make()
    using RecurrentCell::RecurrentCell;
    // Throws Error(argument) for sizes below 1.
    LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
        : LSTMCell(input_size, hidden_size, options.bias)
    {}
    // The same with the options as arguments.
    LSTMCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true)
        : RecurrentCell("LSTMCell", 4, input_size, hidden_size, bias)
    {}
    using Module::forward;
    LSTMState forward(Tensor x, LSTMState before); // the states after the step
    // Calls forward(x, before) with the module's hooks.
    LSTMState operator()(Tensor x, LSTMState before = {},
                         Place where = Place(std::source_location::current()));
};

} // namespace reprise::nn
