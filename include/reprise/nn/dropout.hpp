// Dropout: modules of the functions in ops/normalization.hpp.
//
// Each changes x in training mode only; in evaluation mode the result is x itself.  x is floating, else they
// throw Error(dtype).
#pragma once
#include <string>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// Sets elements to 0 with probability p, each by itself, and multiplies the others by 1 / (1 - p).
class Dropout : public Module {
public:
    explicit Dropout(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};

// Dropout of whole channels of x [N, C, L] or [C, L].  Throws Error(shape) for another number of dimensions.
class Dropout1d : public Module {
public:
    explicit Dropout1d(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};
// Dropout of whole channels of x [N, C, H, W] or [N, C, L].  Throws Error(shape) for another number of
// dimensions.
class Dropout2d : public Module {
public:
    explicit Dropout2d(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};
// Dropout of whole channels of x [N, C, D, H, W] or [C, D, H, W].  Throws Error(shape) for another number of
// dimensions.
class Dropout3d : public Module {
public:
    explicit Dropout3d(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};
// Dropout for networks with SELU (Klambauer et al., 2017): sets elements to SELU's limit at -infinity with
// probability p, then scales and shifts all of them so that mean 0 and variance 1 are kept.
class AlphaDropout : public Module {
public:
    explicit AlphaDropout(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double p_;
};

} // namespace reprise::nn
