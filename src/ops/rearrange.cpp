// Shapes and orders that are made of views, cat and pad.
#include <algorithm>
#include <numeric>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

std::int64_t whole(std::size_t d) { return static_cast<std::int64_t>(d); }

} // namespace

Tensor view(const Tensor& x, const Shape& sizes) { return reshape(x, sizes); }
Tensor expand_dims(const Tensor& x, std::int64_t dim) { return unsqueeze(x, dim); }
Tensor swapaxes(const Tensor& x, std::int64_t a, std::int64_t b) { return transpose(x, a, b); }

Tensor movedim(const Tensor& x, std::int64_t from, std::int64_t to)
{
    const std::size_t rank = x.shape().size();
    const std::size_t a = shape::normalize_dim("movedim", from, rank),
                      b = shape::normalize_dim("movedim", to, rank);
    std::vector<std::int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + whole(a));
    order.insert(order.begin() + whole(b), whole(a));
    return permute(x, order);
}

Tensor select(const Tensor& x, std::int64_t dim, const Dim& index)
{
    const std::size_t d = shape::normalize_dim("select", dim, x.shape().size());
    const Dim size = x.shape()[d];
    const Dim at = index.is_constant() && index.value() < 0 ? size + index : index;
    const auto sentence = [&] {
        return "The index (" + index.text() + ") is not inside dimension (" + std::to_string(d) +
               ") of the shape (" + to_string(x.shape()) + ").";
    };
    shape::require_at_least("select", at, 0, sentence);
    shape::require_at_least("select", size - 1, at, sentence);
    return squeeze(narrow(x, whole(d), at, 1), whole(d));
}

// Steps as a dimension of their own, of which one is taken; where the size is no multiple, zeros make it one.
Tensor slice(const Tensor& x, std::int64_t dim, const SliceRange& range)
{
    constexpr const char* op = "slice";
    if (range.step < 1)
        detail::fail(ErrorKind::argument, op, "The step (", range.step,
                     ") must be at least 1: flip() turns around.");
    const std::size_t d = shape::normalize_dim(op, dim, x.shape().size());
    const Dim size = x.shape()[d];
    const auto inside = [&](const Dim& at) {
        return max(min(at.is_constant() && at.value() < 0 ? size + at : at, size), 0);
    };
    const Dim start = inside(range.start), end = range.end ? inside(*range.end) : size;
    const Dim length = max(end - start, 0);
    Tensor part = narrow(x, whole(d), start, length);
    if (range.step == 1) return part;
    const Dim count = ceil_div(length, range.step);
    std::vector<Dim> amounts(2 * (x.shape().size() - d), 0);
    amounts.back() = count * range.step - length;
    if (amounts.back() != Dim(0)) part = pad(part, amounts);
    Shape steps = x.shape();
    steps[d] = count;
    steps.insert(steps.begin() + whole(d) + 1, range.step);
    return select(reshape(part, steps), whole(d) + 1, 0);
}

Tensor repeat(const Tensor& x, const std::vector<Dim>& times)
{
    const Shape& sizes = x.shape();
    if (times.size() < sizes.size())
        detail::fail(ErrorKind::argument, "repeat", "There are (", times.size(),
                     ") repetitions for the shape (", to_string(sizes),
                     "): give one for each dimension, or more for new ones in front.");
    const std::size_t added = times.size() - sizes.size();
    Shape split, wide, out;
    for (std::size_t d = 0; d < times.size(); ++d) {
        shape::require_at_least("repeat", times[d], 0, [&] {
            return "The number of repetitions (" + times[d].text() + ") is negative.";
        });
        const Dim size = d < added ? Dim(1) : sizes[d - added];
        split.insert(split.end(), {1, size});
        wide.insert(wide.end(), {times[d], size});
        out.push_back(times[d] * size);
    }
    return reshape(expand(reshape(x, split), wide), out);
}

Tensor repeat_interleave(const Tensor& x, std::int64_t times, std::int64_t dim)
{
    if (times < 0)
        detail::fail(ErrorKind::argument, "repeat_interleave", "The number of repetitions (", times,
                     ") is negative.");
    const std::size_t d = shape::normalize_dim("repeat_interleave", dim, x.shape().size());
    Shape wide = x.shape(), out = x.shape();
    wide.insert(wide.begin() + whole(d) + 1, times);
    out[d] = out[d] * times;
    return reshape(expand(unsqueeze(x, whole(d) + 1), wide), out);
}

Tensor roll(const Tensor& x, std::int64_t shift, std::int64_t dim)
{
    const std::size_t d = shape::normalize_dim("roll", dim, x.shape().size());
    const Dim size = x.shape()[d], divisor = max(size, 1);
    const Dim turned = Dim(shift) - floor_div(Dim(shift), divisor) * divisor; // 0 to size - 1
    const Dim kept = size - min(turned, size);
    return cat({narrow(x, whole(d), kept, size - kept), narrow(x, whole(d), 0, kept)}, whole(d));
}

} // namespace reprise
