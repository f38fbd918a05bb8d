// Stochastic gradient descent.
#pragma once
#include <initializer_list>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

struct SGDOptions {
    double lr = 1e-3;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    bool maximize = false; // g = -g, before all else
};
// g += weight_decay p;  v = momentum v + (1 - dampening) g, at first g;  p -= lr v, with nesterov
// lr (g + momentum v).
class SGD : public Optimizer {
public:
    using Options = SGDOptions;
    explicit SGD(std::vector<Variable> parameters, const SGDOptions& = {});
    explicit SGD(std::initializer_list<ParamGroup<SGDOptions>> groups, const SGDOptions& = {});
    void add_param_group(std::vector<Variable> parameters, const SGDOptions&);

private:
    SGD(); // without groups
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<SGDOptions> kinds_; // by group
};

} // namespace reprise::optim
