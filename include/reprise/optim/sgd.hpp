// Stochastic gradient descent.
#pragma once
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of SGD in braces, SGD::Options.  All numbers are at least 0.
struct SGDSettings {
    double lr = 1e-3;        // learning rate
    double momentum = 0;     // factor of the velocity v
    double dampening = 0;    // reduces the gradient's share of the velocity
    double weight_decay = 0; // adds weight_decay p to the gradient
    bool nesterov = false;   // Nesterov momentum; needs a momentum above 0 and a dampening of 0
    bool maximize = false;   // maximizes: negates the gradient first
    Precision precision{};   // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(SGDSettings& o, const F& f)
{
    f({"lr"}, o.lr);
    f({.name = "momentum", .stays_zero = true}, o.momentum);
    f({"dampening"}, o.dampening);
    f({"weight_decay"}, o.weight_decay);
}
// The same options in libtorch's style, which convert to those in braces: SGDOptions(0.1).weight_decay(0.01).
using SGDOptions =
    NamedOptions<SGDSettings, setting::lr, setting::momentum, setting::dampening, setting::weight_decay,
                 setting::nesterov, setting::maximize, setting::precision>;
// Stochastic gradient descent, as torch.optim.SGD.  With the gradient g of a parameter p:
// g += weight_decay p;  v = momentum v + (1 - dampening) g, at the first step v = g;  p -= lr v.
// With `nesterov`, p -= lr (g + momentum v).
class SGD : public BuiltinOptimizer<SGD, SGDOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
