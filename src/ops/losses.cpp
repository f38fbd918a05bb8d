// Losses, composed of other ops.
#include <numeric>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/index_check.hpp"
#include "ops/indices.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

Tensor reduced(const char* op, const Tensor& losses, Reduction reduction)
{
    if (reduction == Reduction::batchmean)
        detail::fail(ErrorKind::argument, op,
                     "Only kl_div takes the mean over the batch: use Reduction::mean.");
    if (reduction == Reduction::mean) return mean(losses);
    return reduction == Reduction::sum ? sum(losses) : losses;
}

void check_same_shape(const char* op, const Tensor& input, const Tensor& target)
{
    shape::require_same(op, input.shape(), target.shape(), [&] {
        return "The shapes (" + to_string(input.shape()) + " and " + to_string(target.shape()) +
               ") differ: reshape or expand one, as broadcasting here is nearly always a mistake.";
    });
}

Tensor weighted(const Tensor& losses, const Tensor& weight)
{
    return weight.defined() ? losses * weight : losses;
}

// Checks an input [N, C, ...] with a target [N, ...].
void check_classes(const char* op, const Tensor& x, const Tensor& target)
{
    const Shape& sizes = x.shape();
    if (sizes.size() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes),
                     ") has no classes: give [N, C] or [N, C, ...].");
    Shape expected = sizes;
    expected.erase(expected.begin() + 1);
    shape::require_same(op, target.shape(), expected, [&] {
        return "The target's shape (" + to_string(target.shape()) + ") is not the input's (" +
               to_string(sizes) + ") without its second dimension, the classes.";
    });
    ops::require_floating(op, x.dtype());
    ops::require_indices(op, "target", target.dtype());
}

// Permutes [N, C, ...] to [N, ..., C].
Tensor with_classes_last(const Tensor& x)
{
    std::vector<std::int64_t> dims(x.shape().size());
    std::iota(dims.begin(), dims.end(), 0);
    dims.erase(dims.begin() + 1);
    dims.push_back(1);
    return dims.size() == 2 ? x : permute(x, dims);
}

void check_weight(const char* op, const Tensor& weight, const Dim& classes)
{
    if (!weight.defined()) return;
    shape::require_same(op, weight.shape(), {classes}, [&] {
        return "The weight's shape (" + to_string(weight.shape()) + ") is not one number for each of the (" +
               classes.text() + ") classes.";
    });
}

// The loss of log-probabilities [..., C] for class indices [...]. Each row is weighted by its class; ignored rows have
// weight 0. The mean divides by the sum of these weights.
Tensor of_classes(const char* op, const Tensor& x, const Tensor& target, const ClassLossOptions& o)
{
    const Shape sizes = x.shape();
    const Dim rows = target.numel(), classes = sizes.back();
    check_weight(op, o.weight, classes);
    const Tensor flat = reshape(x, {rows, classes}), t = reshape(target, {rows});
    ops::check_indices({.op = op, .except = o.ignore_index}, t, classes);
    const ops::IndexChecksOff checks_off;
    Tensor losses = graph::apply1(ops::nll_op, {flat, t}, {{"ignore", o.ignore_index}});
    const Tensor counts = t != static_cast<double>(o.ignore_index);
    Tensor weights;
    if (o.weight.defined()) {
        weights = where(counts, take(o.weight.detach(), t), ops::number_like(o.weight, 0));
        losses = losses * weights;
    }
    if (o.label_smoothing > 0) {
        const Tensor all = sum(o.weight.defined() ? flat * o.weight.detach() : flat, {1});
        const Tensor smooth = where(counts, -all, ops::number_like(flat, 0)) / ops::size_like(flat, classes);
        losses = losses * (1 - o.label_smoothing) + smooth * o.label_smoothing;
    }
    if (o.reduction != Reduction::mean)
        return reduced(op, o.reduction == Reduction::none ? reshape(losses, target.shape()) : losses,
                       o.reduction);
    return sum(losses) / sum(weights.defined() ? weights : cast(counts, losses.dtype()));
}

// The loss for targets that are probabilities [..., C], like x.
Tensor of_probabilities(const char* op, const Tensor& x, const Tensor& target, const ClassLossOptions& o)
{
    const Dim classes = x.shape().back();
    check_weight(op, o.weight, classes);
    Tensor p = target;
    if (o.label_smoothing > 0)
        p = p * (1 - o.label_smoothing) + o.label_smoothing / ops::size_like(x, classes);
    const Tensor losses = -sum(weighted(p * x, o.weight), {-1});
    if (o.reduction != Reduction::mean) return reduced(op, losses, o.reduction);
    return mean(losses);
}

void check_smoothing(double smoothing)
{
    if (!(smoothing >= 0 && smoothing <= 1))
        detail::fail(ErrorKind::argument, "cross_entropy", "The label smoothing (", smoothing,
                     ") must lie between 0 and 1.");
}

} // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const ClassLossOptions& o)
{
    if (const ops::Autocast to = ops::Autocast::f32({&log_probabilities}); to)
        return nll_loss(to(log_probabilities), target, o);
    check_classes("nll_loss", log_probabilities, target);
    if (o.label_smoothing != 0)
        detail::fail(ErrorKind::argument, "nll_loss", "Only cross_entropy smooths labels.");
    return of_classes("nll_loss", with_classes_last(log_probabilities), target, o);
}
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Choice<Reduction> reduction)
{
    return nll_loss(log_probabilities, target, ClassLossOptions{.reduction = reduction});
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const ClassLossOptions& o)
{
    if (const ops::Autocast to = ops::Autocast::f32({&logits, &target}); to)
        return cross_entropy(to(logits), to(target), o);
    constexpr const char* op = "cross_entropy";
    check_smoothing(o.label_smoothing);
    if (is_floating(target.dtype()) && target.dim() == logits.dim()) {
        check_same_shape(op, logits, target);
        if (logits.dim() < 2)
            detail::fail(ErrorKind::shape, op, "The shape (", to_string(logits.shape()),
                         ") has no classes: give [N, C] or [N, C, ...].");
        return of_probabilities(op, log_softmax(with_classes_last(logits), -1), with_classes_last(target), o);
    }
    check_classes(op, logits, target);
    return of_classes(op, log_softmax(with_classes_last(logits), -1), target, o);
}
Tensor cross_entropy(const Tensor& logits, const Tensor& target, Choice<Reduction> reduction)
{
    return cross_entropy(logits, target, ClassLossOptions{.reduction = reduction});
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Choice<Reduction> reduction)
{
    if (const ops::Autocast to = ops::Autocast::f32({&input, &target}); to)
        return mse_loss(to(input), to(target), reduction);
    check_same_shape("mse_loss", input, target);
    return reduced("mse_loss", square(input - target), reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Choice<Reduction> reduction)
{
    if (const ops::Autocast to = ops::Autocast::f32({&input, &target}); to)
        return l1_loss(to(input), to(target), reduction);
    check_same_shape("l1_loss", input, target);
    return reduced("l1_loss", abs(input - target), reduction);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Choice<Reduction> reduction, double beta)
{
    if (const ops::Autocast to = ops::Autocast::f32({&input, &target}); to)
        return smooth_l1_loss(to(input), to(target), reduction, beta);
    constexpr const char* op = "smooth_l1_loss";
    if (!(beta >= 0))
        detail::fail(ErrorKind::argument, op, "The bound (beta = ", beta, ") must be at least 0.");
    if (beta == 0) return l1_loss(input, target, reduction);
    check_same_shape(op, input, target);
    const Tensor d = abs(input - target);
    const Tensor small = masked_fill(d, d > beta, beta); // keeps the unused branch of where() finite
    return reduced(op, where(d < beta, square(small) * (0.5 / beta), d - 0.5 * beta), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Choice<Reduction> reduction, double delta)
{
    if (const ops::Autocast to = ops::Autocast::f32({&input, &target}); to)
        return huber_loss(to(input), to(target), reduction, delta);
    constexpr const char* op = "huber_loss";
    if (!(delta > 0))
        detail::fail(ErrorKind::argument, op, "The bound (delta = ", delta, ") must be above 0.");
    check_same_shape(op, input, target);
    const Tensor d = abs(input - target);
    const Tensor small = masked_fill(d, d > delta, delta);
    return reduced(op, where(d <= delta, square(small) * 0.5, (d - 0.5 * delta) * delta), reduction);
}

Tensor bce_loss(const Tensor& input, const Tensor& target, Choice<Reduction> reduction, const Tensor& weight)
{
    if (const ops::Autocast to = ops::Autocast::f32({&input, &target, &weight}); to)
        return bce_loss(to(input), to(target), reduction, to(weight));
    check_same_shape("bce_loss", input, target);
    return reduced("bce_loss", weighted(bce(input, target), weight), reduction);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            Choice<Reduction> reduction)
{
    return bce_loss(input, target, reduction, weight);
}
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const Tensor& weight,
                                        Choice<Reduction> reduction, const Tensor& pos_weight)
{
    return bce_with_logits_loss(logits, target, reduction, weight, pos_weight);
}

// Uses log(sigmoid(x)) = -(log(1 + exp(-|x|)) + max(-x, 0)), which does not overflow.
Tensor bce_with_logits_loss(const Tensor& logits, const Tensor& target, Choice<Reduction> reduction,
                            const Tensor& weight, const Tensor& pos_weight)
{
    if (const ops::Autocast to = ops::Autocast::f32({&logits, &target, &weight, &pos_weight}); to)
        return bce_with_logits_loss(to(logits), to(target), reduction, to(weight), to(pos_weight));
    constexpr const char* op = "bce_with_logits_loss";
    check_same_shape(op, logits, target);
    const Tensor losses = pos_weight.defined() ? (1.0 - target) * logits -
                                                     ((pos_weight - 1.0) * target + 1.0) * logsigmoid(logits)
                                               : bce_with_logits(logits, target);
    return reduced(op, weighted(losses, weight), reduction);
}

Tensor kl_div(const Tensor& input, const Tensor& target, Choice<Reduction> reduction, bool log_target)
{
    if (const ops::Autocast to = ops::Autocast::f32({&input, &target}); to)
        return kl_div(to(input), to(target), reduction, log_target);
    check_same_shape("kl_div", input, target);
    const auto entropy = [&] { // t log(t), and 0 for t = 0
        const Tensor none = target == 0.0;
        return where(none, ops::number_like(target, 0),
                     target * log(where(none, ops::number_like(target, 1), target)));
    };
    const Tensor losses = log_target ? exp(target) * (target - input) : entropy() - target * input;
    if (reduction != Reduction::batchmean) return reduced("kl_div", losses, reduction);
    if (input.dim() == 0) detail::fail(ErrorKind::shape, "kl_div", "The shape ([]) has no batch.");
    const Tensor total = sum(losses);
    return total / ops::size_like(total, input.shape()[0]);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim, double eps)
{
    if (const ops::Autocast to = ops::Autocast::f32({&a, &b}); to)
        return cosine_similarity(to(a), to(b), dim, eps);
    return sum(a * b, {dim}) / (clamp_min(norm(a, 2, {dim}), eps) * clamp_min(norm(b, 2, {dim}), eps));
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                             Choice<Reduction> reduction)
{
    if (const ops::Autocast to = ops::Autocast::f32({&a, &b, &target}); to)
        return cosine_embedding_loss(to(a), to(b), to(target), margin, reduction);
    constexpr const char* op = "cosine_embedding_loss";
    check_same_shape(op, a, b);
    if (a.dim() < 1 || target.dim() != a.dim() - 1)
        detail::fail(ErrorKind::shape, op, "The target's shape (", to_string(target.shape()),
                     ") is not the inputs' (", to_string(a.shape()), ") without the last dimension.");
    const double eps = 1e-12;
    const Tensor cosine =
        sum(a * b, {-1}) / sqrt((sum(square(a), {-1}) + eps) * (sum(square(b), {-1}) + eps));
    const Tensor zero = ops::number_like(cosine, 0);
    const Tensor losses =
        where(target == 1.0, 1.0 - cosine, zero) + where(target == -1.0, clamp_min(cosine - margin, 0), zero);
    return reduced(op, losses, reduction);
}

} // namespace reprise
