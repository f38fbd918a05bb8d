// Adadelta.
#pragma once
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Adadelta in braces, Adadelta::Options.  All numbers are at least 0.
struct AdadeltaSettings {
    double lr = 1.0;         // learning rate
    double rho = 0.9;        // decay of the moving averages, at most 1
    double eps = 1e-6;       // added below the roots
    double weight_decay = 0; // adds weight_decay p to the gradient
    bool maximize = false;   // maximizes: negates the gradient first
    Precision precision{};   // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(AdadeltaSettings& o, const F& f)
{
    f({"lr"}, o.lr);
    f({"rho"}, o.rho);
    f({"eps"}, o.eps);
    f({"weight_decay"}, o.weight_decay);
}
// The same options in libtorch's style, which convert to those in braces: AdadeltaOptions(1.0).rho(0.95).
using AdadeltaOptions = NamedOptions<AdadeltaSettings, setting::lr, setting::rho, setting::eps,
                                     setting::weight_decay, setting::maximize, setting::precision>;
// Adadelta (Zeiler 2012), as torch.optim.Adadelta.  With the gradient g of a parameter p:
// s = rho s + (1 - rho) g^2;  d = sqrt(u + eps) / sqrt(s + eps) g;  u = rho u + (1 - rho) d^2;  p -= lr d.
class Adadelta : public BuiltinOptimizer<Adadelta, AdadeltaOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
