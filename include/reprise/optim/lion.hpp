// Lion (Chen et al. 2023, arXiv:2302.06675).
#pragma once
#include <initializer_list>
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

struct LionOptions {
    double lr = 1e-4;
    std::pair<double, double> betas = {0.9, 0.99};
    double weight_decay = 0; // p -= lr weight_decay p, before the update
    bool maximize = false;   // g = -g, before all else
};
// p -= lr sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g.
class Lion : public Optimizer {
public:
    using Options = LionOptions;
    explicit Lion(std::vector<Variable> parameters, const LionOptions& = {});
    explicit Lion(std::initializer_list<ParamGroup<LionOptions>> groups, const LionOptions& = {});
    void add_param_group(std::vector<Variable> parameters, const LionOptions&);

private:
    Lion(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<LionOptions> kinds_; // by group
};

} // namespace reprise::optim
