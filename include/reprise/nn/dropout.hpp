// Dropout.
#pragma once
#include <string>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// In training, drops elements with probability p and scales the rest by 1 / (1 - p); else passes x on.
class Dropout : public Module {
public:
    explicit Dropout(double p = 0.5);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};

// The same for whole channels.
class Dropout1d : public Module {
public:
    explicit Dropout1d(double p = 0.5);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};
class Dropout2d : public Module {
public:
    explicit Dropout2d(double p = 0.5);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};
class Dropout3d : public Module {
public:
    explicit Dropout3d(double p = 0.5);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};
// dropout for selu: keeps mean 0 and variance 1.
class AlphaDropout : public Module {
public:
    explicit AlphaDropout(double p = 0.5);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};

} // namespace reprise::nn
