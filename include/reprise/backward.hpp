// Gradients of single ops as functions, for backward passes that are written by hand.  They use the same
// derivatives as backward() and return the same bits.  NAME_backward(grad_output, arguments of the forward op)
// returns the gradient of each floating input.  grad_output is the gradient of the op's result and has its
// shape and dtype.  All functions run on the device of the inputs, work in record(), and can be
// differentiated again where an input or grad_output requires a gradient.  Errors begin with the function's
// name: those of the forward op; Error(shape, dtype) for a grad_output that differs from the result;
// Error(dtype) for inputs that are not floating; Error(argument) for an undefined grad_output.
#pragma once
#include <utility>
#include <vector>

#include <reprise/ops/convolution.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/pooling.hpp>
#include <reprise/random.hpp>
#include <reprise/tensor.hpp>

namespace reprise::backward {

using Two = std::pair<Tensor, Tensor>; // gradients of two inputs, in their order
// Gradients of a layer's input and parameters.
struct OfLayer {
    Tensor x,   // of the input
        weight, // of the weight; undefined where none was given
        bias;   // of the bias; undefined where none was given
};

// ---- activations ----
// Returns the gradient of relu(x): grad_output where x > 0, else 0.
Tensor relu_backward(const Tensor& grad_output, const Tensor& x);
// Returns the gradient of leaky_relu(x, negative_slope): grad_output times 1 where x > 0, else times
// negative_slope.
Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& x, double negative_slope = 0.01);
// Returns the gradients of x and of the weight in prelu(x, weight).
Two prelu_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight);
// Returns the gradient of s = sigmoid(x): grad_output s (1 - s).
Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& x);
// Returns the gradient of t = tanh(x): grad_output (1 - t^2).
Tensor tanh_backward(const Tensor& grad_output, const Tensor& x);
// Returns the gradient of gelu(x), exact by the error function or approximated by tanh.
Tensor gelu_backward(const Tensor& grad_output, const Tensor& x, GeluApproximation = GeluApproximation::none);
// Returns the gradient of y = softmax(x, dim): y (grad_output - sum(y grad_output)), with the sum along dim.
Tensor softmax_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim);
Tensor swish_backward(const Tensor& grad_output, const Tensor& x); // of swish(x) = x sigmoid(x)
Tensor mish_backward(const Tensor& grad_output, const Tensor& x);  // of mish(x) = x tanh(softplus(x))
// Returns the gradient of elu(x, alpha): grad_output times 1 where x > 0, times alpha exp(x) elsewhere.
Tensor elu_backward(const Tensor& grad_output, const Tensor& x, double alpha = 1);

// ---- losses: the gradient of the input ----
// Returns the gradient of bce_loss(input, target).  grad_output has one element, or the input's shape with
// Reduction::none.
Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target,
                                     Reduction = Reduction::mean);
// Returns the gradient of mse_loss(input, target).  grad_output is as above.
Tensor mean_squared_error_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target,
                                   Reduction = Reduction::mean);
// Returns the gradient of cross_entropy(logits, target) with respect to the logits.  grad_output has the shape
// of the loss.
Tensor cross_entropy_backward(const Tensor& grad_output, const Tensor& logits, const Tensor& target,
                              Reduction = Reduction::mean);
// A loss with its gradient.
struct LossAndGrad {
    Tensor loss, // of one element
        grad;    // of the input
};
// Returns mse_loss() and the gradient of the input.  Error(argument) for Reduction::none.
LossAndGrad mse_loss_and_grad(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
// Returns bce_loss() and the gradient of the input.  Error(argument) for Reduction::none.
LossAndGrad bce_loss_and_grad(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
// Returns cross_entropy() and the gradient of the logits.  Error(argument) for Reduction::none.
LossAndGrad ce_loss_and_grad(const Tensor& logits, const Tensor& target, Reduction = Reduction::mean);

// ---- arithmetic ----
// Returns the gradients of a + b.  In this and the next three functions the inputs may broadcast; each gradient
// is summed to its input's shape.
Two add_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);
Two subtract_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);  // of a - b
Two multiply_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);  // of a * b
Two divide_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);    // of a / b
Tensor add_scalar_backward(const Tensor& grad_output, const Tensor& x, double);      // of x + number
Tensor subtract_scalar_backward(const Tensor& grad_output, const Tensor& x, double); // of x - number
Tensor multiply_scalar_backward(const Tensor& grad_output, const Tensor& x, double); // of x * number
Tensor divide_scalar_backward(const Tensor& grad_output, const Tensor& x, double);   // of x / number
Tensor exp_backward(const Tensor& grad_output, const Tensor& x);                     // of exp(x)
Tensor log_backward(const Tensor& grad_output, const Tensor& x);                     // of log(x)
Tensor log10_backward(const Tensor& grad_output, const Tensor& x);                   // of log10(x)
Tensor log2_backward(const Tensor& grad_output, const Tensor& x);                    // of log2(x)
Tensor sqrt_backward(const Tensor& grad_output, const Tensor& x);                    // of sqrt(x)
Tensor abs_backward(const Tensor& grad_output, const Tensor& x);                     // of abs(x)
// Returns the gradient of clamp(x, min, max): grad_output where min < x < max, else 0.
Tensor clip_backward(const Tensor& grad_output, const Tensor& x, double min, double max);

// ---- reductions ----
// Returns the gradient of sum(x, dims, keepdim): grad_output expanded to x's shape.
Tensor sum_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {}, bool keepdim = false);
// Returns the gradient of mean(x, dims, keepdim).
Tensor mean_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {}, bool keepdim = false);
// Returns the gradient of amax(x, dims, keepdim): equal maxima share the gradient equally.
Tensor max_reduce_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {},
                           bool keepdim = false);
// Returns the gradient of amin(x, dims, keepdim): equal minima share the gradient equally.
Tensor min_reduce_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {},
                           bool keepdim = false);

// ---- products ----
// Returns the gradients of matmul(a, b).
Two matmul_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);
// Returns the gradients of linear(x, weight, bias).
OfLayer linear_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight, const Tensor& bias);
// Returns the gradients of linear(x, weight).
Two linear_no_bias_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight);
// Returns the gradients of conv2d(x, weight, bias, options).
OfLayer conv2d_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvOptions<2>& = {});
// Returns the gradients of conv2d(x, weight, {}, options).
Two conv2d_no_bias_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight,
                            const ConvOptions<2>& = {});
// Returns only the gradient of conv2d's input, for an input of the shape `x`.
Tensor conv2d_backward_input(const Tensor& grad_output, const Shape& x, const Tensor& weight,
                             const ConvOptions<2>& = {});
// Returns only the gradient of conv2d's weight, for a weight of the shape `weight`.
Tensor conv2d_backward_weight(const Tensor& grad_output, const Tensor& x, const Shape& weight,
                              const ConvOptions<2>& = {});

// ---- pooling, normalisation, dropout ----
// Returns the gradient of max_pool2d(x, options).
Tensor maxpool2d_backward(const Tensor& grad_output, const Tensor& x, const MaxPoolOptions<2>& = {});
// Returns the gradient of avg_pool2d(x, options).
Tensor avgpool2d_backward(const Tensor& grad_output, const Tensor& x, const AvgPoolOptions<2>& = {});
// Returns the gradient of adaptive_avg_pool2d(x, 1); grad_output is [N, C, 1, 1].
Tensor global_avgpool2d_backward(const Tensor& grad_output, const Tensor& x);
// Returns the gradients of batch_norm() in training, which normalizes by the statistics of the batch.  x is
// [N, C, H, W], else Error(shape).
OfLayer batch_norm2d_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, double eps = 1e-5);
// Returns the gradients of layer_norm(x, normalized_shape, weight, bias, eps).
OfLayer layer_norm_backward(const Tensor& grad_output, const Tensor& x, const Shape& normalized_shape,
                            const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
// Returns the gradient of dropout with the probability p: grad_output mask / (1 - p).  The mask is false, or 0,
// for elements that were dropped, else true, or 1.  Error(argument) unless p is from 0 to 1.
Tensor dropout_backward(const Tensor& grad_output, const Tensor& mask, double p = 0.5);
// Returns the gradient with the mask that dropout drew, given generator_state() from before the forward pass.
Tensor dropout_backward(const Tensor& grad_output, const GeneratorState&, double p = 0.5);
// Returns the gradient of dropout of whole channels.  grad_output is [N, C, H, W] or [N, C, L], else
// Error(shape); the mask is [N, C, 1, 1] or [N, C, 1].
Tensor dropout2d_backward(const Tensor& grad_output, const Tensor& mask, double p = 0.5);
// Returns the gradient with the mask that was drawn, given generator_state() from before the forward pass.
Tensor dropout2d_backward(const Tensor& grad_output, const GeneratorState&, double p = 0.5);

// ---- shapes ----
// Returns the gradient of transpose(x, a, b).
Tensor transpose_backward(const Tensor& grad_output, const Tensor& x, std::int64_t a, std::int64_t b);
// Returns the gradients of cat(parts, dim): one gradient for each part.
std::vector<Tensor> concat_backward(const Tensor& grad_output, const std::vector<Tensor>& parts,
                                    std::int64_t dim = 0);
// Returns the gradients of stack(parts, dim): one gradient for each part.
std::vector<Tensor> stack_backward(const Tensor& grad_output, const std::vector<Tensor>& parts,
                                   std::int64_t dim = 0);
// Returns the gradient of reshape(x, shape).
Tensor reshape_backward(const Tensor& grad_output, const Tensor& x, const Shape&);
// Returns the gradient of unsqueeze(x, dim).
Tensor expand_dims_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim);
// Returns the gradient of squeeze(x, dim).
Tensor squeeze_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim);
// Returns the gradient of flatten(x, from, to).
Tensor flatten_backward(const Tensor& grad_output, const Tensor& x, std::int64_t from = 0,
                        std::int64_t to = -1);

// ---- parameters ----
// Does one step of gradient descent in place: parameter -= lr grad.
void apply_gradient(Variable parameter, const Tensor& grad, double lr);
// Updates several parameters, with one gradient for each, else Error(argument).  All new values are
// computed before the first parameter is assigned.
void apply_gradients(const std::vector<Variable>& parameters, const std::vector<Tensor>& grads, double lr);

} // namespace reprise::backward
