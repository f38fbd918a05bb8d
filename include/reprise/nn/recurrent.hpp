// Recurrent networks.  The number of steps is the input's, so it must be known while recording: a program is recorded
// for each; the batch may be a symbol.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

enum class Nonlinearity { tanh, relu };
struct RecurrentOptions {
    std::int64_t num_layers = 1;
    bool bias = true;
    bool batch_first = false; // inputs and outputs are [N, T, ...], not [T, N, ...]
    double dropout = 0;       // in training, of what goes from layer to layer
    bool bidirectional = false;
    Nonlinearity nonlinearity = Nonlinearity::tanh; // RNN only
};

// x [T, N, in] or [T, in] -> [T, N, D H] or [T, D H] for H = hidden_size and D directions.  Parameters, all from
// U(-1, 1) / sqrt(H): weight_ih_l0 [G H, in], weight_hh_l0 [G H, H], bias_ih_l0 and bias_hh_l0 [G H] for G gates, the
// same with _l1, ... and with _reverse.  States are [layers D, N, H] or [layers D, H].  Error(shape) and Error(dtype)
// where input and states do not fit.
class Recurrent : public Module {
public:
    using Options = RecurrentOptions;
    using Module::Module;
    Tensor forward(Tensor x) override; // the output alone, from zeros: what containers call
    std::string extra_repr() const override;

protected:
    using States = std::vector<Tensor>; // h, and of an LSTM c
    Recurrent(const char* name, std::int64_t gates, std::size_t states, std::int64_t input_size,
              std::int64_t hidden_size, const RecurrentOptions&);
    struct Result {
        Tensor output;
        States last;
    };
    // Undefined states are zeros.
    Result run(const Tensor& x, const States& first);
    // The states after a step: by what the input and what h give to the gates, [N, G H].
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

struct RecurrentOutput {
    Tensor output{}, h_n{};
};

// h' = tanh(W x + b + U h + d)
class RNN : public Recurrent {
public:
    using Recurrent::Recurrent;
    RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
    using Recurrent::forward;
    RecurrentOutput forward(Tensor x, Tensor h_0);
    RecurrentOutput operator()(Tensor x, Tensor h_0 = {}, // undefined: zeros
                               Place where = Place(std::source_location::current()));

protected:
    States step(const Tensor& from_x, const Tensor& from_h, const States& before) const override;

private:
    Nonlinearity nonlinearity_ = Nonlinearity::tanh;
};

// Gates r, z, n: h' = (1 - z) n + z h with n = tanh(W x + b + r (U h + d)).
class GRU : public Recurrent {
public:
    using Recurrent::Recurrent;
    GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
    using Recurrent::forward;
    RecurrentOutput forward(Tensor x, Tensor h_0);
    RecurrentOutput operator()(Tensor x, Tensor h_0 = {}, // undefined: zeros
                               Place where = Place(std::source_location::current()));

protected:
    States step(const Tensor& from_x, const Tensor& from_h, const States& before) const override;
};

struct LSTMState {
    Tensor h{}, c{}; // undefined: zeros
};
struct LSTMOutput {
    Tensor output{};
    LSTMState state{}; // after the last step
};
// auto [output, state] = lstm(x); and then lstm(x, state), or lstm(x, {h, c}).  Gates i, f, g, o: c' = f c + i g, h' = o tanh(c').
class LSTM : public Recurrent {
public:
    using Recurrent::Recurrent;
    LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
    using Recurrent::forward;
    LSTMOutput forward(Tensor x, LSTMState before);
    LSTMOutput operator()(Tensor x, LSTMState before = {},
                          Place where = Place(std::source_location::current()));

protected:
    States step(const Tensor& from_x, const Tensor& from_h, const States& before) const override;
};

// One step, x [N, in] or [in], states [N, H] or [H].  Parameters weight_ih, weight_hh, bias_ih, bias_hh, as above.
// Error(shape) and Error(dtype) where input and states do not fit.
class RecurrentCell : public Module {
public:
    using Module::Module;
    std::string extra_repr() const override;
    Variable weight_ih, weight_hh, bias_ih, bias_hh; // biases undefined without them

protected:
    RecurrentCell(const char* name, std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
                  bool bias);
    // Checked, and zeros where they are undefined.
    std::vector<Tensor> states(const Tensor& x, const std::vector<Tensor>& given) const;

private:
    const char* name_ = nullptr;
};

class RNNCell : public RecurrentCell {
public:
    using RecurrentCell::RecurrentCell;
    RNNCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true,
            Nonlinearity nonlinearity = Nonlinearity::tanh)
        : RecurrentCell("RNNCell", 1, input_size, hidden_size, bias), nonlinearity_(nonlinearity)
    {}
    Tensor forward(Tensor x) override { return forward(std::move(x), Tensor()); }
    Tensor forward(Tensor x, Tensor h);
    Tensor operator()(Tensor x, Tensor h = {}, // undefined: zeros
                      Place where = Place(std::source_location::current()));

private:
    Nonlinearity nonlinearity_ = Nonlinearity::tanh;
};

class GRUCell : public RecurrentCell {
public:
    using RecurrentCell::RecurrentCell;
    GRUCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true)
        : RecurrentCell("GRUCell", 3, input_size, hidden_size, bias)
    {}
    Tensor forward(Tensor x) override { return forward(std::move(x), Tensor()); }
    Tensor forward(Tensor x, Tensor h);
    Tensor operator()(Tensor x, Tensor h = {}, // undefined: zeros
                      Place where = Place(std::source_location::current()));
};

class LSTMCell : public RecurrentCell {
public:
    using RecurrentCell::RecurrentCell;
    LSTMCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true)
        : RecurrentCell("LSTMCell", 4, input_size, hidden_size, bias)
    {}
    using Module::forward;
    LSTMState forward(Tensor x, LSTMState before);
    LSTMState operator()(Tensor x, LSTMState before = {},
                         Place where = Place(std::source_location::current()));
};

} // namespace reprise::nn
