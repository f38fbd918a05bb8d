// Adam and AdamW.
#pragma once
#include <initializer_list>
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

struct AdamOptions {
    double lr = 1e-3;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8;
    double weight_decay = 0; // added to the gradient
    bool amsgrad = false;    // v is the largest one so far
    bool maximize = false;   // g = -g, before all else
};
// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
class Adam : public Optimizer {
public:
    using Options = AdamOptions;
    explicit Adam(std::vector<Variable> parameters, const AdamOptions& = {});
    explicit Adam(std::initializer_list<ParamGroup<AdamOptions>> groups, const AdamOptions& = {});
    void add_param_group(std::vector<Variable> parameters, const AdamOptions&);

protected:
    Adam(const char* name, bool decoupled);

private:
    std::vector<std::vector<Tensor>> updated(const Update&) const override;
    std::vector<AdamOptions> kinds_; // by group
};

struct AdamWOptions {
    double lr = 1e-3;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8;
    double weight_decay = 1e-2; // p -= lr weight_decay p, before the update
    bool amsgrad = false;
    bool maximize = false;
};
// Adam with a weight decay that is no part of the gradient.
class AdamW : public Adam {
public:
    using Options = AdamWOptions;
    explicit AdamW(std::vector<Variable> parameters, const AdamWOptions& = {});
    explicit AdamW(std::initializer_list<ParamGroup<AdamWOptions>> groups, const AdamWOptions& = {});
    void add_param_group(std::vector<Variable> parameters, const AdamWOptions&);
};

} // namespace reprise::optim
