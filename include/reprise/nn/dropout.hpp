// Dropout: modules of the functions in ops/normalization.hpp.
//
// Each changes x in training mode only; in evaluation mode the result is x itself.  x is floating, else they
// throw Error(dtype).  `inplace` is accepted as in PyTorch and changes nothing.
#pragma once
#include <string>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// Options of Dropout and its variants.
struct DropoutSettings {
    double p = 0.5;       // the probability, from 0 to 1
    bool inplace = false; // without effect
};
namespace bases { // of modules that share options

// The base class of Dropout and its variants.
class DropoutLayer : public Module {
public:
    using Options = DropoutSettings; // for make()
    using Module::Module;
    std::string extra_repr() const override;

protected:
    // name: the class name, for errors.  Throws Error(argument) unless p is from 0 to 1.
    DropoutLayer(const char* name, double p);
    double p_ = 0; // the probability
};

} // namespace bases

// Sets elements to 0 with probability p, independently, and multiplies the others by 1 / (1 - p).
class Dropout : public bases::DropoutLayer {
public:
    REPRISE_LAYER(Dropout)
    using DropoutLayer::DropoutLayer;
    explicit Dropout(const DropoutSettings& o) : Dropout(o.p) {} // Error(argument) unless p is from 0 to 1
    explicit Dropout(double p = 0.5);                            // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
};

// Dropout of whole channels of x [N, C, L] or [C, L].  Throws Error(shape) for another number of dimensions.
class Dropout1d : public bases::DropoutLayer {
public:
    REPRISE_LAYER(Dropout1d)
    using DropoutLayer::DropoutLayer;
    explicit Dropout1d(const DropoutSettings& o)
        : Dropout1d(o.p) {}             // Error(argument) unless p is from 0 to 1
    explicit Dropout1d(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
};

// Dropout of whole channels of x [N, C, H, W] or [N, C, L].  Throws Error(shape) for another number of
// dimensions.
class Dropout2d : public bases::DropoutLayer {
public:
    REPRISE_LAYER(Dropout2d)
    using DropoutLayer::DropoutLayer;
    explicit Dropout2d(const DropoutSettings& o)
        : Dropout2d(o.p) {}             // Error(argument) unless p is from 0 to 1
    explicit Dropout2d(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
};

// Dropout of whole channels of x [N, C, D, H, W] or [C, D, H, W].  Throws Error(shape) for another number of
// dimensions.
class Dropout3d : public bases::DropoutLayer {
public:
    REPRISE_LAYER(Dropout3d)
    using DropoutLayer::DropoutLayer;
    explicit Dropout3d(const DropoutSettings& o)
        : Dropout3d(o.p) {}             // Error(argument) unless p is from 0 to 1
    explicit Dropout3d(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
};

// Dropout for networks with SELU (Klambauer et al., 2017): sets elements to SELU's limit at -infinity with
// probability p, then scales and shifts all of them so that mean 0 and variance 1 are preserved.
class AlphaDropout : public bases::DropoutLayer {
public:
    REPRISE_LAYER(AlphaDropout)
    using DropoutLayer::DropoutLayer;
    explicit AlphaDropout(const DropoutSettings& o)
        : AlphaDropout(o.p) {}             // Error(argument) unless p is from 0 to 1
    explicit AlphaDropout(double p = 0.5); // Error(argument) unless p is from 0 to 1
    Tensor forward(Tensor x) override;
};

} // namespace reprise::nn
