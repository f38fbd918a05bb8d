// Losses, made of other ops.
#include <numeric>
#include <string>

#include <reprise/ops.hpp>

#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

Tensor reduced(const Tensor& losses, Reduction reduction)
{
    if (reduction == Reduction::mean) return mean(losses);
    return reduction == Reduction::sum ? sum(losses) : losses;
}

// [N, C, ...] with a target [N, ...].
void check_classes(const char* op, const Tensor& x, const Tensor& target)
{
    const Shape &sizes = x.shape(), &given = target.shape();
    const auto sentence = [&] {
        return "The target's shape (" + to_string(given) + ") is not the input's (" + to_string(sizes) +
               ") without its second dimension, the classes.";
    };
    if (sizes.size() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes),
                     ") has no classes: give [N, C] or [N, C, ...].");
    if (given.size() + 1 != sizes.size()) detail::fail(ErrorKind::shape, op, sentence());
    for (std::size_t i = 0; i < given.size(); ++i)
        shape::require_equal(op, given[i], sizes[i == 0 ? 0 : i + 1], sentence);
    ops::require_floating(op, x.dtype());
    if (target.dtype() != i32)
        detail::fail(ErrorKind::dtype, op, "The target's dtype is (", name_of(target.dtype()),
                     "), class numbers are (i32): cast it with to(i32).");
}

// [N, C, ...] -> [N, ..., C]
Tensor with_classes_last(const Tensor& x)
{
    std::vector<std::int64_t> dims(x.shape().size());
    std::iota(dims.begin(), dims.end(), 0);
    dims.erase(dims.begin() + 1);
    dims.push_back(1);
    return dims.size() == 2 ? x : permute(x, dims);
}

Tensor nll_of_last(const Tensor& log_probabilities, const Tensor& target, Reduction reduction)
{
    const Dim rows = target.numel();
    const Tensor losses =
        graph::apply1(ops::nll_op, {reshape(log_probabilities, {rows, log_probabilities.shape().back()}),
                                    reshape(target, {rows})});
    return reduced(reduction == Reduction::none ? reshape(losses, target.shape()) : losses, reduction);
}

} // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Reduction reduction)
{
    check_classes("nll_loss", log_probabilities, target);
    return nll_of_last(with_classes_last(log_probabilities), target, reduction);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, Reduction reduction)
{
    check_classes("cross_entropy", logits, target);
    return nll_of_last(log_softmax(with_classes_last(logits), -1), target, reduction);
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction)
{
    const Shape &a = input.shape(), &b = target.shape();
    const auto sentence = [&] {
        return "The shapes (" + to_string(a) + " and " + to_string(b) +
               ") differ: reshape or expand one, as broadcasting here is nearly always a mistake.";
    };
    if (a.size() != b.size()) detail::fail(ErrorKind::shape, "mse_loss", sentence());
    for (std::size_t i = 0; i < a.size(); ++i) shape::require_equal("mse_loss", a[i], b[i], sentence);
    return reduced(square(input - target), reduction);
}

} // namespace reprise
