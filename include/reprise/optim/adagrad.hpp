// Adagrad.
#pragma once
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Adagrad in braces, Adagrad::Options.  All numbers are at least 0.
struct AdagradSettings {
    double lr = 1e-2;                     // learning rate
    double lr_decay = 0;                  // decay of the learning rate with the step number
    double weight_decay = 0;              // adds weight_decay p to the gradient
    double initial_accumulator_value = 0; // s before the first step
    double eps = 1e-10;                   // added to the denominator
    bool maximize = false;                // maximizes: negates the gradient first
    Precision precision{};                // dtypes of the state, and rounding
};
// Calls f for each number of a group.
template <class F> void each_number(AdagradSettings& o, const F& f)
{
    f({"lr"}, o.lr);
    f({"lr_decay"}, o.lr_decay);
    f({"weight_decay"}, o.weight_decay);
    f({"eps"}, o.eps);
}
// The same options in libtorch's style, which convert to those in braces:
// AdagradOptions(1e-2).weight_decay(0.01).
using AdagradOptions =
    NamedOptions<AdagradSettings, setting::lr, setting::lr_decay, setting::weight_decay, setting::eps,
                 setting::initial_accumulator_value, setting::maximize, setting::precision>;
// Adagrad, as torch.optim.Adagrad.  At step t (from 1), with the gradient g of a parameter p:
// s += g^2;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).
class Adagrad : public BuiltinOptimizer<Adagrad, AdagradOptions> {
public:
    using BuiltinOptimizer::BuiltinOptimizer;

private:
    friend BuiltinOptimizer;
    static Rule rule();
    static std::vector<Moment> moments_of(const Options&);
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
};

} // namespace reprise::optim
