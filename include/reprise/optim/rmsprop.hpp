// RMSprop.
#pragma once
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of RMSprop in braces, RMSprop::Options.  All numbers are at least 0.
struct RMSpropSettings {
    double lr = 1e-2;        // learning rate
    double alpha = 0.99;     // decay of the moving averages
    double eps = 1e-8;       // added to the denominator
    double weight_decay = 0; // adds weight_decay p to the gradient
    double momentum = 0;     // factor of the previous update
    bool centered = false;   // divides by the standard deviation of the gradient, not its root mean square
    bool maximize = false;   // maximizes: negates the gradient first
    Precision precision{};   // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(RMSpropSettings& o, const F& f)
{
    f({"lr"}, o.lr);
    f({"alpha"}, o.alpha);
    f({"eps"}, o.eps);
    f({"weight_decay"}, o.weight_decay);
    f({.name = "momentum", .stays_zero = true}, o.momentum);
}
// The same options in libtorch's style, which convert to those in braces:
// RMSpropOptions(1e-2).weight_decay(0.01).
using RMSpropOptions =
    NamedOptions<RMSpropSettings, setting::lr, setting::alpha, setting::eps, setting::weight_decay,
                 setting::momentum, setting::centered, setting::maximize, setting::precision>;
// RMSprop, as torch.optim.RMSprop.  With the gradient g of a parameter p:
// s = alpha s + (1 - alpha) g^2;  d = sqrt(s) + eps;  p -= lr g / d.
// With `centered`, a = alpha a + (1 - alpha) g and d = sqrt(s - a^2) + eps.
// With momentum, b = momentum b + g / d and p -= lr b.
class RMSprop : public BuiltinOptimizer<RMSprop, RMSpropOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
