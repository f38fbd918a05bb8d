// Adagrad.
#pragma once
#include <initializer_list>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

struct AdagradOptions {
    double lr = 1e-2;
    double lr_decay = 0;
    double weight_decay = 0; // added to the gradient
    double initial_accumulator_value = 0;
    double eps = 1e-10;
    bool maximize = false; // g = -g, before all else
};
// s += g^2;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).
class Adagrad : public Optimizer {
public:
    using Options = AdagradOptions;
    explicit Adagrad(std::vector<Variable> parameters, const AdagradOptions& = {});
    explicit Adagrad(std::initializer_list<ParamGroup<AdagradOptions>> groups, const AdagradOptions& = {});
    void add_param_group(std::vector<Variable> parameters, const AdagradOptions&);

private:
    Adagrad(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<AdagradOptions> kinds_; // by group
};

} // namespace reprise::optim
