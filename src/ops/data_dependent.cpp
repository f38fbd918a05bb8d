// Ops whose result size depends on values that the host must read, and counts of values.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>

#include "ops/index_check.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

void check_not_recording(const char* op, const char* what)
{
    if (graph::current_tracer())
        detail::fail(ErrorKind::state, op, what,
                     " is not known while recording: call it outside of the program.");
}

std::vector<std::int32_t> nonzero_positions(const Tensor& mask)
{
    const std::vector<bool> is_set = mask.to_vector<bool>();
    std::vector<std::int32_t> positions;
    for (std::size_t i = 0; i < is_set.size(); ++i)
        if (is_set[i]) positions.push_back(static_cast<std::int32_t>(i));
    return positions;
}

Tensor vector_on(const Tensor& like, const std::vector<std::int32_t>& values)
{
    return from_vector(values, {static_cast<std::int64_t>(values.size())}, {.device = like.device()});
}

// Runs of equal neighbours in x [n]. `first` has the index of each run's first element, on the host.
struct Runs {
    Tensor begins; // bool [n]
    std::vector<std::int32_t> first;
    std::int64_t count; // n

    explicit Runs(const Tensor& x) : count(x.size(0).value())
    {
        const std::int64_t later = std::max<std::int64_t>(count - 1, 0);
        const Tensor changes = not_equal(narrow(x, 0, count - later, later), narrow(x, 0, 0, later));
        begins = count == 0 ? cast(x, boolean) : pad(changes, {1, 0}, 1);
        first = nonzero_positions(begins);
    }
    Tensor values(const Tensor& x) const
    {
        const ops::IndexChecksOff checks_off;
        return take(x, vector_on(x, first));
    }
    Tensor lengths(const Tensor& x) const // i32
    {
        std::vector<std::int32_t> out;
        for (std::size_t i = 0; i < first.size(); ++i)
            out.push_back((i + 1 < first.size() ? first[i + 1] : static_cast<std::int32_t>(count)) -
                          first[i]);
        return vector_on(x, out);
    }
    Tensor numbers() const
    {
        return cast(cumsum(begins, 0) - 1.0, i32);
    } // the index of each element's run, [n]
};

} // namespace

Tensor masked_select(const Tensor& x, const Tensor& mask)
{
    constexpr const char* op = "masked_select";
    if (mask.dtype() != boolean) ops::wrong_dtype(op, mask.dtype(), "a mask of dtype bool");
    if (graph::current_tracer())
        detail::fail(ErrorKind::state, op,
                     "How many elements a mask keeps is not known while recording: use "
                     "dynamic_mask(), or where(), which keep the shape.");
    const Shape both = shape::broadcast(op, x.shape(), mask.shape());
    const std::vector<std::int32_t> numbers = nonzero_positions(ops::expand_for(op, mask, both));
    const ops::IndexChecksOff checks_off;
    return take(ops::expand_for(op, x, both), vector_on(x, numbers));
}

Tensor argwhere(const Tensor& x) { return nonzero(x); }
Tensor nonzero(const Tensor& x)
{
    check_not_recording("nonzero", "How many elements are not 0");
    const Shape sizes = x.shape();
    const std::vector<std::int32_t> positions = nonzero_positions(cast(x.detach(), boolean));
    const std::size_t rank = sizes.size();
    std::vector<std::int32_t> out(positions.size() * rank);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        std::int64_t rest = positions[i];
        for (std::size_t d = rank; d-- > 0;) {
            out[i * rank + d] = static_cast<std::int32_t>(rest % sizes[d].value());
            rest /= sizes[d].value();
        }
    }
    return from_vector(out, {static_cast<std::int64_t>(positions.size()), static_cast<std::int64_t>(rank)},
                       {.device = x.device()});
}

std::vector<Tensor> nonzero_as_tuple(const Tensor& x)
{
    const Tensor positions = nonzero(x.dim() == 0 ? reshape(x, {1}) : x);
    return unbind(positions, 1);
}
std::vector<Tensor> where(const Tensor& condition) { return nonzero_as_tuple(condition); }

// The elements are ordered as by sort(), which puts NaN last.
std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& x, bool, bool return_inverse, bool return_counts)
{
    check_not_recording("unique", "How many elements differ");
    const ops::IndexChecksOff checks_off;
    const auto [sorted, order] = sort(reshape(x.detach(), {x.numel()}), 0);
    const Runs runs(sorted);
    Tensor inverse;
    if (return_inverse) inverse = reshape(scatter(zeros_like(order), 0, order, runs.numbers()), x.shape());
    return {runs.values(sorted), inverse, return_counts ? runs.lengths(x) : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& x, bool return_inverse,
                                                      bool return_counts)
{
    check_not_recording("unique_consecutive", "How many elements differ");
    const Tensor flat = reshape(x.detach(), {x.numel()});
    const Runs runs(flat);
    return {runs.values(flat), return_inverse ? reshape(runs.numbers(), x.shape()) : Tensor(),
            return_counts ? runs.lengths(x) : Tensor()};
}

Tensor bincount(const Tensor& x, const Tensor& weights, std::int64_t minlength)
{
    constexpr const char* op = "bincount";
    check_not_recording(op, "The largest number");
    if (!is_integer(x.dtype())) ops::wrong_dtype(op, x.dtype(), "an integer dtype");
    if (x.dim() != 1)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(x.shape()), ") is not a vector's.");
    if (minlength < 0)
        detail::fail(ErrorKind::argument, op, "The minlength (", minlength, ") must be at least 0.");
    if (weights.defined() && weights.shape() != x.shape())
        detail::fail(ErrorKind::shape, op, "The weights' shape (", to_string(weights.shape()),
                     ") is not the input's (", to_string(x.shape()), ").");
    std::int64_t length = minlength;
    if (!same(x.size(0), 0)) {
        const auto [lowest, highest] = aminmax(cast(x, i64));
        if (const std::int64_t low = lowest.item<std::int64_t>(); low < 0)
            detail::fail(ErrorKind::argument, op, "The number (", low, ") is negative: they count from 0.");
        length = std::max(length, highest.item<std::int64_t>() + 1);
    }
    const Tensor values =
        weights.defined() ? weights.detach() : ops::full_on(ops::evaluator_of(x), x.shape(), 1, i32);
    const Tensor none = ops::full_on(ops::evaluator_of(x), {length}, 0, values.dtype());
    const ops::IndexChecksOff checks_off;
    return scatter_add(none, 0, cast(x, i32), values);
}

Tensor histc(const Tensor& given, std::int64_t bins, double min, double max)
{
    constexpr const char* op = "histc";
    ops::require_floating(op, given.dtype());
    if (bins < 1)
        detail::fail(ErrorKind::argument, op, "The number of bins (", bins, ") must be at least 1.");
    if (!(min <= max))
        detail::fail(ErrorKind::argument, op, "The least (", min, ") must be at most the largest (", max,
                     ").");
    const ops::IndexChecksOff checks_off; // elements outside get the index -1 and are not counted
    const Tensor x = reshape(cast(given.detach(), given.dtype() == f64 ? f64 : f32), {given.numel()});
    const Tensor counts = ops::full_on(ops::evaluator_of(x), {bins}, 0, f32);
    if (same(given.numel(), 0)) return counts;
    Tensor low = ops::number_like(x, min), high = ops::number_like(x, max);
    if (min == max) {
        if (min == 0) std::tie(low, high) = aminmax(x);
        const Tensor flat = eq(low, high); // then all elements are in the middle
        low = where(flat, low - 1.0, low);
        high = where(flat, high + 1.0, high);
    }
    const Tensor inside = logical_and(x >= low, x <= high);
    const Tensor bin = floor((x - low) / (high - low) * static_cast<double>(bins));
    const Tensor number = minimum(bin, static_cast<double>(bins - 1)); // the last bin includes its upper end
    const Tensor index = cast(where(inside, number, -1.0), i32);
    return scatter_add(counts, 0, index, ops::full_on(ops::evaluator_of(x), x.shape(), 1, f32));
}

Tensor repeat_interleave(const Tensor& given, const Tensor& repeats, std::optional<std::int64_t> dim)
{
    constexpr const char* op = "repeat_interleave";
    check_not_recording(op, "How many elements there are");
    if (!is_integer(repeats.dtype()))
        ops::wrong_dtype(op, repeats.dtype(), "repetitions of an integer dtype");
    const Tensor x = dim ? given : reshape(given, {given.numel()});
    const auto d = static_cast<std::int64_t>(shape::normalize_dim(op, dim.value_or(0), x.shape().size()));
    const auto size = static_cast<std::size_t>(x.size(d).value());
    std::vector<std::int64_t> times = cast(repeats, i64).to_vector<std::int64_t>();
    if (repeats.dim() > 1 || (times.size() != 1 && times.size() != size))
        detail::fail(ErrorKind::shape, op, "The repetitions' shape (", to_string(repeats.shape()),
                     ") is not [", size, "], one number for each element.");
    times.resize(size, times.empty() ? 0 : times[0]);
    std::vector<std::int32_t> index;
    for (std::size_t i = 0; i < size; ++i) {
        if (times[i] < 0)
            detail::fail(ErrorKind::argument, op, "The number of repetitions (", times[i], ") is negative.");
        index.insert(index.end(), static_cast<std::size_t>(times[i]), static_cast<std::int32_t>(i));
    }
    const ops::IndexChecksOff checks_off;
    return index_select(x, d, vector_on(x, index));
}

// Slices are compared as rows of numbers on the host.
std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& x, std::int64_t dim, bool, bool return_inverse,
                                              bool return_counts)
{
    constexpr const char* op = "unique_dim";
    check_not_recording(op, "How many slices differ");
    const auto d = static_cast<std::int64_t>(shape::normalize_dim(op, dim, x.shape().size()));
    const auto count = static_cast<std::size_t>(x.size(d).value());
    const Tensor rows = reshape(movedim(x.detach(), d, 0), {x.size(d), -1});
    const auto sorted = [&](const auto& values) {
        const std::size_t width = count == 0 ? 0 : values.size() / count;
        const auto row = [&](std::int32_t i) {
            return std::span(values).subspan(static_cast<std::size_t>(i) * width, width);
        };
        std::vector<std::int32_t> order(count), first, inverse(count), lengths;
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            const auto left = row(a), right = row(b);
            return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
        });
        for (const std::int32_t i : order) {
            const auto mine = row(i);
            if (first.empty() || !std::equal(mine.begin(), mine.end(), row(first.back()).begin())) {
                first.push_back(i);
                lengths.push_back(0);
            }
            ++lengths.back();
            inverse[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(first.size()) - 1;
        }
        const ops::IndexChecksOff checks_off;
        return std::tuple{index_select(x.detach(), d, vector_on(x, first)),
                          return_inverse ? vector_on(x, inverse) : Tensor(),
                          return_counts ? vector_on(x, lengths) : Tensor()};
    };
    return is_floating(x.dtype()) ? sorted(cast(rows.cpu(), f64).to_vector<double>())
                                  : sorted(cast(rows, i64).to_vector<std::int64_t>());
}

} // namespace reprise
