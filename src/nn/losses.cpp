#include <reprise/error.hpp>
#include <reprise/nn/functional.hpp>
#include <reprise/nn/losses.hpp>

namespace reprise::nn {

namespace {

void check_positive(const char* op, const char* name, double value, bool or_zero)
{
    if (!(value > 0 || (or_zero && value == 0)))
        detail::fail(ErrorKind::argument, op, name, " (", value, ") must be ",
                     or_zero ? "at least 0." : "above 0.");
}

// Returns the options with the present value of the registered buffer, which may have been loaded.
ClassLossOptions with_weight(ClassLossOptions options, const Tensor& weight)
{
    options.weight = weight;
    return options;
}

} // namespace

bases::WeightedLoss::WeightedLoss(const Tensor& given, Choice<Reduction> reduction) : Loss(reduction)
{
    if (given.defined()) weight = register_buffer("weight", Variable(given, false));
}

Tensor MSELoss::forward(Tensor input, Tensor target) { return mse_loss(input, target, reduction_); }
Tensor L1Loss::forward(Tensor input, Tensor target) { return l1_loss(input, target, reduction_); }

SmoothL1Loss::SmoothL1Loss(Choice<Reduction> reduction, double beta) : Loss(reduction), beta_(beta)
{
    check_positive("SmoothL1Loss", "beta", beta, true);
}
Tensor SmoothL1Loss::forward(Tensor input, Tensor target)
{
    return smooth_l1_loss(input, target, reduction_, beta_);
}

HuberLoss::HuberLoss(Choice<Reduction> reduction, double delta) : Loss(reduction), delta_(delta)
{
    check_positive("HuberLoss", "delta", delta, false);
}
Tensor HuberLoss::forward(Tensor input, Tensor target)
{
    return huber_loss(input, target, reduction_, delta_);
}

Tensor BCELoss::forward(Tensor input, Tensor target) { return bce_loss(input, target, reduction_, weight); }

BCEWithLogitsLoss::BCEWithLogitsLoss(const Tensor& given, Choice<Reduction> reduction, const Tensor& positive)
    : WeightedLoss(given, reduction)
{
    if (positive.defined()) pos_weight = register_buffer("pos_weight", Variable(positive, false));
}
Tensor BCEWithLogitsLoss::forward(Tensor logits, Tensor target)
{
    return bce_with_logits_loss(logits, target, reduction_, weight, pos_weight);
}

Tensor CrossEntropyLoss::forward(Tensor logits, Tensor target)
{
    return cross_entropy(logits, target, with_weight(options_, weight));
}

Tensor NLLLoss::forward(Tensor log_probabilities, Tensor target)
{
    return nll_loss(log_probabilities, target, with_weight(options_, weight));
}

Tensor KLDivLoss::forward(Tensor input, Tensor target)
{
    return kl_div(input, target, reduction_, log_target_);
}

Tensor CosineEmbeddingLoss::forward(Tensor a, Tensor b, Tensor target)
{
    return cosine_embedding_loss(a, b, target, margin_, reduction_);
}

Tensor SoftMarginLoss::forward(Tensor input, Tensor target)
{
    return functional::soft_margin_loss(input, target, reduction_);
}

Tensor HingeEmbeddingLoss::forward(Tensor input, Tensor target)
{
    return functional::hinge_embedding_loss(input, target, margin_, reduction_);
}

Tensor MarginRankingLoss::forward(Tensor a, Tensor b, Tensor target)
{
    return functional::margin_ranking_loss(a, b, target, margin_, reduction_);
}

Tensor TripletMarginLoss::forward(Tensor anchor, Tensor positive, Tensor negative)
{
    return functional::triplet_margin_loss(anchor, positive, negative, options_.margin, options_.p,
                                           options_.eps, options_.swap, options_.reduction);
}

Tensor CosineSimilarity::forward(Tensor a, Tensor b) { return cosine_similarity(a, b, dim_, eps_); }

Tensor PairwiseDistance::forward(Tensor a, Tensor b)
{
    return functional::pairwise_distance(a, b, p_, eps_, keepdim_);
}

Tensor PoissonNLLLoss::forward(Tensor input, Tensor target)
{
    return functional::poisson_nll_loss(input, target, options_.log_input, options_.full, options_.eps,
                                        reduction_);
}

Tensor GaussianNLLLoss::forward(Tensor input, Tensor target, Tensor var)
{
    return functional::gaussian_nll_loss(input, target, var, options_.full, options_.eps, options_.reduction);
}

Tensor MultiMarginLoss::forward(Tensor x, Tensor target)
{
    return functional::multi_margin_loss(x, target, options_.p, options_.margin, weight, reduction_);
}

Tensor MultiLabelSoftMarginLoss::forward(Tensor input, Tensor target)
{
    return functional::multilabel_soft_margin_loss(input, target, weight, reduction_);
}

} // namespace reprise::nn
