// Losses: modules of the functions of the same meaning (ops/losses.hpp).
#pragma once
#include <cstdint>

#include <reprise/nn/module.hpp>
#include <reprise/ops/losses.hpp>

namespace reprise::nn {

// Of an input and what it should be.
class Loss : public ModuleOf<Tensor(Tensor, Tensor)> {
protected:
    explicit Loss(Reduction reduction) : reduction_(reduction) {}
    Reduction reduction_;
};

class MSELoss : public Loss {
public:
    explicit MSELoss(Reduction reduction = Reduction::mean) : Loss(reduction) {}
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;
};

class L1Loss : public Loss {
public:
    explicit L1Loss(Reduction reduction = Reduction::mean) : Loss(reduction) {}
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;
};

class SmoothL1Loss : public Loss {
public:
    explicit SmoothL1Loss(Reduction reduction = Reduction::mean, double beta = 1);
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;

private:
    double beta_;
};

class HuberLoss : public Loss {
public:
    explicit HuberLoss(Reduction reduction = Reduction::mean, double delta = 1);
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;

private:
    double delta_;
};

// Of probabilities.  The weight, where given, is a buffer that broadcasts.
class BCELoss : public Loss {
public:
    explicit BCELoss(const Tensor& weight = {}, Reduction reduction = Reduction::mean);
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;
    Variable weight;
};

// Of logits.  weight and pos_weight, where given, are buffers that broadcast.
class BCEWithLogitsLoss : public Loss {
public:
    explicit BCEWithLogitsLoss(const Tensor& weight = {}, Reduction reduction = Reduction::mean,
                               const Tensor& pos_weight = {});
    using Loss::forward;
    Tensor forward(Tensor logits, Tensor target) override;
    Variable weight, pos_weight;
};

// Of logits.  The weight of each class [C], where given, is a buffer.
class CrossEntropyLoss : public Loss {
public:
    explicit CrossEntropyLoss(const ClassLossOptions& = {});
    using Loss::forward;
    Tensor forward(Tensor logits, Tensor target) override;
    Variable weight;

private:
    ClassLossOptions options_;
};

// Of log-probabilities.  The weight of each class [C], where given, is a buffer.
class NLLLoss : public Loss {
public:
    explicit NLLLoss(const ClassLossOptions& = {});
    using Loss::forward;
    Tensor forward(Tensor log_probabilities, Tensor target) override;
    Variable weight;

private:
    ClassLossOptions options_;
};

class KLDivLoss : public Loss {
public:
    explicit KLDivLoss(Reduction reduction = Reduction::mean, bool log_target = false)
        : Loss(reduction), log_target_(log_target)
    {}
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;

private:
    bool log_target_;
};

// log(1 + exp(-target x)), target 1 or -1
class SoftMarginLoss : public Loss {
public:
    explicit SoftMarginLoss(Reduction reduction = Reduction::mean) : Loss(reduction) {}
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;
};

// x for target 1, max(0, margin - x) for target -1
class HingeEmbeddingLoss : public Loss {
public:
    explicit HingeEmbeddingLoss(double margin = 1, Reduction reduction = Reduction::mean)
        : Loss(reduction), margin_(margin)
    {}
    using Loss::forward;
    Tensor forward(Tensor input, Tensor target) override;

private:
    double margin_;
};

// max(0, -target (a - b) + margin), target 1 or -1: whether a should be larger than b
class MarginRankingLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    explicit MarginRankingLoss(double margin = 0, Reduction reduction = Reduction::mean)
        : margin_(margin), reduction_(reduction)
    {}
    using ModuleOf::forward;
    Tensor forward(Tensor a, Tensor b, Tensor target) override;

private:
    double margin_;
    Reduction reduction_;
};

// max(0, |anchor - positive| - |anchor - negative| + margin)
class TripletMarginLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    explicit TripletMarginLoss(double margin = 1, double p = 2, double eps = 1e-6,
                               Reduction reduction = Reduction::mean)
        : margin_(margin), p_(p), eps_(eps), reduction_(reduction)
    {}
    using ModuleOf::forward;
    Tensor forward(Tensor anchor, Tensor positive, Tensor negative) override;

private:
    double margin_, p_, eps_;
    Reduction reduction_;
};

// Along a dimension, and the distance along the last one.
class CosineSimilarity : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    explicit CosineSimilarity(std::int64_t dim = 1, double eps = 1e-8) : dim_(dim), eps_(eps) {}
    using ModuleOf::forward;
    Tensor forward(Tensor a, Tensor b) override;

private:
    std::int64_t dim_;
    double eps_;
};
class PairwiseDistance : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    explicit PairwiseDistance(double p = 2, double eps = 1e-6, bool keepdim = false)
        : p_(p), eps_(eps), keepdim_(keepdim)
    {}
    using ModuleOf::forward;
    Tensor forward(Tensor a, Tensor b) override;

private:
    double p_, eps_;
    bool keepdim_;
};

// Of two vectors and whether they should be alike (1) or not (-1).
class CosineEmbeddingLoss : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    explicit CosineEmbeddingLoss(double margin = 0, Reduction reduction = Reduction::mean)
        : margin_(margin), reduction_(reduction)
    {}
    using ModuleOf::forward;
    Tensor forward(Tensor a, Tensor b, Tensor target) override;

private:
    double margin_;
    Reduction reduction_;
};

} // namespace reprise::nn
