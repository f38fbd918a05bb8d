#include <reprise/nn/functional.hpp>

#include <cmath>
#include <numbers>

#include <reprise/autocast.hpp>

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

Tensor margin_ranking_loss(const Tensor& given_a, const Tensor& given_b, const Tensor& given_target,
                           double margin, Choice<Reduction> reduction)
{
    const Tensor a = autocast_to_f32(given_a), b = autocast_to_f32(given_b),
                 target = autocast_to_f32(given_target);
    return reduced("margin_ranking_loss", relu(margin - target * (a - b)), reduction);
}

Tensor hinge_embedding_loss(const Tensor& given_x, const Tensor& given_target, double margin,
                            Choice<Reduction> reduction)
{
    const Tensor x = autocast_to_f32(given_x), target = autocast_to_f32(given_target);
    return reduced("hinge_embedding_loss", where(target > 0, x, relu(margin - x)), reduction);
}

Tensor soft_margin_loss(const Tensor& given_x, const Tensor& given_target, Choice<Reduction> reduction)
{
    const Tensor x = autocast_to_f32(given_x), target = autocast_to_f32(given_target);
    return reduced("soft_margin_loss", -logsigmoid(target * x), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, Choice<Reduction> reduction)
{
    return triplet_margin_loss(anchor, positive, negative, margin, p, eps, false, reduction);
}

Tensor triplet_margin_loss(const Tensor& given_anchor, const Tensor& given_positive,
                           const Tensor& given_negative, double margin, double p, double eps, bool swap,
                           Choice<Reduction> reduction)
{
    const Tensor anchor = autocast_to_f32(given_anchor), positive = autocast_to_f32(given_positive),
                 negative = autocast_to_f32(given_negative);
    if (!(margin > 0))
        fail(ErrorKind::argument, "triplet_margin_loss", "The margin (", margin, ") must be above 0.");
    const Tensor near = pairwise_distance(anchor, positive, p, eps);
    Tensor far = pairwise_distance(anchor, negative, p, eps);
    if (swap) far = minimum(far, pairwise_distance(positive, negative, p, eps));
    return reduced("triplet_margin_loss", relu(near - far + margin), reduction);
}

Tensor poisson_nll_loss(const Tensor& given_input, const Tensor& given_target, bool log_input, bool full,
                        double eps, Choice<Reduction> reduction)
{
    const Tensor input = autocast_to_f32(given_input), target = autocast_to_f32(given_target);
    Tensor losses = log_input ? exp(input) - target * input : input - target * log(input + eps);
    if (full) {
        // 1 elsewhere, so that value and gradient stay finite
        const Tensor large = where(target > 1, target, ones_like(target));
        const Tensor stirling = large * log(large) - large + 0.5 * log(2 * std::numbers::pi * large);
        losses = losses + where(target > 1, stirling, zeros_like(stirling));
    }
    return reduced("poisson_nll_loss", losses, reduction);
}

Tensor gaussian_nll_loss(const Tensor& given_input, const Tensor& given_target, const Tensor& given_var,
                         bool full, double eps, Choice<Reduction> reduction)
{
    const Tensor input = autocast_to_f32(given_input), target = autocast_to_f32(given_target),
                 var = autocast_to_f32(given_var);
    const Tensor shaped = var.dim() == input.dim() - 1 ? unsqueeze(var, -1) : var;
    const Tensor v = shaped + (clamp_min(shaped, eps) - shaped).detach();
    Tensor losses = 0.5 * (log(v) + square(input - target) / v);
    if (full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
    return reduced("gaussian_nll_loss", losses, reduction);
}

Tensor multi_margin_loss(const Tensor& given_x, const Tensor& target, double p, double margin,
                         const Tensor& given_weight, Choice<Reduction> reduction)
{
    const Tensor x = autocast_to_f32(given_x), weight = autocast_to_f32(given_weight);
    if (p != 1 && p != 2)
        fail(ErrorKind::argument, "multi_margin_loss", "The power (", p, ") must be 1 or 2.");
    const Tensor index = unsqueeze(target, -1);
    const Tensor is_target =
        arange(x.size(-1), {.dtype = target.dtype(), .device = target.device()}) == index;
    Tensor losses = relu(margin - gather(x, -1, index) + x);
    if (p == 2) losses = square(losses);
    if (weight.defined())
        losses =
            losses * unsqueeze(reshape(index_select(weight, 0, reshape(target, {-1})), target.shape()), -1);
    return reduced("multi_margin_loss", mean(masked_fill(losses, is_target, 0), {-1}), reduction);
}

Tensor multilabel_soft_margin_loss(const Tensor& given_input, const Tensor& given_target,
                                   const Tensor& given_weight, Choice<Reduction> reduction)
{
    const Tensor input = autocast_to_f32(given_input), target = autocast_to_f32(given_target),
                 weight = autocast_to_f32(given_weight);
    Tensor losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input));
    if (weight.defined()) losses = losses * weight;
    return reduced("multilabel_soft_margin_loss", mean(losses, {-1}), reduction);
}

Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias)
{
    const std::vector<Tensor> in = autocast_to_widest({x1, weight, x2, bias});
    const autocast in_their_dtype(bf16, false);
    const Tensor y = einsum("...a,kab,...b->...k", {in[0], in[1], in[2]});
    return bias.defined() ? y + in[3] : y;
}

} // namespace reprise::nn::functional
