// Stochastic gradient descent.
#pragma once
#include <initializer_list>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of SGD.  All numbers are at least 0.
struct SGDOptions {
    double lr = 1e-3;        // learning rate
    double momentum = 0;     // factor of the velocity v
    double dampening = 0;    // reduces the gradient's share of the velocity
    double weight_decay = 0; // adds weight_decay p to the gradient
    bool nesterov = false;   // Nesterov momentum; needs a momentum above 0 and a dampening of 0
    bool maximize = false;   // maximizes: negates the gradient first
};
// Stochastic gradient descent, as torch.optim.SGD.  With the gradient g of a parameter p:
// g += weight_decay p;  v = momentum v + (1 - dampening) g, at the first step v = g;  p -= lr v.
// With `nesterov`, p -= lr (g + momentum v).
class SGD : public Optimizer {
public:
    using Options = SGDOptions; // the options' type
    // Makes an optimizer with one group.  Error(argument) for no parameters, ones that are not leaves that
    // require a gradient or come twice, and options out of range.
    explicit SGD(std::vector<Variable> parameters, const SGDOptions& = {});
    // Makes an optimizer with several groups; the options are those of groups without their own.  Errors as
    // above.
    explicit SGD(std::initializer_list<ParamGroup<SGDOptions>> groups, const SGDOptions& = {});
    // Adds a group of further parameters.  Errors as above.
    void add_param_group(std::vector<Variable> parameters, const SGDOptions&);

private:
    SGD(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<SGDOptions> kinds_; // by group
};

} // namespace reprise::optim
