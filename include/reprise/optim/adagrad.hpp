// Adagrad.
#pragma once
#include <initializer_list>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Adagrad.  All numbers are at least 0.
struct AdagradOptions {
    double lr = 1e-2;                     // learning rate
    double lr_decay = 0;                  // decay of the learning rate with the step number
    double weight_decay = 0;              // adds weight_decay p to the gradient
    double initial_accumulator_value = 0; // s before the first step
    double eps = 1e-10;                   // added to the denominator
    bool maximize = false;                // maximizes: negates the gradient first
};
// Adagrad, as torch.optim.Adagrad.  At step t (from 1), with the gradient g of a parameter p:
// s += g^2;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).
class Adagrad : public Optimizer {
public:
    using Options = AdagradOptions; // the options' type
    // Makes an optimizer with one group.  Error(argument) for no parameters, ones that are not leaves that
    // require a gradient or come twice, and options out of range.
    explicit Adagrad(std::vector<Variable> parameters, const AdagradOptions& = {});
    // Makes an optimizer with several groups; the options are those of groups without their own.  Errors as
    // above.
    explicit Adagrad(std::initializer_list<ParamGroup<AdagradOptions>> groups, const AdagradOptions& = {});
    // Adds a group of further parameters.  Errors as above.
    void add_param_group(std::vector<Variable> parameters, const AdagradOptions&);

private:
    Adagrad(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<AdagradOptions> kinds_; // by group
};

} // namespace reprise::optim
