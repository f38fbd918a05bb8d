// Losses and distances.
#pragma once
#include <cstdint>

#include <reprise/choice.hpp>
#include <reprise/ops/reductions.hpp> // softmax
#include <reprise/tensor.hpp>

namespace reprise {

// Options of nll_loss() and cross_entropy().
struct ClassLossOptions {
    Tensor weight = {}; // [C], a factor for each class; the mean divides by the targets' weights
    std::int64_t ignore_index = -100; // targets of this class are left out
    // The mean divides by the number of targets that are not left out.
    Choice<Reduction> reduction = Reduction::mean;
    // cross_entropy() only: this part of each target, 0 to 1, is spread equally over all classes.
    double label_smoothing = 0;
};
// Negative log-likelihood: minus the log-probability of each target.  log_probabilities [N, C] or [N, C, ...]
// of a floating dtype, target (i32 or i64) [N] or [N, ...]; without reduction the result has the target's
// shape.  A target outside [0, C) gives NaN; see set_check_indices().  Error(shape) where the shapes do not
// fit.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Choice<Reduction> = Reduction::mean);
// The same with options; Error(argument) for a label_smoothing other than 0.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const ClassLossOptions&);
// The same with PyTorch's arguments in their order.
inline Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight,
                       Choice<Reduction> reduction, std::int64_t ignore_index = -100)
{
    return nll_loss(log_probabilities, target, ClassLossOptions{weight, ignore_index, reduction});
}
// The same with a factor for each class.  A template, so that {} stays ClassLossOptions.
template <class = void>
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight)
{
    return nll_loss(log_probabilities, target, ClassLossOptions{weight});
}
// nll_loss() of log_softmax() of logits [N, C] or [N, C, ...] of a floating dtype.  The target is class
// indices (i32 or i64) as for nll_loss(), or probabilities of the logits' shape, for which the mean divides
// by the number of rows.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, Choice<Reduction> = Reduction::mean);
// The same with options; Error(argument) for a label_smoothing outside [0, 1].
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const ClassLossOptions&);
// The same with PyTorch's arguments in their order.
inline Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight,
                            Choice<Reduction> reduction, std::int64_t ignore_index = -100,
                            double label_smoothing = 0)
{
    return cross_entropy(logits, target, ClassLossOptions{weight, ignore_index, reduction, label_smoothing});
}
// The same with a factor for each class.  A template, so that {} stays ClassLossOptions.
template <class = void> Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight)
{
    return cross_entropy(logits, target, ClassLossOptions{weight});
}
// cross_entropy() by the name of ATen's function.
inline Tensor cross_entropy_loss(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                                 Choice<Reduction> reduction = Reduction::mean,
                                 std::int64_t ignore_index = -100, double label_smoothing = 0)
{
    return cross_entropy(logits, target, weight, reduction, ignore_index, label_smoothing);
}
// Mean squared error: (input - target)^2.  Error(shape) where the shapes differ.
Tensor mse_loss(const Tensor& input, const Tensor& target, Choice<Reduction> = Reduction::mean);
// Mean absolute error: |input - target|.  Error(shape) where the shapes differ.
Tensor l1_loss(const Tensor& input, const Tensor& target, Choice<Reduction> = Reduction::mean);
// With d = input - target: 0.5 d^2 / beta where |d| < beta, else |d| - 0.5 beta; l1_loss() for a beta of 0.
// Error(shape) where the shapes differ; Error(argument) for a beta below 0.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Choice<Reduction> = Reduction::mean,
                      double beta = 1);
// With d = input - target: 0.5 d^2 where |d| <= delta, else delta (|d| - 0.5 delta).  Error(shape) where the
// shapes differ; Error(argument) unless delta is above 0.
Tensor huber_loss(const Tensor& input, const Tensor& target, Choice<Reduction> = Reduction::mean,
                  double delta = 1);
// Binary cross entropy of probabilities x: -(t log(x) + (1 - t) log(1 - x)), the logarithms at least -100.
// `weight` broadcasts and is a factor of each loss.  Error(shape) where the shapes of input and target
// differ.
Tensor bce_loss(const Tensor& input, const Tensor& target, Choice<Reduction> = Reduction::mean,
                const Tensor& weight = {});
// Binary cross entropy of sigmoid(logits), without overflow.  `weight` is a factor of each loss, pos_weight a
// factor of the first term, t log(x); both broadcast.  Error(shape) where the shapes of logits and target
// differ.
Tensor bce_with_logits_loss(const Tensor& logits, const Tensor& target, Choice<Reduction> = Reduction::mean,
                            const Tensor& weight = {}, const Tensor& pos_weight = {});
// bce_loss() with PyTorch's name and order of arguments.
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                            Choice<Reduction> = Reduction::mean);
// bce_with_logits_loss() with PyTorch's name and order of arguments.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                                        Choice<Reduction> = Reduction::mean, const Tensor& pos_weight = {});
// The same with the arguments in ATen's order.
inline Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                               const Tensor& weight, const Tensor& pos_weight,
                                               Choice<Reduction> reduction = Reduction::mean)
{
    return bce_with_logits_loss(logits, target, reduction, weight, pos_weight);
}
// Kullback-Leibler divergence: t (log(t) - input) for log-probabilities `input` and probabilities t; 0 where
// t is 0.  With log_target the target is log(t).  Error(shape) where the shapes differ.
Tensor kl_div(const Tensor& input, const Tensor& target, Choice<Reduction> = Reduction::mean,
              bool log_target = false);
// a b / (|a| |b|) along a dimension, which the result lacks; each norm is at least eps.  a and b broadcast.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8);
// The p-norm of a - b + eps along the last dimension; a and b broadcast.  With keepdim that dimension stays
// with size 1.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6,
                         bool keepdim = false);
// The p-norm distances between all pairs of rows: [..., P, M] and [..., R, M] -> [..., P, R].  Stores all P R
// M differences in memory.  Error(argument) for p below 0.
Tensor cdist(const Tensor& a, const Tensor& b, double p = 2);
// 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1, else 0, for the cosine of a and b
// [..., D] along the last dimension; target [...].  Error(shape) where the shapes do not fit.
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                             Choice<Reduction> = Reduction::mean);

} // namespace reprise
