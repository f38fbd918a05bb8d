// The functions that modules call, with the names of torch.nn.functional.  A short name for the namespace:
// namespace F = reprise::nn::functional;
#pragma once
#include <cstdint>

#include <reprise/ops.hpp>

namespace reprise::nn::functional {

// ---- layers ----
using reprise::adaptive_avg_pool1d, reprise::adaptive_avg_pool2d, reprise::adaptive_avg_pool3d;
using reprise::adaptive_max_pool1d, reprise::adaptive_max_pool2d, reprise::adaptive_max_pool3d;
using reprise::avg_pool1d, reprise::avg_pool2d, reprise::avg_pool3d;
using reprise::batch_norm, reprise::group_norm, reprise::instance_norm, reprise::layer_norm,
    reprise::rms_norm;
using reprise::conv1d, reprise::conv2d, reprise::conv3d;
using reprise::conv_transpose1d, reprise::conv_transpose2d, reprise::conv_transpose3d;
using reprise::dropout, reprise::dropout1d, reprise::dropout2d, reprise::dropout3d, reprise::alpha_dropout;
// alpha_dropout() in evaluation mode, PyTorch's default: returns x.
inline Tensor alpha_dropout(const Tensor& x, double p = 0.5) { return alpha_dropout(x, p, false); }
using reprise::grid_sample, reprise::affine_grid;
using reprise::linear, reprise::embedding, reprise::one_hot;
using reprise::local_response_norm;
using reprise::lp_pool1d, reprise::lp_pool2d;
using reprise::max_pool1d, reprise::max_pool2d, reprise::max_pool3d;
using reprise::max_unpool1d, reprise::max_unpool2d, reprise::max_unpool3d;
using reprise::pad, reprise::interpolate, reprise::pixel_shuffle, reprise::pixel_unshuffle;
using reprise::scaled_dot_product_attention;
using reprise::unfold, reprise::fold;
// x1 weight[k] x2 + bias[k] for each k: x1 [..., A] and x2 [..., B] -> [..., K], with weight [K, A, B] and
// bias [K] or none.
Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {});

// ---- activations ----
using reprise::gelu, reprise::silu, reprise::mish, reprise::glu, reprise::softplus, reprise::softsign;
using reprise::hardtanh, reprise::hardsigmoid, reprise::hardswish;
using reprise::relu, reprise::relu6, reprise::leaky_relu, reprise::prelu, reprise::elu, reprise::celu,
    reprise::selu;
using reprise::sigmoid, reprise::logsigmoid, reprise::tanh;
using reprise::softmax, reprise::log_softmax;
using reprise::tanhshrink, reprise::hardshrink, reprise::softshrink, reprise::threshold;
Tensor softmin(const Tensor&, std::int64_t dim); // softmax(-x, dim)

// ---- losses ----
using reprise::binary_cross_entropy, reprise::binary_cross_entropy_with_logits;
using reprise::cross_entropy, reprise::nll_loss, reprise::mse_loss, reprise::l1_loss, reprise::smooth_l1_loss;
using reprise::huber_loss, reprise::kl_div, reprise::cosine_embedding_loss;
// max(0, -target (a - b) + margin) of each element: the target is 1 where a should be larger than b, -1 where
// smaller.  All three broadcast.  This loss and the three below throw Error(argument) for
// Reduction::batchmean.
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                           Choice<Reduction> = Reduction::mean);
// x where the target is 1, max(0, margin - x) where it is -1, of each element; both broadcast.
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin = 1,
                            Choice<Reduction> = Reduction::mean);
// log(1 + exp(-target x)) of each element, for targets 1 and -1; both broadcast.
Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Choice<Reduction> = Reduction::mean);
// max(0, d(anchor, positive) - d(anchor, negative) + margin) of vectors [..., D], with d = pairwise_distance
// of order p; the losses [...] are then reduced.  Throws Error(argument) unless the margin is above 0.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin = 1, double p = 2, double eps = 1e-6,
                           Choice<Reduction> = Reduction::mean);
// The same with PyTorch's arguments in their order.  With `swap` it uses the smaller of d(anchor, negative)
// and d(positive, negative).
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap,
                           Choice<Reduction> = Reduction::mean);
// Returns the losses of nn::PoissonNLLLoss, nn::GaussianNLLLoss, nn::MultiMarginLoss and
// nn::MultiLabelSoftMarginLoss, which describe the arguments.  They throw Error(argument) for
// Reduction::batchmean, and multi_margin_loss where p is neither 1 nor 2.
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input = true, bool full = false,
                        double eps = 1e-8, Choice<Reduction> = Reduction::mean);
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full = false,
                         double eps = 1e-6, Choice<Reduction> = Reduction::mean); // see above
Tensor multi_margin_loss(const Tensor& x, const Tensor& target, double p = 1, double margin = 1,
                         const Tensor& weight = {}, Choice<Reduction> = Reduction::mean); // see above
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                   Choice<Reduction> = Reduction::mean); // see above

// ---- vectors ----
using reprise::cosine_similarity, reprise::normalize, reprise::pairwise_distance;

} // namespace reprise::nn::functional

namespace reprise {
// Functions that libtorch also has outside of nn::functional.
using nn::functional::bilinear, nn::functional::triplet_margin_loss;
using nn::functional::hinge_embedding_loss, nn::functional::margin_ranking_loss;
} // namespace reprise
