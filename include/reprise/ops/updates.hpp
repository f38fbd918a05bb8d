// Steps of optimizers, one launch for all parameters; not differentiable, used by optim::.
#pragma once
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// A number of a step: the host's, or a tensor of one element (host_scalar(), or f32 in memory).
class StepNumber {
public:
    StepNumber(double value) : value_(value) {}
    StepNumber(Tensor tensor) : tensor_(std::move(tensor)) {}
    Tensor on(const Device&) const;

private:
    Tensor tensor_;
    double value_ = 0;
};

// param, grad and the moments have one shape.  The results are the new values of param and of the moments, in this
// order.  Formulas and their order are those of torch.optim; maximize: grad = -grad; then grad += weight_decay param.
//
// The functions of several parameters are one node of the graph.  All are on one device and have equally many moments, each
// may have a shape and a dtype of its own; the results are those of each by itself.
struct StepOf {
    Tensor param, grad;
    std::vector<Tensor> moments{};
};

// moments: none, or a momentum_buffer v:  v = momentum v + share grad;  param -= lr v, with nesterov
// lr (grad + momentum v), without moments lr grad.
struct SgdStep {
    StepNumber lr;
    StepNumber momentum = 0.0, share = 1.0, weight_decay = 0.0;
    bool nesterov = false, maximize = false;
};
std::vector<Tensor> sgd_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                             const SgdStep&);
std::vector<std::vector<Tensor>> sgd_step(const std::vector<StepOf>&, const SgdStep&);

// moments: exp_avg m, exp_avg_sq v, and of AMSGrad max_exp_avg_sq, which takes the place of v below.
// param *= kept;  m += share1 (grad - m);  v = beta2 v + share2 grad^2;  param -= step_size m / (sqrt(v) / root + eps)
struct AdamStep {
    StepNumber step_size; // lr / (1 - beta1^t)
    StepNumber share1 = 0.1, beta2 = 0.999, share2 = 0.001;
    StepNumber root = 1.0; // sqrt(1 - beta2^t)
    StepNumber eps = 1e-8, weight_decay = 0.0;
    StepNumber kept = 1.0; // AdamW: 1 - lr weight_decay
    bool maximize = false;
};
std::vector<Tensor> adam_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                              const AdamStep&);
std::vector<std::vector<Tensor>> adam_step(const std::vector<StepOf>&, const AdamStep&);

// moments: square_avg s, with `centered` grad_avg a, with momentum momentum_buffer b.
// s = alpha s + share grad^2;  a += share (grad - a);  d = sqrt(s - a^2) + eps;  b = momentum b + grad / d;
// param -= lr b, without b lr grad / d
struct RmspropStep {
    StepNumber lr;
    StepNumber alpha = 0.99, share = 0.01, eps = 1e-8, momentum = 0.0, weight_decay = 0.0;
    bool centered = false, maximize = false;
};
std::vector<Tensor> rmsprop_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                                 const RmspropStep&);
std::vector<std::vector<Tensor>> rmsprop_step(const std::vector<StepOf>&, const RmspropStep&);

// moments: sum s.  s += grad^2;  param -= lr grad / (sqrt(s) + eps)
struct AdagradStep {
    StepNumber lr;
    StepNumber eps = 1e-10, weight_decay = 0.0;
    bool maximize = false;
};
std::vector<Tensor> adagrad_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                                 const AdagradStep&);
std::vector<std::vector<Tensor>> adagrad_step(const std::vector<StepOf>&, const AdagradStep&);

// moments: exp_avg m.  param *= kept;  param -= lr sign(beta1 m + share1 grad);  m = beta2 m + share2 grad
struct LionStep {
    StepNumber lr;
    StepNumber beta1 = 0.9, share1 = 0.1, beta2 = 0.99, share2 = 0.01;
    StepNumber kept = 1.0; // 1 - lr weight_decay
    bool maximize = false;
};
std::vector<Tensor> lion_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                              const LionStep&);
std::vector<std::vector<Tensor>> lion_step(const std::vector<StepOf>&, const LionStep&);

} // namespace reprise
