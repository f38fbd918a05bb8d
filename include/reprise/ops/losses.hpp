// Losses.
#pragma once
#include <reprise/ops/reductions.hpp> // softmax
#include <reprise/tensor.hpp>

namespace reprise {

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
// PyTorch's names of these two, and its order of arguments.
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                            Reduction = Reduction::mean);
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                                        Reduction = Reduction::mean, const Tensor& pos_weight = {});
// t (log(t) - input) for log-probabilities; log_target: the target is log(t).  batchmean: the sum over N.
Tensor kl_div(const Tensor& input, const Tensor& target, Reduction = Reduction::mean,
              bool log_target = false);
// a b / (|a| |b|) along a dimension, the norms at least eps.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8);
// The norm of order p of a - b + eps along the last dimension; a and b broadcast.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6,
                         bool keepdim = false);
// The distances of order p between all rows, [..., P, M] and [..., R, M] -> [..., P, R].  Makes all P R M differences.
Tensor cdist(const Tensor& a, const Tensor& b, double p = 2);
// 1 - cosine for target 1, max(0, cosine - margin) for target -1: a, b [..., D], target [...].
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                             Reduction = Reduction::mean);

} // namespace reprise
