// Every op as a function.  Names, argument order and defaults are PyTorch's.
#pragma once
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// ---- creation; on default_device() unless a device is given ----
struct TensorOptions {
    DType dtype = f32;
    std::optional<Device> device = std::nullopt; // default_device()
    bool requires_grad = false;
};
Tensor zeros(const Shape&, const TensorOptions& = {});
Tensor ones(const Shape&, const TensorOptions& = {});
Tensor full(const Shape&, double value, const TensorOptions& = {});
Tensor arange(const Dim& end, const TensorOptions& = {.dtype = i32}); // 0, 1, ..., end - 1
Tensor rand(const Shape&, const TensorOptions& = {});                 // uniform in [0, 1)
Tensor randn(const Shape&, const TensorOptions& = {});                // standard normal
Tensor zeros_like(const Tensor&);
Tensor ones_like(const Tensor&);
Tensor full_like(const Tensor&, double value);
Tensor rand_like(const Tensor&);
Tensor randn_like(const Tensor&);

Tensor from_bytes(std::span<const std::byte>, const Shape&, const TensorOptions&);
template <class T> Tensor from_vector(const std::vector<T>& v, const Shape& shape, TensorOptions options = {})
{
    options.dtype = DTypeOf<T>::value;
    return from_bytes(std::as_bytes(std::span<const T>(v)), shape, options);
}
Tensor from_vector(const std::vector<bool>&, const Shape&, const TensorOptions& = {});
inline Tensor from_vector(const std::vector<float>& v)
{
    return from_vector(v, {static_cast<long long>(v.size())});
}

// ---- elementwise, broadcasting: a function for each row of the table ----
#define UNARY(name, out, tx, f, dx, lo, hi) Tensor name(const Tensor& x);
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                             \
    Tensor name(const Tensor& a, const Tensor& b);
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                          \
    Tensor name(const Tensor& a, const Tensor& b, const Tensor& c);
#include <reprise/elementwise.def>
// and with numbers
Tensor pow(const Tensor& a, double exponent);
Tensor leaky_relu(const Tensor&, double negative_slope = 0.01);
Tensor elu(const Tensor&, double alpha = 1.0);
enum class GeluApproximation { none, tanh };
Tensor gelu(const Tensor&, GeluApproximation = GeluApproximation::none);
Tensor clamp(const Tensor&, double min, double max);
Tensor cast(const Tensor&, DType);

// ---- reductions; no dims: all of them ----
using Dims = std::vector<std::int64_t>;
Tensor sum(const Tensor&, const Dims& = {}, bool keepdim = false);
Tensor mean(const Tensor&, const Dims& = {}, bool keepdim = false);
Tensor amax(const Tensor&, const Dims& = {}, bool keepdim = false); // ties share the gradient equally
Tensor max(const Tensor&);
std::pair<Tensor, Tensor> max(const Tensor&, std::int64_t dim,
                              bool keepdim = false);                  // values, i32 indices; the first wins
Tensor argmax(const Tensor&, std::int64_t dim, bool keepdim = false); // i32; the first wins
// Sums the dimensions that broadcasting made, so that the result has this shape.
Tensor sum_to(const Tensor&, const Shape&);

// ---- linear algebra, convolution, pooling ----
Tensor matmul(const Tensor&, const Tensor&); // any ranks, batch dimensions broadcast
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}); // x W^T + b; weight [out, in]
struct Conv2dOptions {
    std::array<std::int64_t, 2> stride = {1, 1};
    std::array<std::int64_t, 2> padding = {0, 0};
};
// x [N, Ci, H, W], weight [Co, Ci, kh, kw], bias [Co] -> [N, Co, (H + 2p - kh) / s + 1, ...]
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& = {});
struct Pool2dOptions {
    std::array<std::int64_t, 2> kernel_size = {2, 2};
    std::array<std::int64_t, 2> stride = {0, 0}; // 0: the kernel's size
    std::array<std::int64_t, 2> padding = {0, 0};
};
Tensor max_pool2d(const Tensor& x, const Pool2dOptions&);
Tensor max_pool2d(const Tensor& x, std::int64_t kernel_size);

// ---- normalisation, softmax, losses ----
Tensor softmax(const Tensor&, std::int64_t dim);
Tensor log_softmax(const Tensor&, std::int64_t dim);
enum class Reduction { none, mean, sum };
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Reduction = Reduction::mean);
// logits [N, C] or [N, C, ...], target i32 [N] or [N, ...].  A target outside [0, C) gives NaN.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, Reduction = Reduction::mean);
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
// Drops with probability p and scales the rest by 1 / (1 - p); the mask is a function of a counter, not kept.
Tensor dropout(const Tensor&, double p = 0.5, bool training = true);
struct BatchNormOptions {
    bool training = true;
    double momentum = 0.1;
    double eps = 1e-5;
};
// x [N, C, H, W]; in training running_mean and running_var are assigned in place (the variance unbiased).
Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& = {});

// ---- shapes ----
Tensor reshape(const Tensor&, const Shape&);
Tensor flatten(const Tensor&, std::int64_t from = 0, std::int64_t to = -1);
Tensor transpose(const Tensor&, std::int64_t a, std::int64_t b);
Tensor permute(const Tensor&, const std::vector<std::int64_t>&);
Tensor expand(const Tensor&, const Shape&);
Tensor squeeze(const Tensor&);
Tensor squeeze(const Tensor&, std::int64_t dim);
Tensor unsqueeze(const Tensor&, std::int64_t dim);
Tensor narrow(const Tensor&, std::int64_t dim, const Dim& start, const Dim& length);

// ---- updates, one launch a parameter; not differentiable, used by optim:: ----
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
