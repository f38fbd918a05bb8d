// RAdam.
#pragma once
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of RAdam in braces, RAdam::Options.  All numbers are at least 0, the betas below 1.
struct RAdamSettings {
    double lr = 1e-3;                               // learning rate
    std::pair<double, double> betas = {0.9, 0.999}; // decay of the moving averages: b1 of m, b2 of v
    double eps = 1e-8;                              // added to the denominator
    double weight_decay = 0;                        // adds weight_decay p to the gradient
    bool decoupled_weight_decay = false;            // p -= lr weight_decay p instead, as in AdamW
    bool maximize = false;                          // maximizes: negates the gradient first
    Precision precision{};                          // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(RAdamSettings& o, const F& f) { each_number_of_adam(o, f); }
// The same options in libtorch's style, which convert to those in braces:
// RAdamOptions(1e-3).weight_decay(0.01).
using RAdamOptions =
    NamedOptions<RAdamSettings, setting::lr, setting::eps, setting::weight_decay, BetasSetting,
                 setting::decoupled_weight_decay, setting::maximize, setting::precision>;
// RAdam, the rectified Adam (Liu et al. 2020), as torch.optim.RAdam.  At step t (from 1), with the gradient g
// of a parameter p:  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  n = 2 / (1 - b2) - 1;
// r = n - 2 t b2^t / (1 - b2^t).  While r <= 5:  p -= lr m / (1 - b1^t);  later
// p -= lr sqrt((r - 4) (r - 2) n / ((n - 4) (n - 2) r)) m / (1 - b1^t) sqrt(1 - b2^t) / (sqrt(v) + eps).
class RAdam : public BuiltinOptimizer<RAdam, RAdamOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
