// Steps of optimizers, one launch for all parameters; not differentiable, used by optim::.
#pragma once
#include <array>
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// param, grad and the moments have one shape; the results are the new values.
struct SgdStep {
    Tensor lr; // one element, f32
    double momentum = 0, dampening = 0, weight_decay = 0;
    bool nesterov = false;
};
std::pair<Tensor, Tensor> sgd_step(const Tensor& param, const Tensor& grad, const Tensor& velocity,
                                   const SgdStep&);
struct AdamStep {
    Tensor lr, correction1, correction2; // one element each; corrections: 1 - beta^t
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
    bool decoupled = false; // AdamW
};
std::array<Tensor, 3> adam_step(const Tensor& param, const Tensor& grad, const Tensor& m, const Tensor& v,
                                const AdamStep&);

} // namespace reprise
