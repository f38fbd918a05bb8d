// Every op as a function.  Names, argument order, defaults and behaviour at kinks and NaN are PyTorch's.
//
// All ops check their inputs at the call and throw Error: shape for sizes that do not fit, dtype for element
// types that the op does not take, device for tensors on different devices, argument for anything else out of
// its range.  Sizes may be symbols while a program is recorded.  Negative dimensions count from the end.
// Unless said otherwise an op takes and gives f32 (f64 on the reference device), works on views of any
// strides, and has gradients of every order.
#pragma once
#include <array>
#include <optional>
#include <string>
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
// The shape may hold symbols while recording.  Errors: unsupported for a dtype that the device can't hold.
Tensor zeros(const Shape&, const TensorOptions& = {});
Tensor ones(const Shape&, const TensorOptions& = {});
Tensor full(const Shape&, double value, const TensorOptions& = {});
Tensor arange(const Dim& end, const TensorOptions& = {.dtype = i32}); // 0, 1, ..., end - 1
// Counters, not state: see random.hpp.  f32.
Tensor rand(const Shape&, const TensorOptions& = {});  // uniform in [0, 1), multiples of 2^-24
Tensor randn(const Shape&, const TensorOptions& = {}); // standard normal, by Box and Muller
// Of the same shape, dtype and device.
Tensor zeros_like(const Tensor&);
Tensor ones_like(const Tensor&);
Tensor full_like(const Tensor&, double value);
Tensor rand_like(const Tensor&);
Tensor randn_like(const Tensor&);

// Copies host memory, row-major.  Error(shape) unless it has as many values as the shape.
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
// elementwise.def has each formula and derivative.  Inputs of different dtypes are promoted as in PyTorch;
// rows that are not for integers take them as f32; comparisons give bool.
#define UNARY(name, out, tx, f, dx, lo, hi) Tensor name(const Tensor& x);
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                             \
    Tensor name(const Tensor& a, const Tensor& b);
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                          \
    Tensor name(const Tensor& a, const Tensor& b, const Tensor& c);
#include <reprise/elementwise.def>

// with numbers in place of tensors
Tensor pow(const Tensor& a, double exponent);
Tensor pow(double base, const Tensor& exponent);
Tensor fmod(const Tensor& a, double b);
Tensor remainder(const Tensor& a, double b);
Tensor floor_divide(const Tensor& a, double b);
Tensor maximum(const Tensor& a, double b);
Tensor minimum(const Tensor& a, double b);
Tensor lerp(const Tensor& start, const Tensor& end, double weight);
Tensor affine(const Tensor& x, double scale, double shift); // x * scale + shift
enum class Rounding { floor, trunc };
Tensor div(const Tensor& a, const Tensor& b, Rounding); // floor_divide, trunc_divide
Tensor leaky_relu(const Tensor&, double negative_slope = 0.01);
Tensor elu(const Tensor&, double alpha = 1.0);
Tensor celu(const Tensor&, double alpha = 1.0);
// a * scale for each channel's slope below 0: weight [C] beside x [N, C, ...], or of one element.
Tensor prelu(const Tensor& x, const Tensor& weight);
Tensor hardtanh(const Tensor&, double min = -1, double max = 1);
Tensor relu6(const Tensor&);                                          // hardtanh from 0 to 6
Tensor softplus(const Tensor& x, double beta, double threshold = 20); // log(1 + exp(beta x)) / beta
Tensor swish(const Tensor&);                                          // silu
Tensor logsigmoid(const Tensor&);                                     // log(sigmoid(x)), without overflow
Tensor glu(const Tensor&, std::int64_t dim = -1); // the first half times the sigmoid of the second
enum class GeluApproximation { none, tanh };
Tensor gelu(const Tensor&, GeluApproximation = GeluApproximation::none);
Tensor clamp(const Tensor&, double min, double max); // the gradient passes at the bounds
Tensor clamp_min(const Tensor&, double min);
Tensor clamp_max(const Tensor&, double max);
// To nearest even for f16 and bf16; toward zero, saturating, NaN to 0 for i32; not zero for bool.
Tensor cast(const Tensor&, DType);

// ---- reductions; no dims: all of them ----
using Dims = std::vector<std::int64_t>;
// In blocks of 256 elements, so that the error grows with the logarithm of the count; i32 stays i32.
Tensor sum(const Tensor&, const Dims& = {}, bool keepdim = false);
Tensor mean(const Tensor&, const Dims& = {}, bool keepdim = false); // the sum over the count; NaN of nothing
Tensor amax(const Tensor&, const Dims& = {}, bool keepdim = false); // ties share the gradient equally
Tensor max(const Tensor&);                                          // amax over all dimensions
std::pair<Tensor, Tensor> max(const Tensor&, std::int64_t dim,
                              bool keepdim = false);                  // values, i32 indices; the first wins
Tensor argmax(const Tensor&, std::int64_t dim, bool keepdim = false); // i32; the first wins
Tensor argmax(const Tensor&);                                         // of the flattened tensor
Tensor amin(const Tensor&, const Dims& = {}, bool keepdim = false);   // ties share the gradient equally
Tensor min(const Tensor&);
std::pair<Tensor, Tensor> min(const Tensor&, std::int64_t dim, bool keepdim = false);
Tensor argmin(const Tensor&, std::int64_t dim, bool keepdim = false);
Tensor argmin(const Tensor&);
Tensor prod(const Tensor&, const Dims& = {}, bool keepdim = false); // integers wrap; 1 of nothing
Tensor all(const Tensor&, const Dims& = {}, bool keepdim = false);  // bool; NaN is true; true of nothing
Tensor any(const Tensor&, const Dims& = {}, bool keepdim = false);
Tensor count_nonzero(const Tensor&, const Dims& = {}); // i32
// The squares of the distances from the mean, added and divided by n - correction (by 0 where that is negative:
// NaN or infinite, as in PyTorch).  std is its root, with slope 0 where it is 0.
struct VarOptions {
    std::int64_t correction = 1;
    bool keepdim = false;
};
Tensor var(const Tensor&, const Dims& = {}, const VarOptions& = {});
Tensor std(const Tensor&, const Dims& = {}, const VarOptions& = {});
std::pair<Tensor, Tensor> var_mean(const Tensor&, const Dims& = {}, const VarOptions& = {});
// (sum of |x|^p)^(1/p); p may be 0 (how many are not 0), infinity (the largest) and -infinity.  Slope 0 at 0.
Tensor norm(const Tensor&, double p = 2, const Dims& = {}, bool keepdim = false);
Tensor logsumexp(const Tensor&, const Dims& = {},
                 bool keepdim = false); // log(sum of exp(x)), without overflow
// Of all elements up to each one along a dimension.  A sum errs by a few ulp of the largest one, at any length.
Tensor cumsum(const Tensor&, std::int64_t dim);
Tensor cumprod(const Tensor&, std::int64_t dim);
// Sums the dimensions that broadcasting made, so that the result has this shape.
Tensor sum_to(const Tensor&, const Shape&);

// ---- linear algebra, convolution, pooling ----
// [..., m, k] x [..., k, n] -> [..., m, n]; a vector is a row on the left and a column on the right; leading
// dimensions broadcast.  Products are added in chunks of 512 (shaders/common/gemm.glsl), the same bits for
// every kernel.
Tensor matmul(const Tensor&, const Tensor&);
Tensor mm(const Tensor&, const Tensor&);    // of two matrices
Tensor mv(const Tensor&, const Tensor&);    // of a matrix and a vector
Tensor dot(const Tensor&, const Tensor&);   // of two vectors
Tensor outer(const Tensor&, const Tensor&); // [m], [n] -> [m, n]
Tensor bmm(const Tensor&, const Tensor&);   // [B, m, k] x [B, k, n], no broadcasting
Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1,
             double alpha = 1); // beta input + alpha a b; input broadcasts
// Letters name dimensions: "bij,bjk->bik".  A letter that the result lacks is summed over, one that an operand has
// twice takes its diagonal; without "->" the result has the letters that occur once, sorted.  Operands are
// multiplied from left to right.  No "...".
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);
// [..., m, n] -> [..., l]: the elements whose column is offset more than their row, in the last dimension.
Tensor diagonal(const Tensor&, std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1);
Tensor trace(const Tensor&);                                                   // of a matrix
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
// x [N, C, H, W] -> [N, C, OH, OW]; NaN wins; of equal values the first in row-major order takes the
// gradient.  The padding is at most half of the kernel's size and never wins.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions&);
Tensor max_pool2d(const Tensor& x, std::int64_t kernel_size);

// ---- normalisation, softmax, losses ----
// exp(x - max) / sum of it along one dimension; log_softmax is x - max - log(sum of exp(x - max)).
Tensor softmax(const Tensor&, std::int64_t dim);
Tensor log_softmax(const Tensor&, std::int64_t dim);
enum class Reduction { none, mean, sum, batchmean }; // batchmean: kl_div only
struct ClassLossOptions {
    Tensor weight = {};               // [C], of each class; the mean divides by the weights of the targets
    std::int64_t ignore_index = -100; // targets that count nothing
    Reduction reduction = Reduction::mean;
    double label_smoothing = 0; // cross_entropy only: so much of each target is spread over all classes
};
// Minus the log-probability of each target, [N, C] or [N, C, ...] with targets [N] or [N, ...]; mean divides
// by the count of those that are not ignored.  A target outside [0, C) gives NaN.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Reduction = Reduction::mean);
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const ClassLossOptions&);
// logits [N, C] or [N, C, ...]; target: class numbers, i32 [N] or [N, ...], as for nll_loss, or probabilities of the
// logits' shape.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, Reduction = Reduction::mean);
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const ClassLossOptions&);
// Of input and target of one shape: (input - target)^2; its absolute value; the square near 0 and the absolute value
// beyond, 0.5 d^2 / beta and |d| - 0.5 beta, or 0.5 d^2 and delta (|d| - 0.5 delta).
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction = Reduction::mean);
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction = Reduction::mean,
                      double beta = 1);
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction = Reduction::mean, double delta = 1);
// -(t log(x) + (1 - t) log(1 - x)) for probabilities x, or of the sigmoid of logits; weight and pos_weight (of the
// targets that are 1) broadcast.
Tensor bce_loss(const Tensor& input, const Tensor& target, Reduction = Reduction::mean,
                const Tensor& weight = {});
Tensor bce_with_logits_loss(const Tensor& logits, const Tensor& target, Reduction = Reduction::mean,
                            const Tensor& weight = {}, const Tensor& pos_weight = {});
// t (log(t) - input) for log-probabilities; log_target: the target is log(t).  batchmean: the sum over N.
Tensor kl_div(const Tensor& input, const Tensor& target, Reduction = Reduction::mean,
              bool log_target = false);
// a b / (|a| |b|) along a dimension, the norms at least eps.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8);
// 1 - cosine for target 1, max(0, cosine - margin) for target -1: a, b [..., D], target [...].
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                             Reduction = Reduction::mean);
struct AttentionOptions {
    Tensor attn_mask = {};  // broadcasts to [..., T, S]: bool, true takes part; or numbers to be added
    double dropout_p = 0;   // of the weights
    bool is_causal = false; // query t sees keys 0 to t; not beside attn_mask
    std::optional<double> scale = std::nullopt; // 1 / sqrt(features)
};
// softmax(scale * query key^T + mask) value: [..., T, E], [..., S, E], [..., S, F] -> [..., T, F]; leading
// dimensions broadcast.  A query that no key is left for gives zeros.  In memory the last leading dimension (the
// heads) lies inside of T, so that transposing and flattening them copies nothing.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& = {});
// Drops with probability p and scales the rest by 1 / (1 - p); the mask is a function of a counter, not kept.
Tensor dropout(const Tensor&, double p = 0.5, bool training = true);
struct BatchNormOptions {
    bool training = true;
    double momentum = 0.1;
    double eps = 1e-5;
};
// x [N, C, ...].  In training by the statistics of the batch, and running_mean and running_var, where given, are
// assigned in place (the variance unbiased; those of an empty batch change nothing); else by the running ones.
Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& = {});
// (x - mean) / sqrt(variance + eps) * weight + bias, mean and variance (biased) over the last dimensions, which
// normalized_shape repeats; weight and bias of that shape, or undefined.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
// The rows of weight [V, D] that the indices (i32) name: [...] -> [..., D].  An index outside [0, V) gives NaN
// and no gradient.  The row padding_idx (a negative one counts from the end) gets a gradient of 0.  Equal
// indices add up in the order of their positions.
Tensor embedding(const Tensor& indices, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx = std::nullopt);

// ---- shapes ----
Tensor reshape(const Tensor&, const Shape&);
Tensor flatten(const Tensor&, std::int64_t from = 0, std::int64_t to = -1);
Tensor transpose(const Tensor&, std::int64_t a, std::int64_t b);
Tensor permute(const Tensor&, const std::vector<std::int64_t>&);
Tensor expand(const Tensor&, const Shape&);
Tensor squeeze(const Tensor&);
Tensor squeeze(const Tensor&, std::int64_t dim);
Tensor unsqueeze(const Tensor&, std::int64_t dim);
Tensor flip(const Tensor&,
            const Dims&); // f32 and i32; a copy with the elements in reverse order along the dimensions
Tensor narrow(const Tensor&, std::int64_t dim, const Dim& start, const Dim& length);
// Parts along one dimension, as views: of the given sizes, which add up; of one size, but for a smaller last one;
// so many of equal size, but for a smaller last one (and fewer where the size is small); of size 1, without the
// dimension.  The size of the dimension may be a symbol where the sizes are given, and for chunk(), where it must
// be a multiple of the number of chunks then.
std::vector<Tensor> split(const Tensor&, const Shape& sizes, std::int64_t dim = 0);
std::vector<Tensor> split(const Tensor&, std::int64_t size, std::int64_t dim = 0);
std::vector<Tensor> chunk(const Tensor&, std::int64_t chunks, std::int64_t dim = 0);
std::vector<Tensor> unbind(const Tensor&, std::int64_t dim = 0);
// One behind the other along a dimension that there is, or along a new one; of one dtype, and of one shape but for
// the size of that dimension.
Tensor cat(const std::vector<Tensor>&, std::int64_t dim = 0);
Tensor stack(const std::vector<Tensor>&, std::int64_t dim = 0);
// {before and behind the last dimension, before and behind the last but one, ...}: so many elements more, of this
// value.  A negative amount cuts off; one that is a symbol must be at least 0.
Tensor pad(const Tensor&, const std::vector<Dim>& amounts, double value = 0);

Tensor view(const Tensor&, const Shape&);            // reshape
Tensor expand_dims(const Tensor&, std::int64_t dim); // unsqueeze
Tensor swapaxes(const Tensor&, std::int64_t a, std::int64_t b);
Tensor movedim(const Tensor&, std::int64_t from, std::int64_t to);
Tensor select(const Tensor&, std::int64_t dim, const Dim& index); // one index, without the dimension
// From start to end by steps, as in Python: negative numbers count from the end, what lies beyond is cut.
struct SliceRange {
    Dim start = 0;
    std::optional<Dim> end = std::nullopt;
    std::int64_t step = 1;
};
Tensor slice(const Tensor&, std::int64_t dim, const SliceRange&);
Tensor repeat(const Tensor&, const std::vector<Dim>& times);                   // copies of the whole
Tensor repeat_interleave(const Tensor&, std::int64_t times, std::int64_t dim); // of each element
Tensor roll(const Tensor&, std::int64_t shift, std::int64_t dim);              // around the end

// ---- reading and writing by indices (i32); x f32 or i32, as embedding ----
// An index outside reads NaN (of integers 0) and writes nothing.  Equal indices add up in the order of their
// positions; of several values for one place the last is kept.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index); // index [M]
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha = 1);
// y[i][j][k] = x[index[i][j][k]][j][k] for dim 0; the index is at most as large as x beside dim.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
// y = x, then y[index[i][j][k]][j][k] = source[i][j][k] for dim 0; the source covers the index.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value);
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor take(const Tensor& x, const Tensor& index);         // of the flattened tensor
Tensor one_hot(const Tensor& index, std::int64_t classes); // [...] -> [..., classes], i32
// The elements whose mask (bool, broadcast) is true, [M]: waits for the mask, so not while recording.
Tensor masked_select(const Tensor& x, const Tensor& mask);

// ---- masks ----
Tensor masked_fill(const Tensor&, const Tensor& mask,
                   double value); // the value where the mask (bool) is true
// 0 above the diagonal, and below it; of the last two dimensions.  A positive diagonal lies above the main one.
Tensor tril(const Tensor&, std::int64_t diagonal = 0);
Tensor triu(const Tensor&, std::int64_t diagonal = 0);

// ---- sizes and indices that only the device knows, by rows ----
// A tensor of lengths, starts or indices (i32) has one for each row of x: its sizes are the first ones of x, and
// the op works along the dimension that follows; without dimensions it is one for all of x.  Nothing outside of
// x is ever read.  x of any dtype; gradients go to x.
//
// The elements at positions 0, 1, ..., length - 1 of each row, the others replaced by `value`: a length below 0
// counts as 0, one beyond the end as all.  x [B, T, C] and lengths [B] mask T; or a mask (bool) that broadcasts
// to x: true keeps.
Tensor dynamic_mask(const Tensor& x, const Tensor& mask_or_lengths, double value = 0);
// The same with one length that the host knows, such as a size that is given with each call of a program.
Tensor dynamic_mask(const Tensor& x, std::int64_t dim, const Dim& length, double value = 0);
// `length` elements of each row from its start on: x [B, T, C], start [B] -> [B, length, C].  What would lie
// outside of the row is 0.  For starts that the host knows: narrow().
Tensor dynamic_slice(const Tensor& x, const Tensor& start, const Dim& length);
// Rows of `size` elements in which each row of x begins at before[row], `value` around: x [B, T, C],
// before [B] -> [B, size, C].  What would lie outside of the new row is dropped.
Tensor dynamic_pad(const Tensor& x, const Tensor& before, const Dim& size, double value = 0);
// The elements of each row that the indices name: x [B, T, C], index [B, M] -> [B, M, C]; without rows, x [T, C]
// and index [M] -> [M, C].  x is of a floating dtype.  An index outside of the row gives NaN and no gradient.
// Equal indices add their gradients up in the order of their positions.
Tensor dynamic_gather(const Tensor& x, const Tensor& index);

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
