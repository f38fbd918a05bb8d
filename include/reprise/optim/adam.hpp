// Adam and AdamW.
#pragma once
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Adam in braces, Adam::Options.  All numbers are at least 0, the betas below 1.
struct AdamSettings {
    double lr = 1e-3;                               // learning rate
    std::pair<double, double> betas = {0.9, 0.999}; // decay of the moving averages: b1 of m, b2 of v
    double eps = 1e-8;                              // added to the denominator
    double weight_decay = 0;                        // adds weight_decay p to the gradient
    bool amsgrad = false;                           // AMSGrad: divides by the largest v so far
    bool maximize = false;                          // maximizes: negates the gradient first
    Precision precision{};                          // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(AdamSettings& o, const F& f) { each_number_of_adam(o, f); }
// The same options in libtorch's style, which convert to those in braces:
// AdamOptions(1e-3).weight_decay(0.01).
using AdamOptions = NamedOptions<AdamSettings, setting::lr, setting::eps, setting::weight_decay, BetasSetting,
                                 setting::amsgrad, setting::maximize, setting::precision>;
// The base class of Adam and AdamW; for the library itself.
template <class Named> class AdamOf : public BuiltinOptimizer<AdamOf<Named>, Named> {
public:
    using BuiltinOptimizer<AdamOf<Named>, Named>::BuiltinOptimizer;

private:
    friend BuiltinOptimizer<AdamOf<Named>, Named>;
    static Optimizer::Rule rule();
    static std::vector<Optimizer::Moment> moments_of(const typename Named::Fields&);
    std::vector<std::vector<Tensor>> updated(const Optimizer::Update&) const override;
};
extern template class AdamOf<AdamOptions>;
// Adam, as torch.optim.Adam.  At step t (from 1), with the gradient g of a parameter p:
// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
class Adam : public AdamOf<AdamOptions> {
public:
    using AdamOf::AdamOf;
};

// Options of AdamW in braces, AdamW::Options.  All numbers are at least 0, the betas below 1.
struct AdamWSettings {
    double lr = 1e-3;                               // learning rate
    std::pair<double, double> betas = {0.9, 0.999}; // decay of the moving averages: b1 of m, b2 of v
    double eps = 1e-8;                              // added to the denominator
    double weight_decay = 1e-2;                     // p -= lr weight_decay p, before the update
    bool amsgrad = false;                           // AMSGrad: divides by the largest v so far
    bool maximize = false;                          // maximizes: negates the gradient first
    Precision precision{};                          // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(AdamWSettings& o, const F& f) { each_number_of_adam(o, f); }
// The same options in libtorch's style, which convert to those in braces:
// AdamWOptions(1e-3).weight_decay(0.01).
using AdamWOptions = NamedOptions<AdamWSettings, setting::lr, setting::eps, setting::weight_decay,
                                  BetasSetting, setting::amsgrad, setting::maximize, setting::precision>;
extern template class AdamOf<AdamWOptions>;
// Adam with decoupled weight decay, which is not a part of the gradient, as torch.optim.AdamW.
class AdamW : public AdamOf<AdamWOptions> {
public:
    using AdamOf::AdamOf;
};

} // namespace reprise::optim
