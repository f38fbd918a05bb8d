// Lion (Chen et al. 2023, arXiv:2302.06675).
#pragma once
#include <initializer_list>
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Lion.  All numbers are at least 0, the betas below 1.
struct LionOptions {
    double lr = 1e-4;                              // learning rate
    std::pair<double, double> betas = {0.9, 0.99}; // b1 of the update's direction, b2 of the moving average m
    double weight_decay = 0;                       // p -= lr weight_decay p, before the update
    bool maximize = false;                         // maximizes: negates the gradient first
};
// Lion.  With the gradient g of a parameter p:  p -= lr sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g.
class Lion : public Optimizer {
public:
    using Options = LionOptions; // the options' type
    // Makes an optimizer with one group.  Error(argument) for no parameters, ones that are not leaves that
    // require a gradient or come twice, and options out of range.
    explicit Lion(std::vector<Variable> parameters, const LionOptions& = {});
    // Makes an optimizer with several groups; the options are those of groups without their own.  Errors as
    // above.
    explicit Lion(std::initializer_list<ParamGroup<LionOptions>> groups, const LionOptions& = {});
    // Adds a group of further parameters.  Errors as above.
    void add_param_group(std::vector<Variable> parameters, const LionOptions&);

private:
    Lion(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<LionOptions> kinds_; // by group
};

} // namespace reprise::optim
