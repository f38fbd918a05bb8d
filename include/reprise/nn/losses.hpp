// Losses, with the names of torch.nn: modules of the functions of the same meaning in ops/losses.hpp and
// nn/functional.hpp.
//
// Input and target have the same shape unless a class says otherwise, else Error(shape).  Each class gives
// the formula for one element; the reduction is the mean of all losses by default, or their sum, or none,
// which returns the losses themselves.  Reduction::batchmean is for KLDivLoss only: calls of the others throw
// Error(argument).
#pragma once
#include <cstdint>

#include <reprise/nn/module.hpp>
#include <reprise/ops/losses.hpp>

namespace reprise::nn {

// The base class of losses of an input and a target.
class Loss : public ModuleOf<Tensor(Tensor, Tensor)> {
protected:
    explicit Loss(Reduction reduction) : reduction_(reduction) {} // with this reduction
    Reduction reduction_;                                         // of the losses of all elements
};

// Mean squared error: (input - target)^2.
class MSELoss : public Loss {
public:
    explicit MSELoss(Reduction reduction = Reduction::mean) : Loss(reduction) {} // mean, sum or none
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // mse_loss(input, target)
};

// Mean absolute error: |input - target|.
class L1Loss : public Loss {
public:
    explicit L1Loss(Reduction reduction = Reduction::mean) : Loss(reduction) {} // mean, sum or none
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // l1_loss(input, target)
};

// With d = |input - target|: d^2 / (2 beta) for d < beta, else d - beta / 2; with beta = 0 the L1Loss.
class SmoothL1Loss : public Loss {
public:
    // Throws Error(argument) for beta < 0.
    explicit SmoothL1Loss(Reduction reduction = Reduction::mean, double beta = 1);
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // smooth_l1_loss(input, target)

private:
    double beta_;
};

// With d = |input - target|: d^2 / 2 for d <= delta, else delta (d - delta / 2).
class HuberLoss : public Loss {
public:
    // Throws Error(argument) unless delta > 0.
    explicit HuberLoss(Reduction reduction = Reduction::mean, double delta = 1);
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // huber_loss(input, target)

private:
    double delta_;
};

// Binary cross-entropy of probabilities from 0 to 1:
// -weight (target log(input) + (1 - target) log(1 - input)), where the logarithms are at least -100.
class BCELoss : public Loss {
public:
    // The weight broadcasts to the losses; undefined: 1.
    explicit BCELoss(const Tensor& weight = {}, Reduction reduction = Reduction::mean);
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // bce_loss(input, target)
    Variable weight;                                      // a buffer; undefined without a weight
};

// Binary cross-entropy of logits, computed without overflow: BCELoss of sigmoid(logits), with pos_weight as a
// factor of the part target log(sigmoid(logits)).
class BCEWithLogitsLoss : public Loss {
public:
    // Both weights broadcast to the losses; undefined: 1.
    explicit BCEWithLogitsLoss(const Tensor& weight = {}, Reduction reduction = Reduction::mean,
                               const Tensor& pos_weight = {});
    using Loss::forward;
    Tensor forward(Tensor logits, Tensor target) override; // bce_with_logits_loss(logits, target)
    Variable weight,                                       // a buffer; undefined without a weight
        pos_weight;                                        // a buffer; undefined without a pos_weight
};

// Cross-entropy of logits [N, C] or [N, C, ...] with class indices, i32 or i64, [N] or [N, ...]:
// -weight[target] log_softmax(logits)[target].  A floating target of the logits' shape gives probabilities of
// the classes.  Targets of the ignore_index count nothing; with a weight the mean divides by the sum of the
// targets' weights.
class CrossEntropyLoss : public Loss {
public:
    // Calls throw Error(argument) for a label_smoothing that is not from 0 to 1, and Error(shape) for a
    // weight that is not [C].
    explicit CrossEntropyLoss(const ClassLossOptions& = {});
    using Loss::forward;
    Tensor forward(Tensor logits, Tensor target) override; // cross_entropy(logits, target)
    Variable weight;                                       // [C], a buffer; undefined without a weight

private:
    ClassLossOptions options_;
};

// Negative log-likelihood of log-probabilities [N, C] or [N, C, ...] with class indices, i32 or i64, [N] or
// [N, ...]: -weight[target] input[target].  Ignored targets and the mean are as for CrossEntropyLoss.
class NLLLoss : public Loss {
public:
    // Calls throw Error(argument) with a label_smoothing, and Error(shape) for a weight that is not [C].
    explicit NLLLoss(const ClassLossOptions& = {});
    using Loss::forward;
    Tensor forward(Tensor log_probabilities, Tensor target) override; // nll_loss(log_probabilities, target)
    Variable weight; // [C], a buffer; undefined without a weight

private:
    ClassLossOptions options_;
};

// Kullback-Leibler divergence of log-probabilities: target (log(target) - input), or 0 for a target of 0.
class KLDivLoss : public Loss {
public:
    // Reduction::batchmean divides the sum by the first size, as the definition of the divergence asks for.
    // log_target: the target is given as log-probabilities too.
    explicit KLDivLoss(Reduction reduction = Reduction::mean, bool log_target = false)
        : Loss(reduction), log_target_(log_target)
    {}
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // kl_div(input, target)

private:
    bool log_target_;
};

// log(1 + exp(-target input)) for targets 1 and -1; input and target broadcast.
class SoftMarginLoss : public Loss {
public:
    explicit SoftMarginLoss(Reduction reduction = Reduction::mean) : Loss(reduction) {} // mean, sum or none
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // functional::soft_margin_loss(input, target)
};

// input where the target is 1, max(0, margin - input) where it is -1; input and target broadcast.
class HingeEmbeddingLoss : public Loss {
public:
    // margin: the loss is 0 for a target of -1 if the input, a distance, is at least this.
    explicit HingeEmbeddingLoss(double margin = 1, Reduction reduction = Reduction::mean)
        : Loss(reduction), margin_(margin)
    {}
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override; // functional::hinge_embedding_loss(input, target)

private:
    double margin_;
};

// max(0, -target (a - b) + margin): the target is 1 where a should be larger than b, -1 where smaller.  All
// three broadcast.
class MarginRankingLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    // margin: the loss of a pair in the right order is 0 if the difference is at least this.
    explicit MarginRankingLoss(double margin = 0, Reduction reduction = Reduction::mean)
        : margin_(margin), reduction_(reduction)
    {}
    using ModuleOf::forward;
    // functional::margin_ranking_loss(a, b, target)
    Tensor forward(Tensor a, Tensor b, Tensor target) override;

private:
    double margin_;
    Reduction reduction_;
};

// max(0, d(anchor, positive) - d(anchor, negative) + margin) of vectors [..., D], with d = pairwise_distance:
// the losses before the reduction are [...].
class TripletMarginLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    // p and eps: those of pairwise_distance.  Calls throw Error(argument) unless the margin is above 0.
    explicit TripletMarginLoss(double margin = 1, double p = 2, double eps = 1e-6,
                               Reduction reduction = Reduction::mean)
        : margin_(margin), p_(p), eps_(eps), reduction_(reduction)
    {}
    using ModuleOf::forward;
    // functional::triplet_margin_loss(anchor, positive, negative)
    Tensor forward(Tensor anchor, Tensor positive, Tensor negative) override;

private:
    double margin_, p_, eps_;
    Reduction reduction_;
};

// a b / (|a| |b|) along one dimension, which the result lacks; the norms are at least eps.  a and b
// broadcast.
class CosineSimilarity : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    // A negative dim counts from the end.
    explicit CosineSimilarity(std::int64_t dim = 1, double eps = 1e-8) : dim_(dim), eps_(eps) {}
    using ModuleOf::forward;
    Tensor forward(Tensor a, Tensor b) override; // cosine_similarity(a, b)

private:
    std::int64_t dim_;
    double eps_;
};
// The norm of order p of a - b + eps along the last dimension, which the result lacks.  a and b broadcast.
class PairwiseDistance : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    // keepdim: the result keeps the last dimension, with size 1.
    explicit PairwiseDistance(double p = 2, double eps = 1e-6, bool keepdim = false)
        : p_(p), eps_(eps), keepdim_(keepdim)
    {}
    using ModuleOf::forward;
    Tensor forward(Tensor a, Tensor b) override; // pairwise_distance(a, b)

private:
    double p_, eps_;
    bool keepdim_;
};

// For vectors a and b [..., D] with targets [...]: 1 - cosine where the target is 1 (a and b should be
// alike), max(0, cosine - margin) where it is -1.
class CosineEmbeddingLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    // margin: the loss is 0 for a target of -1 if the cosine is at most this.
    explicit CosineEmbeddingLoss(double margin = 0, Reduction reduction = Reduction::mean)
        : margin_(margin), reduction_(reduction)
    {}
    using ModuleOf::forward;
    Tensor forward(Tensor a, Tensor b, Tensor target) override; // cosine_embedding_loss(a, b, target)

private:
    double margin_;
    Reduction reduction_;
};

} // namespace reprise::nn
