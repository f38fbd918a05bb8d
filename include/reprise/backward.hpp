// Gradients of single ops as functions, on the same derivatives as backward() and with the same bits: for those who
// write the reverse pass out.  NAME_backward(grad_output, the arguments of the forward op) gives the gradient of each of
// its floating inputs for the gradient of its result, which has the result's shape.  All run on the device of the
// inputs, work in record(), and can be differentiated again where an input or grad_output requires a gradient.
// Errors begin with the function's name: those of the forward op, and Error(shape) or Error(dtype) for a grad_output
// unlike its result.
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

using Two = std::pair<Tensor, Tensor>; // in the order of the inputs
struct OfLayer {
    Tensor x, weight, bias; // undefined for a weight or bias that was not given
};

// ---- activations ----
Tensor relu_backward(const Tensor& grad_output, const Tensor& x);
Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& x, double negative_slope = 0.01);
Two prelu_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight);
Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& x);
Tensor tanh_backward(const Tensor& grad_output, const Tensor& x);
Tensor gelu_backward(const Tensor& grad_output, const Tensor& x, GeluApproximation = GeluApproximation::none);
Tensor softmax_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim);
Tensor swish_backward(const Tensor& grad_output, const Tensor& x);
Tensor mish_backward(const Tensor& grad_output, const Tensor& x);
Tensor elu_backward(const Tensor& grad_output, const Tensor& x, double alpha = 1);

// ---- losses: the gradient of the input ----
Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target,
                                     Reduction = Reduction::mean);
Tensor mean_squared_error_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target,
                                   Reduction = Reduction::mean);
Tensor cross_entropy_backward(const Tensor& grad_output, const Tensor& logits, const Tensor& target,
                              Reduction = Reduction::mean);
// The loss as well, of one element.
struct LossAndGrad {
    Tensor loss, grad;
};
LossAndGrad mse_loss_and_grad(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
LossAndGrad bce_loss_and_grad(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
LossAndGrad ce_loss_and_grad(const Tensor& logits, const Tensor& target, Reduction = Reduction::mean);

// ---- arithmetic; inputs broadcast ----
Two add_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);
Two subtract_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);
Two multiply_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);
Two divide_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);
Tensor add_scalar_backward(const Tensor& grad_output, const Tensor& x, double);
Tensor subtract_scalar_backward(const Tensor& grad_output, const Tensor& x, double);
Tensor multiply_scalar_backward(const Tensor& grad_output, const Tensor& x, double);
Tensor divide_scalar_backward(const Tensor& grad_output, const Tensor& x, double);
Tensor exp_backward(const Tensor& grad_output, const Tensor& x);
Tensor log_backward(const Tensor& grad_output, const Tensor& x);
Tensor log10_backward(const Tensor& grad_output, const Tensor& x);
Tensor log2_backward(const Tensor& grad_output, const Tensor& x);
Tensor sqrt_backward(const Tensor& grad_output, const Tensor& x);
Tensor abs_backward(const Tensor& grad_output, const Tensor& x);
Tensor clip_backward(const Tensor& grad_output, const Tensor& x, double min, double max);

// ---- reductions ----
Tensor sum_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {}, bool keepdim = false);
Tensor mean_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {}, bool keepdim = false);
// amax and amin: ties share equally.
Tensor max_reduce_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {},
                           bool keepdim = false);
Tensor min_reduce_backward(const Tensor& grad_output, const Tensor& x, const Dims& = {},
                           bool keepdim = false);

// ---- products ----
Two matmul_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b);
OfLayer linear_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight, const Tensor& bias);
Two linear_no_bias_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight);
OfLayer conv2d_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const Conv2dOptions& = {});
Two conv2d_no_bias_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight,
                            const Conv2dOptions& = {});
// Of one of the two, by the shape of it.
Tensor conv2d_backward_input(const Tensor& grad_output, const Shape& x, const Tensor& weight,
                             const Conv2dOptions& = {});
Tensor conv2d_backward_weight(const Tensor& grad_output, const Tensor& x, const Shape& weight,
                              const Conv2dOptions& = {});

// ---- pooling, normalisation, dropout ----
Tensor maxpool2d_backward(const Tensor& grad_output, const Tensor& x, const MaxPoolOptions<2>& = {});
Tensor avgpool2d_backward(const Tensor& grad_output, const Tensor& x, const AvgPoolOptions<2>& = {});
Tensor global_avgpool2d_backward(const Tensor& grad_output, const Tensor& x); // of [N, C, 1, 1]
// In training, by the statistics of the batch.  x [N, C, H, W].
OfLayer batch_norm2d_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, double eps = 1e-5);
OfLayer layer_norm_backward(const Tensor& grad_output, const Tensor& x, const Shape& normalized_shape,
                            const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
// By the mask of what was kept (bool, or 1 and 0), or by generator_state() as it was before the forward.
Tensor dropout_backward(const Tensor& grad_output, const Tensor& mask, double p = 0.5);
Tensor dropout_backward(const Tensor& grad_output, const GeneratorState&, double p = 0.5);
// Of whole channels: grad_output [N, C, H, W] or [N, C, L], the mask [N, C, 1, 1] or [N, C, 1].
Tensor dropout2d_backward(const Tensor& grad_output, const Tensor& mask, double p = 0.5);
Tensor dropout2d_backward(const Tensor& grad_output, const GeneratorState&, double p = 0.5);

// ---- shapes ----
Tensor transpose_backward(const Tensor& grad_output, const Tensor& x, std::int64_t a, std::int64_t b);
std::vector<Tensor> concat_backward(const Tensor& grad_output, const std::vector<Tensor>& parts,
                                    std::int64_t dim = 0);
std::vector<Tensor> stack_backward(const Tensor& grad_output, const std::vector<Tensor>& parts,
                                   std::int64_t dim = 0);
Tensor reshape_backward(const Tensor& grad_output, const Tensor& x, const Shape&);
Tensor expand_dims_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim);
Tensor squeeze_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim);
Tensor flatten_backward(const Tensor& grad_output, const Tensor& x, std::int64_t from = 0,
                        std::int64_t to = -1);

// ---- parameters: p -= lr grad, in place, one launch for all ----
void apply_gradient(Variable parameter, const Tensor& grad, double lr);
void apply_gradients(const std::vector<Variable>& parameters, const std::vector<Tensor>& grads, double lr);

} // namespace reprise::backward
