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

} // namespace

Tensor softmin(const Tensor& x, std::int64_t dim) { return softmax(-x, dim); }

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

} // namespace reprise::nn::functional
