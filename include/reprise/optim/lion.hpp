// Lion (Chen et al. 2023, arXiv:2302.06675).
#pragma once
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Lion in braces, Lion::Options.  All numbers are at least 0, the betas below 1.
struct LionSettings {
    double lr = 1e-4;                              // learning rate
    std::pair<double, double> betas = {0.9, 0.99}; // b1 of the update's direction, b2 of the moving average m
    double weight_decay = 0;                       // p -= lr weight_decay p, before the update
    bool maximize = false;                         // maximizes: negates the gradient first
    Precision precision{};                         // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(LionSettings& o, const F& f)
{
    f({"lr"}, o.lr);
    f({"beta1", 0, 1}, o.betas.first);
    f({"beta2", 0, 1}, o.betas.second);
    f({"weight_decay"}, o.weight_decay);
}
// The same options in libtorch's style, which convert to those in braces:
// LionOptions(1e-4).weight_decay(0.01).
using LionOptions = NamedOptions<LionSettings, setting::lr, setting::weight_decay, BetasSetting,
                                 setting::maximize, setting::precision>;
// Lion.  With the gradient g of a parameter p:  p -= lr sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g.
class Lion : public BuiltinOptimizer<Lion, LionOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
