#include <reprise/nn/functional.hpp>

namespace reprise::nn::functional {

using reprise::detail::fail;

namespace {

Tensor reduced(const char* op, const Tensor& losses, Reduction reduction)
{
    if (reduction == Reduction::batchmean)
        fail(ErrorKind::argument, op, "The reduction batchmean is for kl_div only: use mean or sum.");
    if (reduction == Reduction::none) return losses;
    return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

void check_not_negative(const char* op, const char* what, double value)
{
    if (!(value >= 0)) fail(ErrorKind::argument, op, what, " (", value, ") must be at least 0.");
}

} // namespace

Tensor softmin(const Tensor& x, std::int64_t dim) { return softmax(-x, dim); }
Tensor tanhshrink(const Tensor& x) { return x - tanh(x); }

// NaN stays, as no comparison holds for it.
Tensor hardshrink(const Tensor& x, double lambd)
{
    check_not_negative("hardshrink", "The lambd", lambd);
    return where(abs(x) <= lambd, 0, x);
}

Tensor softshrink(const Tensor& x, double lambd)
{
    check_not_negative("softshrink", "The lambd", lambd);
    return where(abs(x) <= lambd, 0, x - sign(x) * lambd);
}

Tensor threshold(const Tensor& x, double threshold, double value) { return where(x <= threshold, value, x); }

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            Reduction reduction)
{
    return bce_loss(input, target, reduction, weight);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                                        Reduction reduction, const Tensor& pos_weight)
{
    return bce_with_logits_loss(input, target, reduction, weight, pos_weight);
}

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                           Reduction reduction)
{
    return reduced("margin_ranking_loss", relu(margin - target * (a - b)), reduction);
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin, Reduction reduction)
{
    return reduced("hinge_embedding_loss", where(target > 0, x, relu(margin - x)), reduction);
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction)
{
    return reduced("soft_margin_loss", -logsigmoid(target * x), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, Reduction reduction)
{
    if (!(margin > 0))
        fail(ErrorKind::argument, "triplet_margin_loss", "The margin (", margin, ") must be above 0.");
    const Tensor near = pairwise_distance(anchor, positive, p, eps),
                 far = pairwise_distance(anchor, negative, p, eps);
    return reduced("triplet_margin_loss", relu(near - far + margin), reduction);
}

Tensor normalize(const Tensor& x, double p, std::int64_t dim, double eps)
{
    return x / clamp_min(norm(x, p, {dim}, true), eps);
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim)
{
    return norm(a - b + eps, p, {-1}, keepdim);
}

} // namespace reprise::nn::functional
