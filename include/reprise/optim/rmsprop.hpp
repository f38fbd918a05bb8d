// RMSprop.
#pragma once
#include <initializer_list>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of RMSprop.  All numbers are at least 0.
struct RMSpropOptions {
    double lr = 1e-2;        // learning rate
    double alpha = 0.99;     // decay of the moving averages
    double eps = 1e-8;       // added to the denominator
    double weight_decay = 0; // adds weight_decay p to the gradient
    double momentum = 0;     // factor of the previous update
    bool centered = false;   // divides by the standard deviation of the gradient, not its root mean square
    bool maximize = false;   // maximizes: negates the gradient first
};
// RMSprop, as torch.optim.RMSprop.  With the gradient g of a parameter p:
// s = alpha s + (1 - alpha) g^2;  d = sqrt(s) + eps;  p -= lr g / d.
// With `centered`, a = alpha a + (1 - alpha) g and d = sqrt(s - a^2) + eps.
// With momentum, b = momentum b + g / d and p -= lr b.
class RMSprop : public Optimizer {
public:
    using Options = RMSpropOptions; // the options' type
    // Makes an optimizer with one group.  Error(argument) for no parameters, ones that are not leaves that
    // require a gradient or come twice, and options out of range.
    explicit RMSprop(std::vector<Variable> parameters, const RMSpropOptions& = {});
    // Makes an optimizer with several groups; the options are those of groups without their own.  Errors as
    // above.
    explicit RMSprop(std::initializer_list<ParamGroup<RMSpropOptions>> groups, const RMSpropOptions& = {});
    // Adds a group of further parameters.  Errors as above.
    void add_param_group(std::vector<Variable> parameters, const RMSpropOptions&);

private:
    RMSprop(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<RMSpropOptions> kinds_; // by group
};

} // namespace reprise::optim
