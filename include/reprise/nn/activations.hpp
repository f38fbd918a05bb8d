// Activations, with the names of torch.nn: each module calls the function of the same meaning in
// ops/elementwise.hpp or ops/reductions.hpp.
//
// Inputs have any shape, and the result has the same shape unless a class says otherwise.  Floating dtypes
// are kept.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/ops/elementwise.hpp>

namespace reprise::nn {

// Returns x itself, of any dtype.
class Identity : public Module {
public:
    Tensor forward(Tensor x) override;
};
// max(0, x); the gradient at 0 is 0.
class ReLU : public Module {
public:
    Tensor forward(Tensor x) override;
};
// min(max(0, x), 6)
class ReLU6 : public Module {
public:
    Tensor forward(Tensor x) override;
};
// 1 / (1 + exp(-x))
class Sigmoid : public Module {
public:
    Tensor forward(Tensor x) override;
};
// log(sigmoid(x)), computed without overflow.
class LogSigmoid : public Module {
public:
    Tensor forward(Tensor x) override;
};
// tanh(x)
class Tanh : public Module {
public:
    Tensor forward(Tensor x) override;
};
// scale x for x > 0, else scale alpha (exp(x) - 1), with scale = 1.0507... and alpha = 1.6733... (Klambauer
// et al., 2017).
class SELU : public Module {
public:
    Tensor forward(Tensor x) override;
};
// x sigmoid(x), also called swish.
class SiLU : public Module {
public:
    Tensor forward(Tensor x) override;
};
// x tanh(log(1 + exp(x))) (Misra, 2019).
class Mish : public Module {
public:
    Tensor forward(Tensor x) override;
};
// x / (1 + |x|)
class Softsign : public Module {
public:
    Tensor forward(Tensor x) override;
};
// min(max(x + 3, 0), 6) / 6
class Hardsigmoid : public Module {
public:
    Tensor forward(Tensor x) override;
};
// x min(max(x + 3, 0), 6) / 6
class Hardswish : public Module {
public:
    Tensor forward(Tensor x) override;
};

// x times the share of the standard normal distribution below x (Hendrycks and Gimpel, 2016).
class GELU : public Module {
public:
    // none: x / 2 (1 + erf(x / sqrt(2))); tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    explicit GELU(GeluApproximation approximate = GeluApproximation::none) : approximate_(approximate) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    GeluApproximation approximate_;
};

// x for x > 0, else negative_slope x.
class LeakyReLU : public Module {
public:
    explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {} // the slope below 0
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double negative_slope_;
};

// x for x > 0, else weight x: LeakyReLU whose slope is trained, one for all elements or one for each channel
// of x [N, C, ...] (He et al., 2015).  Throws Error(shape) where the weight does not fit x.
class PReLU : public Module {
public:
    // num_parameters: 1 or the number of channels, Error(argument) below 1; init: the slopes at first.
    explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight; // [num_parameters]: the slopes below 0
};

// x for x >= 0, else alpha (exp(x) - 1).
class ELU : public Module {
public:
    explicit ELU(double alpha = 1) : alpha_(alpha) {} // minus the limit at -infinity
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double alpha_;
};

// x for x > 0, else alpha (exp(x / alpha) - 1): as ELU, with a slope that is continuous at 0.
class CELU : public Module {
public:
    explicit CELU(double alpha = 1) : alpha_(alpha) {} // minus the limit at -infinity
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double alpha_;
};

// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.
class Softplus : public Module {
public:
    // A larger `beta` brings the function nearer to ReLU.
    explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double beta_, threshold_;
};

// min(max(x, min_val), max_val); the gradient at both bounds is 0.
class Hardtanh : public Module {
public:
    explicit Hardtanh(double min_val = -1, double max_val = 1); // Error(argument) unless min_val < max_val
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double min_, max_;
};

// a sigmoid(b) for the two halves a and b of x along `dim`; the result has half the size there.  Throws
// Error(shape) where that size is odd.
class GLU : public Module {
public:
    explicit GLU(std::int64_t dim = -1) : dim_(dim) {} // negative: counts from the end
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

// exp(x) / sum of exp(x) along `dim`, without overflow.  Throws Error(dtype) for integers.
class Softmax : public Module {
public:
    explicit Softmax(std::int64_t dim) : dim_(dim) {} // negative: counts from the end
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

// log(softmax(x)) along `dim`, without overflow.  Throws Error(dtype) for integers.
class LogSoftmax : public Module {
public:
    explicit LogSoftmax(std::int64_t dim) : dim_(dim) {} // negative: counts from the end
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

// softmax(-x) along `dim`.  Throws Error(dtype) for integers.
class Softmin : public Module {
public:
    explicit Softmin(std::int64_t dim) : dim_(dim) {} // negative: counts from the end
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    std::int64_t dim_;
};

// x - tanh(x)
class Tanhshrink : public Module {
public:
    Tensor forward(Tensor x) override;
};

// 0 for |x| <= lambd, else x.  Throws Error(dtype) for integers.
class Hardshrink : public Module {
public:
    explicit Hardshrink(double lambd = 0.5) : lambd_(lambd) {} // the bound
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double lambd_;
};

// x - lambd for x > lambd, x + lambd for x < -lambd, else 0.  Throws Error(dtype) for integers.
class Softshrink : public Module {
public:
    explicit Softshrink(double lambd = 0.5) : lambd_(lambd) {} // below 0: calls throw Error(argument)
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double lambd_;
};

// x for x > threshold, else `value`.
class Threshold : public Module {
public:
    Threshold(double threshold, double value) : threshold_(threshold), value_(value) {} // as in the formula
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double threshold_, value_;
};

} // namespace reprise::nn
