// RMSprop.
#pragma once
#include <initializer_list>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

struct RMSpropOptions {
    double lr = 1e-2;
    double alpha = 0.99;
    double eps = 1e-8;
    double weight_decay = 0; // added to the gradient
    double momentum = 0;
    bool centered = false; // by the variance of the gradient in place of its mean square
    bool maximize = false; // g = -g, before all else
};
// s = alpha s + (1 - alpha) g^2;  d = sqrt(s) + eps, centered sqrt(s - a^2) + eps with
// a = alpha a + (1 - alpha) g;  p -= lr g / d, with momentum p -= lr b, b = momentum b + g / d.
class RMSprop : public Optimizer {
public:
    using Options = RMSpropOptions;
    explicit RMSprop(std::vector<Variable> parameters, const RMSpropOptions& = {});
    explicit RMSprop(std::initializer_list<ParamGroup<RMSpropOptions>> groups, const RMSpropOptions& = {});
    void add_param_group(std::vector<Variable> parameters, const RMSpropOptions&);

private:
    RMSprop(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<RMSpropOptions> kinds_; // by group
};

} // namespace reprise::optim
