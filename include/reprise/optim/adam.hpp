// Adam and AdamW.
#pragma once
#include <initializer_list>
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Options of Adam.  All numbers are at least 0, the betas below 1.
struct AdamOptions {
    double lr = 1e-3;                               // learning rate
    std::pair<double, double> betas = {0.9, 0.999}; // decay of the moving averages: b1 of m, b2 of v
    double eps = 1e-8;                              // added to the denominator
    double weight_decay = 0;                        // adds weight_decay p to the gradient
    bool amsgrad = false;                           // AMSGrad: divides by the largest v so far
    bool maximize = false;                          // maximizes: negates the gradient first
};
// Adam, as torch.optim.Adam.  At step t (from 1), with the gradient g of a parameter p:
// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
class Adam : public Optimizer {
public:
    using Options = AdamOptions; // the options' type
    // Makes an optimizer with one group.  Error(argument) for no parameters, ones that are not leaves that
    // require a gradient or come twice, and options out of range.
    explicit Adam(std::vector<Variable> parameters, const AdamOptions& = {});
    // Makes an optimizer with several groups; the options are those of groups without their own.  Errors as
    // above.
    explicit Adam(std::initializer_list<ParamGroup<AdamOptions>> groups, const AdamOptions& = {});
    // Adds a group of further parameters.  Errors as above.
    void add_param_group(std::vector<Variable> parameters, const AdamOptions&);

protected:
    // Without groups; `name` is the optimizer's in errors, `decoupled` says whether weight decay is AdamW's.
    Adam(const char* name, bool decoupled);

private:
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<AdamOptions> kinds_; // by group
};

// Options of AdamW.  All numbers are at least 0, the betas below 1.
struct AdamWOptions {
    double lr = 1e-3;                               // learning rate
    std::pair<double, double> betas = {0.9, 0.999}; // decay of the moving averages: b1 of m, b2 of v
    double eps = 1e-8;                              // added to the denominator
    double weight_decay = 1e-2;                     // p -= lr weight_decay p, before the update
    bool amsgrad = false;                           // AMSGrad: divides by the largest v so far
    bool maximize = false;                          // maximizes: negates the gradient first
};
// Adam with weight decay that is not a part of the gradient, as torch.optim.AdamW.
class AdamW : public Adam {
public:
    using Options = AdamWOptions; // the options' type
    // Makes an optimizer with one group.  Error(argument) for no parameters, ones that are not leaves that
    // require a gradient or come twice, and options out of range.
    explicit AdamW(std::vector<Variable> parameters, const AdamWOptions& = {});
    // Makes an optimizer with several groups; the options are those of groups without their own.  Errors as
    // above.
    explicit AdamW(std::initializer_list<ParamGroup<AdamWOptions>> groups, const AdamWOptions& = {});
    // Adds a group of further parameters.  Errors as above.
    void add_param_group(std::vector<Variable> parameters, const AdamWOptions&);
};

} // namespace reprise::optim
