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
public:
    using ModuleOf::ModuleOf;
    // For make() and options in braces, for losses without other options.
    struct Options {
        Choice<Reduction> reduction = Reduction::mean; // mean, sum or none
    };

protected:
    explicit Loss(Choice<Reduction> reduction) : reduction_(reduction) {} // with this reduction
    Reduction reduction_ = Reduction::mean;                               // of the losses of all elements
};

namespace bases { // of modules that share options

// The base class of losses with a weight, which is a buffer.
class WeightedLoss : public Loss {
public:
    using Loss::Loss;
    Variable weight; // a buffer, of the shape that the options say; undefined without a weight

protected:
    WeightedLoss(const Tensor& weight, Choice<Reduction>); // with this weight, which may be undefined
};

// The base class of losses of three tensors with a margin.
class MarginLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    using ModuleOf::ModuleOf;
    // For make() and options in braces.
    struct Options {
        double margin = 0;                             // as in the formula
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    explicit MarginLoss(const Options& o) : MarginLoss(o.margin, o.reduction) {} // with these options
    // The margin is as in the formula.
    explicit MarginLoss(double margin = 0, Choice<Reduction> reduction = Reduction::mean)
        : margin_(margin), reduction_(reduction)
    {}

protected:
    double margin_ = 0;                     // as in the formula
    Reduction reduction_ = Reduction::mean; // of the losses of all elements
};

} // namespace bases

// Mean squared error: (input - target)^2.
class MSELoss : public Loss {
public:
    REPRISE_LAYER(MSELoss)
    explicit MSELoss(const Options& o) : MSELoss(o.reduction) {}                         // with these options
    explicit MSELoss(Choice<Reduction> reduction = Reduction::mean) : Loss(reduction) {} // mean, sum or none
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // mse_loss(input, target)
};

// Mean absolute error: |input - target|.
class L1Loss : public Loss {
public:
    REPRISE_LAYER(L1Loss)
    explicit L1Loss(const Options& o) : L1Loss(o.reduction) {}                          // with these options
    explicit L1Loss(Choice<Reduction> reduction = Reduction::mean) : Loss(reduction) {} // mean, sum or none
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // l1_loss(input, target)
};

// With d = |input - target|: d^2 / (2 beta) for d < beta, else d - beta / 2; with beta = 0 the L1Loss.
class SmoothL1Loss : public Loss {
public:
    REPRISE_LAYER(SmoothL1Loss)
    // For make() and options in braces.
    struct Options {
        Choice<Reduction> reduction = Reduction::mean; // of the losses
        double beta = 1;                               // where the parabola ends, at least 0
    };
    explicit SmoothL1Loss(const Options& o) : SmoothL1Loss(o.reduction, o.beta) {} // with these options
    // Throws Error(argument) for beta < 0.
    explicit SmoothL1Loss(Choice<Reduction> reduction = Reduction::mean, double beta = 1);
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // smooth_l1_loss(input, target)

private:
    double beta_ = 1;
};

// With d = |input - target|: d^2 / 2 for d <= delta, else delta (d - delta / 2).
class HuberLoss : public Loss {
public:
    REPRISE_LAYER(HuberLoss)
    // For make() and options in braces.
    struct Options {
        Choice<Reduction> reduction = Reduction::mean; // of the losses
        double delta = 1;                              // where the parabola ends, above 0
    };
    explicit HuberLoss(const Options& o) : HuberLoss(o.reduction, o.delta) {} // with these options
    // Throws Error(argument) unless delta > 0.
    explicit HuberLoss(Choice<Reduction> reduction = Reduction::mean, double delta = 1);
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // huber_loss(input, target)

private:
    double delta_ = 1;
};

// Binary cross-entropy of probabilities from 0 to 1:
// -weight (target log(input) + (1 - target) log(1 - input)), where the logarithms are at least -100.
class BCELoss : public bases::WeightedLoss {
public:
    REPRISE_LAYER(BCELoss)
    // For make() and options in braces.
    struct Options {
        Tensor weight = {};                            // broadcasts to the losses; undefined: 1
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    explicit BCELoss(const Options& o) : BCELoss(o.weight, o.reduction) {} // with these options
    // The weight broadcasts to the losses; undefined: 1.
    explicit BCELoss(const Tensor& given = {}, Choice<Reduction> reduction = Reduction::mean)
        : WeightedLoss(given, reduction)
    {}
    using WeightedLoss::forward;
    using WeightedLoss::WeightedLoss;
    Tensor forward(Tensor input, Tensor target) override; // bce_loss(input, target)
};

// Binary cross-entropy of logits, computed without overflow: BCELoss of sigmoid(logits), with pos_weight as a
// factor of the part target log(sigmoid(logits)).
class BCEWithLogitsLoss : public bases::WeightedLoss {
public:
    REPRISE_LAYER(BCEWithLogitsLoss)
    // For make() and options in braces.
    struct Options {
        Tensor weight = {};                            // broadcasts to the losses; undefined: 1
        Choice<Reduction> reduction = Reduction::mean; // of the losses
        Tensor pos_weight = {};                        // factor of the positive part; undefined: 1
    };
    explicit BCEWithLogitsLoss(const Options& o)
        : BCEWithLogitsLoss(o.weight, o.reduction, o.pos_weight) {} // with these options
    // Both weights broadcast to the losses; undefined: 1.
    explicit BCEWithLogitsLoss(const Tensor& weight = {}, Choice<Reduction> reduction = Reduction::mean,
                               const Tensor& pos_weight = {});
    using WeightedLoss::forward;
    using WeightedLoss::WeightedLoss;
    Tensor forward(Tensor logits, Tensor target) override; // bce_with_logits_loss(logits, target)
    Variable pos_weight;                                   // a buffer; undefined without a pos_weight
};

// Cross-entropy of logits [N, C] or [N, C, ...] with class indices, i32 or i64, [N] or [N, ...]:
// -weight[target] log_softmax(logits)[target].  A floating target of the logits' shape holds probabilities of
// the classes.  Targets equal to the ignore_index are ignored; with a weight the mean divides by the sum of
// the targets' weights.
class CrossEntropyLoss : public bases::WeightedLoss {
public:
    REPRISE_LAYER(CrossEntropyLoss)
    using Options = ClassLossOptions; // for make()
    // Calls throw Error(argument) for a label_smoothing that is not from 0 to 1, and Error(shape) for a
    // weight that is not [C].
    explicit CrossEntropyLoss(const ClassLossOptions& o = {})
        : WeightedLoss(o.weight, o.reduction), options_(o)
    {}
    using WeightedLoss::forward;
    using WeightedLoss::WeightedLoss;
    Tensor forward(Tensor logits, Tensor target) override; // cross_entropy(logits, target)

private:
    ClassLossOptions options_;
};

// Negative log-likelihood of log-probabilities [N, C] or [N, C, ...] with class indices, i32 or i64, [N] or
// [N, ...]: -weight[target] input[target].  Ignored targets and the mean are as for CrossEntropyLoss.
class NLLLoss : public bases::WeightedLoss {
public:
    REPRISE_LAYER(NLLLoss)
    using Options = ClassLossOptions; // for make()
    // Calls throw Error(argument) with a label_smoothing, and Error(shape) for a weight that is not [C].
    explicit NLLLoss(const ClassLossOptions& o = {}) : WeightedLoss(o.weight, o.reduction), options_(o) {}
    using WeightedLoss::forward;
    using WeightedLoss::WeightedLoss;
    Tensor forward(Tensor log_probabilities, Tensor target) override; // nll_loss(log_probabilities, target)

private:
    ClassLossOptions options_;
};

// Kullback-Leibler divergence of log-probabilities: target (log(target) - input), or 0 for a target of 0.
class KLDivLoss : public Loss {
public:
    REPRISE_LAYER(KLDivLoss)
    // For make() and options in braces.
    struct Options {
        Choice<Reduction> reduction = Reduction::mean; // of the losses
        bool log_target = false;                       // the target is given as log-probabilities too
    };
    explicit KLDivLoss(const Options& o) : KLDivLoss(o.reduction, o.log_target) {} // with these options
    // Reduction::batchmean divides the sum by the first size, as the definition of the divergence requires.
    // log_target: the target is given as log-probabilities too.
    explicit KLDivLoss(Choice<Reduction> reduction = Reduction::mean, bool log_target = false)
        : Loss(reduction), log_target_(log_target)
    {}
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // kl_div(input, target)

private:
    bool log_target_ = false;
};

// log(1 + exp(-target input)) for targets 1 and -1; input and target broadcast.
class SoftMarginLoss : public Loss {
public:
    REPRISE_LAYER(SoftMarginLoss)
    explicit SoftMarginLoss(const Options& o) : SoftMarginLoss(o.reduction) {} // with these options
    explicit SoftMarginLoss(Choice<Reduction> reduction = Reduction::mean)
        : Loss(reduction) {} // mean, sum or none
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // functional::soft_margin_loss(input, target)
};

// input where the target is 1, max(0, margin - input) where it is -1; input and target broadcast.
class HingeEmbeddingLoss : public Loss {
public:
    REPRISE_LAYER(HingeEmbeddingLoss)
    // For make() and options in braces.
    struct Options {
        double margin = 1;                             // as in the formula
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    explicit HingeEmbeddingLoss(const Options& o)
        : HingeEmbeddingLoss(o.margin, o.reduction) {} // with these options
    // margin: the loss is 0 for a target of -1 if the input, a distance, is at least this.
    explicit HingeEmbeddingLoss(double margin = 1, Choice<Reduction> reduction = Reduction::mean)
        : Loss(reduction), margin_(margin)
    {}
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // functional::hinge_embedding_loss(input, target)

private:
    double margin_ = 0;
};

// max(0, -target (a - b) + margin): the target is 1 where a should be larger than b, -1 where smaller.  All
// three broadcast.  The loss of a pair in the right order is 0 if the difference is at least the margin.
class MarginRankingLoss : public bases::MarginLoss {
public:
    REPRISE_LAYER(MarginRankingLoss)
    using MarginLoss::forward;
    using MarginLoss::MarginLoss;
    // functional::margin_ranking_loss(a, b, target)
    Tensor forward(Tensor a, Tensor b, Tensor target) override;
};

// max(0, d(anchor, positive) - d(anchor, negative) + margin) of vectors [..., D], with d = pairwise_distance:
// the losses before the reduction are [...].
class TripletMarginLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    REPRISE_LAYER(TripletMarginLoss)
    // For make() and options in braces.
    struct Options {
        double margin = 1; // above 0
        double p = 2;      // of pairwise_distance()
        double eps = 1e-6; // of pairwise_distance()
        bool swap = false; // uses the smaller of d(anchor, negative) and d(positive, negative)
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    explicit TripletMarginLoss(const Options& o) : options_(o) {} // with these options
    // p and eps: those of pairwise_distance.  Calls throw Error(argument) unless the margin is above 0.
    explicit TripletMarginLoss(double margin = 1, double p = 2, double eps = 1e-6,
                               Choice<Reduction> reduction = Reduction::mean)
        : options_{.margin = margin, .p = p, .eps = eps, .reduction = reduction}
    {}
    using ModuleOf::forward;
    using ModuleOf::ModuleOf;
    // functional::triplet_margin_loss(anchor, positive, negative)
    Tensor forward(Tensor anchor, Tensor positive, Tensor negative) override;

private:
    Options options_;
};

// a b / (|a| |b|) along one dimension, which the result lacks; the norms are at least eps.  a and b
// broadcast.
class CosineSimilarity : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    REPRISE_LAYER(CosineSimilarity)
    // For make() and options in braces.
    struct Options {
        std::int64_t dim = 1; // negative: counts from the end
        double eps = 1e-8;    // lower bound of the norm
    };
    explicit CosineSimilarity(const Options& o) : CosineSimilarity(o.dim, o.eps) {} // with these options
    // A negative dim counts from the end.
    explicit CosineSimilarity(std::int64_t dim = 1, double eps = 1e-8) : dim_(dim), eps_(eps) {}
    using ModuleOf::forward;
    using ModuleOf::ModuleOf;
    Tensor forward(Tensor a, Tensor b) override; // cosine_similarity(a, b)

private:
    std::int64_t dim_ = 0;
    double eps_ = 0;
};
// The norm of order p of a - b + eps along the last dimension, which the result lacks.  a and b broadcast.
class PairwiseDistance : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    REPRISE_LAYER(PairwiseDistance)
    // For make() and options in braces.
    struct Options {
        double p = 2;         // the order of the norm
        double eps = 1e-6;    // added to each difference
        bool keepdim = false; // the result keeps the last dimension, with size 1
    };
    explicit PairwiseDistance(const Options& o)
        : PairwiseDistance(o.p, o.eps, o.keepdim) {} // with these options
    // keepdim: the result keeps the last dimension, with size 1.
    explicit PairwiseDistance(double p = 2, double eps = 1e-6, bool keepdim = false)
        : p_(p), eps_(eps), keepdim_(keepdim)
    {}
    using ModuleOf::forward;
    using ModuleOf::ModuleOf;
    Tensor forward(Tensor a, Tensor b) override; // pairwise_distance(a, b)

private:
    double p_ = 0, eps_ = 0;
    bool keepdim_ = false;
};

// For vectors a and b [..., D] with targets [...]: 1 - cosine where the target is 1 (a and b should be
// similar), max(0, cosine - margin) where it is -1: 0 if the cosine is at most the margin.
class CosineEmbeddingLoss : public bases::MarginLoss {
public:
    REPRISE_LAYER(CosineEmbeddingLoss)
    using MarginLoss::forward;
    using MarginLoss::MarginLoss;
    Tensor forward(Tensor a, Tensor b, Tensor target) override; // cosine_embedding_loss(a, b, target)
};

// Poisson distribution of counts `target` with the rate exp(input): exp(input) - target input, or with
// log_input = false the rate `input`: input - target log(input + eps).  Input and target broadcast.
class PoissonNLLLoss : public Loss {
public:
    REPRISE_LAYER(PoissonNLLLoss)
    // For make() and options in braces.
    struct Options {
        bool log_input = true;                         // whether the input is the logarithm of the rate
        bool full = false;                             // adds Stirling's approximation of log(target!)
        double eps = 1e-8;                             // keeps the logarithm finite where log_input is false
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    PoissonNLLLoss() : PoissonNLLLoss(Options{}) {}                               // the rate is exp(input)
    explicit PoissonNLLLoss(const Options& o) : Loss(o.reduction), options_(o) {} // with these options
    using Loss::forward;
    using Loss::Loss;
    Tensor forward(Tensor input, Tensor target) override; // functional::poisson_nll_loss(input, target)

private:
    Options options_;
};

// Normal distribution of the target with mean `input` and variance `var`, which is at least eps: (log(var) +
// (input - target)^2 / var) / 2.  `var` has the input's shape, or the size 1 in its last dimension, or lacks
// that dimension.
class GaussianNLLLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    REPRISE_LAYER(GaussianNLLLoss)
    // For make() and options in braces.
    struct Options {
        bool full = false;                             // adds the constant log(2 pi) / 2
        double eps = 1e-6;                             // lower bound of the variance, which gradients ignore
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    GaussianNLLLoss() = default;                                // without the constant
    explicit GaussianNLLLoss(const Options& o) : options_(o) {} // with these options
    using ModuleOf::forward;
    using ModuleOf::ModuleOf;
    // functional::gaussian_nll_loss(input, target, var)
    Tensor forward(Tensor input, Tensor target, Tensor var) override;

private:
    Options options_;
};

// Scores x [N, C] or [C] with class indices, i32 or i64, [N] or []: the sum over the other classes j of
// max(0, margin - x[target] + x[j])^p, times weight[target], over C.  The losses before the reduction are [N]
// or [].
class MultiMarginLoss : public bases::WeightedLoss {
public:
    REPRISE_LAYER(MultiMarginLoss)
    // For make() and options in braces.
    struct Options {
        double p = 1;                                  // the power, 1 or 2
        double margin = 1;                             // as in the formula
        Tensor weight = {};                            // [C]; undefined: 1
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    MultiMarginLoss() : MultiMarginLoss(Options{}) {} // with p = 1 and the margin 1
    // Calls throw Error(argument) where p is neither 1 nor 2.
    explicit MultiMarginLoss(const Options& o) : WeightedLoss(o.weight, o.reduction), options_(o) {}
    using WeightedLoss::forward;
    using WeightedLoss::WeightedLoss;
    Tensor forward(Tensor x, Tensor target) override; // functional::multi_margin_loss(x, target)

private:
    Options options_;
};

// Independent binary cross-entropies of C labels: the mean over the last dimension of
// -weight (target logsigmoid(input) + (1 - target) logsigmoid(-input)), which the losses then lack.
class MultiLabelSoftMarginLoss : public bases::WeightedLoss {
public:
    REPRISE_LAYER(MultiLabelSoftMarginLoss)
    // For make() and options in braces.
    struct Options {
        Tensor weight = {};                            // [C]; undefined: 1
        Choice<Reduction> reduction = Reduction::mean; // of the losses
    };
    MultiLabelSoftMarginLoss() : MultiLabelSoftMarginLoss(Options{}) {} // without a weight
    // With these options.
    explicit MultiLabelSoftMarginLoss(const Options& o) : WeightedLoss(o.weight, o.reduction) {}
    using WeightedLoss::forward;
    using WeightedLoss::WeightedLoss;
    // functional::multilabel_soft_margin_loss(input, target)
    Tensor forward(Tensor input, Tensor target) override;
};

} // namespace reprise::nn
