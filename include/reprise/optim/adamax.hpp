// Adamax.
#pragma once
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Adamax in braces, Adamax::Options.  All numbers are at least 0, the betas below 1.
struct AdamaxSettings {
    double lr = 2e-3;                               // learning rate
    std::pair<double, double> betas = {0.9, 0.999}; // decay of the moving averages: b1 of m, b2 of u
    double eps = 1e-8;                              // added to the gradient's absolute value
    double weight_decay = 0;                        // adds weight_decay p to the gradient
    bool maximize = false;                          // maximizes: negates the gradient first
    Precision precision{};                          // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(AdamaxSettings& o, const F& f) { each_number_of_adam(o, f); }
// The same options in libtorch's style, which convert to those in braces:
// AdamaxOptions(2e-3).weight_decay(0.01).
using AdamaxOptions = NamedOptions<AdamaxSettings, setting::lr, setting::eps, setting::weight_decay,
                                   BetasSetting, setting::maximize, setting::precision>;
// Adamax (Kingma and Ba 2015), as torch.optim.Adamax.  At step t (from 1), with the gradient g of a
// parameter p:  m = b1 m + (1 - b1) g;  u = max(b2 u, |g| + eps);  p -= lr / (1 - b1^t) m / u.
class Adamax : public BuiltinOptimizer<Adamax, AdamaxOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
