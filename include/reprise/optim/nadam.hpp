// NAdam.
#pragma once
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of NAdam in braces, NAdam::Options.  All numbers are at least 0, the betas below 1.
struct NAdamSettings {
    double lr = 2e-3;                               // learning rate
    std::pair<double, double> betas = {0.9, 0.999}; // decay of the moving averages: b1 of m, b2 of v
    double eps = 1e-8;                              // added to the denominator
    double weight_decay = 0;                        // adds weight_decay p to the gradient
    double momentum_decay = 4e-3;                   // how fast c_t approaches b1
    bool decoupled_weight_decay = false;            // p -= lr weight_decay p instead, as in AdamW
    bool maximize = false;                          // maximizes: negates the gradient first
    Precision precision{};                          // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(NAdamSettings& o, const F& f)
{
    each_number_of_adam(o, f);
    f({"momentum_decay"}, o.momentum_decay);
}
// The same options in libtorch's style, which convert to those in braces:
// NAdamOptions(2e-3).momentum_decay(1e-3).
using NAdamOptions =
    NamedOptions<NAdamSettings, setting::lr, setting::eps, setting::weight_decay, setting::momentum_decay,
                 BetasSetting, setting::decoupled_weight_decay, setting::maximize, setting::precision>;
// NAdam, Adam with Nesterov momentum (Dozat 2016), as torch.optim.NAdam.  At step t (from 1), with the
// gradient g of a parameter p:  c_t = b1 (1 - 0.96^(t momentum_decay) / 2);  C = c_1 c_2 ... c_t;
// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  d = sqrt(v / (1 - b2^t)) + eps;
// p -= lr ((1 - c_t) / (1 - C) g + c_t+1 / (1 - C c_t+1) m) / d.
class NAdam : public BuiltinOptimizer<NAdam, NAdamOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
