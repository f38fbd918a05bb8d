// Optimizer steps, which optim:: uses: one launch updates all parameters.  Not differentiable.
//
// Formulas and their order are those of torch.optim.  With maximize the gradient is negated first; then grad
// += weight_decay param, where the step has weight_decay.  A result is the new value of param and then those
// of the moments, in their order; the inputs are not changed.  param, grad and the moments of one parameter
// have one shape and one floating dtype, else Error(shape) or Error(dtype); Error(argument) for a wrong
// number of moments.
//
// The functions that take several parameters add one node to the graph.  All parameters are on one device and
// have the same number of moments; their shapes and dtypes may differ.  The results are the same as those of
// separate calls.
#pragma once
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// A number of a step: one of the host, or a floating tensor of one element (host_scalar(), or f32 in memory).
class StepNumber {
public:
    StepNumber(double value) : value_(value) {}               // a number of the host
    StepNumber(Tensor tensor) : tensor_(std::move(tensor)) {} // a tensor of one element
    Tensor on(const Device&) const; // the tensor, or one of the number on this device

private:
    Tensor tensor_;
    double value_ = 0;
};

// Returns zeros as a moment in 8 bits for a parameter of this shape.  It is u8 [260 for each 256 elements]: the largest
// magnitude of a block (f32), then a code for each element, of the dynamic data type of Dettmers et al., 8-bit
// Optimizers via Block-wise Quantization, 2022.
Tensor eight_bit_moment(const Shape&, const Device&);

// One of several parameters of a step.
struct StepOf {
    Tensor param,                  // the parameter
        grad;                      // its gradient
    std::vector<Tensor> moments{}; // the optimizer's state for it
    // Where it is defined, `param` is the f32 master copy of this parameter of f16 or bf16, whose new value, rounded to
    // the nearest number, is the last result.  Elements that differ from the rounded master copy have been assigned:
    // they replace it first.
    Tensor low{};
};

// A step of stochastic gradient descent.  moments: none, or a momentum_buffer v.
// v = momentum v + share grad;  param -= lr v, with nesterov lr (grad + momentum v), without moments lr grad
struct SgdStep {
    StepNumber lr;                    // the learning rate
    StepNumber momentum = 0.0,        // the factor of v
        share = 1.0,                  // the factor of grad in v: 1 - dampening, 1 in the first step
        weight_decay = 0.0;           // the factor of param that is added to grad
    bool nesterov = false,            // Nesterov's momentum
        maximize = false;             // gradient ascent instead of descent
    StepNumber skip = 0.0;            // nonzero: changes nothing
    bool stochastic_rounding = false; // rounds results of bf16 stochastically
};
// A step of SGD of one parameter.
std::vector<Tensor> sgd_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                             const SgdStep&);
// A step of SGD of several parameters.
std::vector<std::vector<Tensor>> sgd_step(const std::vector<StepOf>&, const SgdStep&);

// A step of Adam (Kingma and Ba, 2015) or AdamW (Loshchilov and Hutter, 2019).  moments: exp_avg m,
// exp_avg_sq v, and for AMSGrad max_exp_avg_sq, the largest v so far, which replaces v in the update of param.
// param *= kept;  m += share1 (grad - m);  v = beta2 v + share2 grad^2;
// param -= step_size m / (sqrt(v) / root + eps)
struct AdamStep {
    StepNumber step_size;             // lr / (1 - beta1^t) in step t
    StepNumber share1 = 0.1,          // 1 - beta1
        beta2 = 0.999,                // the factor of v
        share2 = 0.001;               // 1 - beta2
    StepNumber root = 1.0;            // sqrt(1 - beta2^t) in step t
    StepNumber eps = 1e-8,            // added to the divisor
        weight_decay = 0.0;           // the factor of param that is added to grad (Adam)
    StepNumber kept = 1.0;            // the factor of param: 1 - lr weight_decay (AdamW)
    bool maximize = false;            // gradient ascent instead of descent
    StepNumber skip = 0.0;            // nonzero: changes nothing
    bool stochastic_rounding = false; // rounds results of bf16 stochastically
};
// A step of Adam of one parameter.
std::vector<Tensor> adam_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                              const AdamStep&);
// A step of Adam of several parameters.
std::vector<std::vector<Tensor>> adam_step(const std::vector<StepOf>&, const AdamStep&);

// A step of RMSprop (Hinton, 2012).  moments: square_avg s, with `centered` then grad_avg a, with momentum
// then momentum_buffer b.  s = alpha s + share grad^2;  a += share (grad - a);  d = sqrt(s - a^2) + eps,
// without a sqrt(s) + eps; b = momentum b + grad / d;  param -= lr b, without b lr grad / d
struct RmspropStep {
    StepNumber lr;                    // the learning rate
    StepNumber alpha = 0.99,          // the factor of s
        share = 0.01,                 // 1 - alpha
        eps = 1e-8,                   // added to the divisor
        momentum = 0.0,               // the factor of b
        weight_decay = 0.0;           // the factor of param that is added to grad
    bool centered = false,            // divides by the standard deviation of grad: there is a moment a
        maximize = false;             // gradient ascent instead of descent
    StepNumber skip = 0.0;            // nonzero: changes nothing
    bool stochastic_rounding = false; // rounds results of bf16 stochastically
};
// A step of RMSprop of one parameter.
std::vector<Tensor> rmsprop_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                                 const RmspropStep&);
// A step of RMSprop of several parameters.
std::vector<std::vector<Tensor>> rmsprop_step(const std::vector<StepOf>&, const RmspropStep&);

// A step of Adagrad (Duchi et al., 2011).  moments: sum s.
// s += grad^2;  param -= lr grad / (sqrt(s) + eps)
struct AdagradStep {
    StepNumber lr;                    // the learning rate
    StepNumber eps = 1e-10,           // added to the divisor
        weight_decay = 0.0;           // the factor of param that is added to grad
    bool maximize = false;            // gradient ascent instead of descent
    StepNumber skip = 0.0;            // nonzero: changes nothing
    bool stochastic_rounding = false; // rounds results of bf16 stochastically
};
// A step of Adagrad of one parameter.
std::vector<Tensor> adagrad_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                                 const AdagradStep&);
// A step of Adagrad of several parameters.
std::vector<std::vector<Tensor>> adagrad_step(const std::vector<StepOf>&, const AdagradStep&);

// A step of Lion (Chen et al., 2023).  moments: exp_avg m.
// param *= kept;  param -= lr sign(beta1 m + share1 grad);  m = beta2 m + share2 grad
struct LionStep {
    StepNumber lr;                    // the learning rate
    StepNumber beta1 = 0.9,           // the factor of m in the update
        share1 = 0.1,                 // 1 - beta1
        beta2 = 0.99,                 // the factor of m in the new m
        share2 = 0.01;                // 1 - beta2
    StepNumber kept = 1.0;            // the factor of param: 1 - lr weight_decay
    bool maximize = false;            // gradient ascent instead of descent
    StepNumber skip = 0.0;            // nonzero: changes nothing
    bool stochastic_rounding = false; // rounds results of bf16 stochastically
};
// A step of Lion of one parameter.
std::vector<Tensor> lion_step(const Tensor& param, const Tensor& grad, const std::vector<Tensor>& moments,
                              const LionStep&);
// A step of Lion of several parameters.
std::vector<std::vector<Tensor>> lion_step(const std::vector<StepOf>&, const LionStep&);

// Gradients without the scale of a loss, and whether they can be used.
struct Unscaled {
    std::vector<Tensor> gradients; // each times the factor, in its own dtype
    Tensor nonfinite; // f32 of one element: 1 if an element of a gradient is infinite or NaN, else 0
};
// Multiplies floating gradients of any shapes, on one device, by a factor, a floating tensor of one element, and finds
// in the same pass whether they are finite, before the product, as torch.amp does.  Not differentiable.  Throws
// Error(argument) for no gradients, Error(dtype) for other dtypes, Error(shape) for a factor of more elements.
Unscaled unscale(const std::vector<Tensor>& gradients, const Tensor& factor);

} // namespace reprise
