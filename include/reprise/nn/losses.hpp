// Losses: modules of the functions of the same meaning (ops/losses.hpp).
#pragma once
#include <cstdint>

#include <reprise/nn/module.hpp>
#include <reprise/ops/losses.hpp>

namespace reprise::nn {

// Of an input and what it should be.
class Loss : public Module {
public:
    using Module::forward;
    virtual Tensor forward(Tensor input, Tensor target) = 0;
    Tensor operator()(Tensor input, Tensor target) { return forward(std::move(input), std::move(target)); }

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

// Of two vectors and whether they should be alike (1) or not (-1).
class CosineEmbeddingLoss : public Module {
public:
    explicit CosineEmbeddingLoss(double margin = 0, Reduction reduction = Reduction::mean)
        : margin_(margin), reduction_(reduction)
    {}
    using Module::forward;
    Tensor forward(Tensor a, Tensor b, Tensor target);
    Tensor operator()(Tensor a, Tensor b, Tensor target)
    {
        return forward(std::move(a), std::move(b), std::move(target));
    }

private:
    double margin_;
    Reduction reduction_;
};

} // namespace reprise::nn
