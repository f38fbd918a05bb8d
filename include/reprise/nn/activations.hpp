// Activations, with the names of torch.nn: each module calls the function of the same meaning in
// ops/elementwise.hpp or ops/reductions.hpp.
//
// Inputs have any shape, and the result has the same shape unless a class says otherwise, and the same floating
// dtype.  Options name the constructor's arguments: LeakyReLU({.negative_slope = 0.2}).  `inplace` is accepted as
// in PyTorch and has no effect: x does not change, and memory planning does not need it.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/options.hpp>

namespace reprise::nn {

namespace bases { // of modules that share options

// The base class of activations that only have the option `inplace`.
class InplaceActivation : public Module {
public:
    using Module::Module;
    // For make() and {.inplace = true}.
    struct Options {
        bool inplace = false; // without effect
    };
    explicit InplaceActivation(bool /* inplace */ = false) {} // as by default
    explicit InplaceActivation(const Options&) {}             // the same
};
// The base class of activations with a number alpha.
class AlphaActivation : public Module {
public:
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        double alpha = 1;     // minus the limit at -infinity
        bool inplace = false; // without effect
    };
    explicit AlphaActivation(const Options& o) : AlphaActivation(o.alpha) {} // with these options
    explicit AlphaActivation(double alpha = 1) : alpha_(alpha) {}            // minus the limit at -infinity
    std::string extra_repr() const override;

protected:
    double alpha_ = 0; // as in the formula
};
// The base class of activations along one dimension.
class DimActivation : public Module {
public:
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        std::int64_t dim = -1; // negative: counts from the end
    };
    explicit DimActivation(const Options& o) : DimActivation(o.dim) {} // with these options
    explicit DimActivation(std::int64_t dim) : dim_(dim) {}            // negative: counts from the end
    std::string extra_repr() const override;

protected:
    std::int64_t dim_ = 0; // the dimension
};
// The base class of Hardshrink and Softshrink, which have a bound.
class ShrinkActivation : public Module {
public:
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        double lambd = 0.5; // the bound
    };
    explicit ShrinkActivation(const Options& o) : ShrinkActivation(o.lambd) {} // with these options
    explicit ShrinkActivation(double lambd = 0.5) : lambd_(lambd) {}           // the bound
    std::string extra_repr() const override;

protected:
    double lambd_ = 0; // the bound
};

} // namespace bases

// Returns x itself, of any dtype.
class Identity : public Module {
public:
    REPRISE_LAYER(Identity)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// max(0, x); the gradient at 0 is 0.
class ReLU : public bases::InplaceActivation {
public:
    REPRISE_LAYER(ReLU)
    using InplaceActivation::InplaceActivation;
    Tensor forward(Tensor x) override;
};
// min(max(0, x), 6)
class ReLU6 : public bases::InplaceActivation {
public:
    REPRISE_LAYER(ReLU6)
    using InplaceActivation::InplaceActivation;
    Tensor forward(Tensor x) override;
};
// 1 / (1 + exp(-x))
class Sigmoid : public Module {
public:
    REPRISE_LAYER(Sigmoid)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// log(sigmoid(x)), computed without overflow.
class LogSigmoid : public Module {
public:
    REPRISE_LAYER(LogSigmoid)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// tanh(x)
class Tanh : public Module {
public:
    REPRISE_LAYER(Tanh)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// scale x for x > 0, else scale alpha (exp(x) - 1), with scale = 1.0507... and alpha = 1.6733... (Klambauer
// et al., 2017).
class SELU : public bases::InplaceActivation {
public:
    REPRISE_LAYER(SELU)
    using InplaceActivation::InplaceActivation;
    Tensor forward(Tensor x) override;
};
// x sigmoid(x), also called swish.
class SiLU : public Module {
public:
    REPRISE_LAYER(SiLU)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// x tanh(log(1 + exp(x))) (Misra, 2019).
class Mish : public Module {
public:
    REPRISE_LAYER(Mish)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// x / (1 + |x|)
class Softsign : public Module {
public:
    REPRISE_LAYER(Softsign)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// min(max(x + 3, 0), 6) / 6
class Hardsigmoid : public Module {
public:
    REPRISE_LAYER(Hardsigmoid)
    using Module::Module;
    Tensor forward(Tensor x) override;
};
// x min(max(x + 3, 0), 6) / 6
class Hardswish : public Module {
public:
    REPRISE_LAYER(Hardswish)
    using Module::Module;
    Tensor forward(Tensor x) override;
};

// x times the cumulative distribution function of the standard normal distribution at x (Hendrycks and Gimpel, 2016).
class GELU : public Module {
public:
    REPRISE_LAYER(GELU)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        Choice<GeluApproximation> approximate = GeluApproximation::none; // or "tanh"
    };
    explicit GELU(const Options& o) : GELU(o.approximate) {} // with these options
    // none: x / 2 (1 + erf(x / sqrt(2))); tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    explicit GELU(Choice<GeluApproximation> approximate = GeluApproximation::none) : approximate_(approximate)
    {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    GeluApproximation approximate_ = GeluApproximation::none;
};

// x for x > 0, else negative_slope x.
class LeakyReLU : public Module {
public:
    REPRISE_LAYER(LeakyReLU)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        double negative_slope = 0.01; // the slope below 0
        bool inplace = false;         // without effect
    };
    explicit LeakyReLU(const Options& o) : LeakyReLU(o.negative_slope) {} // with these options
    explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {} // the slope below 0
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double negative_slope_ = 0;
};

// x for x > 0, else weight x: LeakyReLU with a trained slope, one for all elements or one for each channel of
// x [N, C, ...] (He et al., 2015).  Throws Error(shape) where the weight does not fit x.
class PReLU : public Module {
public:
    REPRISE_LAYER(PReLU)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        std::int64_t num_parameters = 1; // 1 or the number of channels
        double init = 0.25;              // the slopes at first
    };
    explicit PReLU(const Options& o) : PReLU(o.num_parameters, o.init) {} // with these options
    // num_parameters: 1 or the number of channels, Error(argument) below 1; init: the slopes at first.
    explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25);
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight; // [num_parameters]: the slopes below 0
};

// x for x >= 0, else alpha (exp(x) - 1).
class ELU : public bases::AlphaActivation {
public:
    REPRISE_LAYER(ELU)
    using AlphaActivation::AlphaActivation;
    Tensor forward(Tensor x) override;
};

// x for x > 0, else alpha (exp(x / alpha) - 1): as ELU, with a slope that is continuous at 0.
class CELU : public bases::AlphaActivation {
public:
    REPRISE_LAYER(CELU)
    using AlphaActivation::AlphaActivation;
    Tensor forward(Tensor x) override;
};

// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.
class Softplus : public Module {
public:
    REPRISE_LAYER(Softplus)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        double beta = 1;       // as in the formula
        double threshold = 20; // as in the formula
    };
    explicit Softplus(const Options& o) : Softplus(o.beta, o.threshold) {} // with these options
    // A larger `beta` brings the function nearer to ReLU.
    explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double beta_ = 0, threshold_ = 0;
};

// min(max(x, min_val), max_val); the gradient at both bounds is 0.
class Hardtanh : public Module {
public:
    REPRISE_LAYER(Hardtanh)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        double min_val = -1;  // the lower bound
        double max_val = 1;   // the upper bound
        bool inplace = false; // without effect
    };
    explicit Hardtanh(const Options& o) : Hardtanh(o.min_val, o.max_val) {} // with these options
    explicit Hardtanh(double min_val = -1, double max_val = 1); // Error(argument) unless min_val < max_val
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double min_ = 0, max_ = 0;
};

// a sigmoid(b) for the two halves a and b of x along `dim`; the result has half the size there.  Throws
// Error(shape) where that size is odd.
class GLU : public bases::DimActivation {
public:
    REPRISE_LAYER(GLU)
    using DimActivation::DimActivation;
    GLU() : DimActivation(-1) {} // along the last dimension
    Tensor forward(Tensor x) override;
};

// exp(x) / sum of exp(x) along `dim`, without overflow.  Throws Error(dtype) for integers.
class Softmax : public bases::DimActivation {
public:
    REPRISE_LAYER(Softmax)
    using DimActivation::DimActivation;
    Tensor forward(Tensor x) override;
};

// log(softmax(x)) along `dim`, without overflow.  Throws Error(dtype) for integers.
class LogSoftmax : public bases::DimActivation {
public:
    REPRISE_LAYER(LogSoftmax)
    using DimActivation::DimActivation;
    Tensor forward(Tensor x) override;
};

// softmax(-x) along `dim`.  Throws Error(dtype) for integers.
class Softmin : public bases::DimActivation {
public:
    REPRISE_LAYER(Softmin)
    using DimActivation::DimActivation;
    Tensor forward(Tensor x) override;
};

// x - tanh(x)
class Tanhshrink : public Module {
public:
    REPRISE_LAYER(Tanhshrink)
    using Module::Module;
    Tensor forward(Tensor x) override;
};

// 0 for |x| <= lambd, else x.  Throws Error(dtype) for integers.
class Hardshrink : public bases::ShrinkActivation {
public:
    REPRISE_LAYER(Hardshrink)
    using ShrinkActivation::ShrinkActivation;
    Tensor forward(Tensor x) override;
};

// x - lambd for x > lambd, x + lambd for x < -lambd, else 0.  Throws Error(dtype) for integers, and
// Error(argument) for a lambd below 0.
class Softshrink : public bases::ShrinkActivation {
public:
    REPRISE_LAYER(Softshrink)
    using ShrinkActivation::ShrinkActivation;
    Tensor forward(Tensor x) override;
};

// x for x > threshold, else `value`.
class Threshold : public Module {
public:
    REPRISE_LAYER(Threshold)
    using Module::Module;
    // For make() and options in braces.
    struct Options {
        double threshold = 0; // as in the formula
        double value = 0;     // as in the formula
        bool inplace = false; // without effect
    };
    explicit Threshold(const Options& o) : Threshold(o.threshold, o.value) {}           // with these options
    Threshold(double threshold, double value) : threshold_(threshold), value_(value) {} // as in the formula
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    double threshold_ = 0, value_ = 0;
};

} // namespace reprise::nn
