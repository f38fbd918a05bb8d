#include "shape/rules.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include <reprise/error.hpp>

#include "shape/expression.hpp"
#include "shape/guard.hpp"

namespace reprise::shape {

namespace {

// "([2, 3] and [4])"
std::string both(const Shape& a, const Shape& b) { return "(" + to_string(a) + " and " + to_string(b) + ")"; }

// Explains in the error of a guard why sizes do not fit although one of them is 1 at this call.
std::string of_symbols(const Dim& a, const Dim& b)
{
    if (a.is_constant() && b.is_constant()) return {};
    return " A size that was recorded as a symbol is never repeated, not even where it is 1: record the "
           "function with "
           "the constant 1 for that.";
}

// Broadcasts one dimension.  If a guard makes two sizes equal, the constant one is returned.
template <class Describe>
Dim broadcast_size(const char* op, const Dim& a, const Dim& b, const Describe& describe)
{
    if (same(a, 1)) return b;
    if (same(b, 1)) return a;
    require_equal(op, a, b, describe);
    return b.is_constant() ? b : a;
}

void check_attribute(const char* op, const char* name, const Dim& value, std::int64_t min_value)
{
    const auto describe = [&] {
        return std::string("The ") + name + " (" + value.text() + ") must be at least (" +
               std::to_string(min_value) + "): use a larger one.";
    };
    if (value.is_constant() && value.value() < min_value) detail::fail(ErrorKind::argument, op, describe());
    require_at_least(op, value, min_value, describe);
}

// Kernels compute positions in 32 bits, including the sum of two of these values.
void check_fits(const char* op, const char* name, const Dim& value)
{
    constexpr std::int64_t end = std::int64_t{1} << 30;
    if (value.is_constant() && value.value() >= end)
        detail::fail(ErrorKind::argument, op, "The ", name, " (", value, ") must be below (", end,
                     "): use a smaller one.");
}

void check_window(const char* op, const Window& w)
{
    check_fits(op, "kernel size", w.kernel);
    check_fits(op, "stride", w.stride);
    check_fits(op, "padding", w.padding);
    check_fits(op, "dilation", w.dilation);
    check_attribute(op, "kernel size", w.kernel, 1);
    check_attribute(op, "stride", w.stride, 1);
    check_attribute(op, "padding", w.padding, 0);
    check_attribute(op, "dilation", w.dilation, 1);
}

} // namespace

Dim element_count(const Shape& sizes)
{
    Dim count = 1;
    for (const Dim& size : sizes)
        if (same(size, 0)) return 0; // the product of the others could overflow
    for (const Dim& size : sizes) count *= size;
    return count;
}

Strides contiguous_strides(const Shape& sizes)
{
    Strides strides(sizes.size());
    Dim stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        strides[i] = stride;
        if (i > 0 && !same(sizes[i], 0)) stride *= sizes[i];
    }
    return strides;
}

Shape broadcast(const char* op, const Shape& a, const Shape& b)
{
    const Shape& longer = a.size() < b.size() ? b : a;
    const Shape& shorter = a.size() < b.size() ? a : b;
    const std::size_t lead = longer.size() - shorter.size();
    Shape result = longer;
    for (std::size_t i = lead; i < longer.size(); ++i) {
        const Dim &x = longer[i], &y = shorter[i - lead];
        result[i] = broadcast_size(op, x, y, [&] {
            return "The shapes " + both(a, b) + " do not broadcast: the sizes (" + x.text() + " and " +
                   y.text() + ") of dimension (" + std::to_string(i) + ") must be equal, or one of them 1." +
                   of_symbols(x, y);
        });
    }
    return result;
}

Shape broadcast(const char* op, std::span<const Shape> shapes)
{
    Shape result;
    for (const Shape& sizes : shapes) result = broadcast(op, result, sizes);
    return result;
}

void require_broadcastable(const char* op, const Shape& from, const Shape& to)
{
    const auto sentence = [&] {
        return "The shape (" + to_string(from) + ") does not broadcast to (" + to_string(to) +
               "): its last sizes must be equal to the wanted ones, or 1.";
    };
    if (from.size() > to.size()) detail::fail(ErrorKind::shape, op, sentence());
    for (std::size_t i = 1; i <= from.size(); ++i) {
        const Dim &x = from[from.size() - i], &y = to[to.size() - i];
        if (!same(x, 1)) require_equal(op, x, y, [&] { return sentence() + of_symbols(x, y); });
    }
}

std::vector<std::size_t> broadcast_dims(const Shape& from, const Shape& to)
{
    const std::size_t lead = to.size() - from.size();
    std::vector<std::size_t> dims;
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (i < lead || (same(from[i - lead], 1) && !same(to[i], 1))) dims.push_back(i);
    }
    return dims;
}

std::size_t normalize_dim(const char* op, std::int64_t dim, std::size_t rank)
{
    const auto count = static_cast<std::int64_t>(rank);
    if (dim >= -count && dim < count) return static_cast<std::size_t>(dim < 0 ? dim + count : dim);
    if (rank == 0) {
        detail::fail(ErrorKind::argument, op, "A tensor without dimensions has no dimension (", dim,
                     "): unsqueeze it first.");
    }
    detail::fail(ErrorKind::argument, op, "There is no dimension (", dim, "): use one from (", -count,
                 ") to (", count - 1, ").");
}

std::vector<std::size_t> normalize_dims(const char* op, std::span<const std::int64_t> dims, std::size_t rank)
{
    std::vector<std::size_t> result;
    result.reserve(dims.size());
    for (const std::int64_t dim : dims) {
        const std::size_t normal = normalize_dim(op, dim, rank);
        if (std::find(result.begin(), result.end(), normal) != result.end()) {
            detail::fail(ErrorKind::argument, op, "Dimension (", dim, ") is given twice: give each once.");
        }
        result.push_back(normal);
    }
    return result;
}

Shape reduce(const char* op, const Shape& sizes, std::span<const std::int64_t> dims, bool keepdim)
{
    std::vector<bool> reduced(sizes.size(), dims.empty());
    for (const std::size_t dim : normalize_dims(op, dims, sizes.size())) reduced[dim] = true;
    Shape result;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (!reduced[i]) result.push_back(sizes[i]);
        else if (keepdim) result.push_back(1);
    }
    return result;
}

Shape squeeze(const Shape& sizes)
{
    Shape result;
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(result),
                 [](const Dim& size) { return !same(size, 1); });
    return result;
}

Shape squeeze(const char* op, const Shape& sizes, std::span<const std::int64_t> dims)
{
    const std::vector<std::size_t> chosen = normalize_dims(op, dims, sizes.size());
    Shape result;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bool squeezed = same(sizes[i], 1) && std::find(chosen.begin(), chosen.end(), i) != chosen.end();
        if (!squeezed) result.push_back(sizes[i]);
    }
    return result;
}

Shape unsqueeze(const char* op, const Shape& sizes, std::int64_t dim)
{
    Shape result = sizes;
    const std::size_t position = normalize_dim(op, dim, sizes.size() + 1);
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(position), 1);
    return result;
}

Shape flatten(const char* op, const Shape& sizes, std::int64_t start_dim, std::int64_t end_dim)
{
    const Shape ranked = sizes.empty() ? Shape{1} : sizes;
    const std::size_t start = normalize_dim(op, start_dim, ranked.size());
    const std::size_t end = normalize_dim(op, end_dim, ranked.size());
    if (start > end) {
        detail::fail(ErrorKind::argument, op, "The first dimension (", start_dim, ") comes after the last (",
                     end_dim, ") in the shape (", to_string(sizes), "): swap them.");
    }
    const auto first = ranked.begin() + static_cast<std::ptrdiff_t>(start);
    const auto last = ranked.begin() + static_cast<std::ptrdiff_t>(end) + 1;
    Shape result(ranked.begin(), first);
    result.push_back(element_count(Shape(first, last)));
    result.insert(result.end(), last, ranked.end());
    return result;
}

Shape reshape(const char* op, const Shape& from, const Shape& to)
{
    const auto describe = [&] {
        return "The shape (" + to_string(from) + ") can't become (" + to_string(to) +
               "): both must have the same number of elements.";
    };
    Shape result = to;
    std::optional<std::size_t> inferred;
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (same(to[i], -1)) {
            if (inferred) {
                detail::fail(ErrorKind::argument, op, "The shape (", to_string(to),
                             ") has several sizes of (-1): leave at most one to be inferred.");
            }
            inferred = i;
            result[i] = 1;
        } else if (to[i].is_constant() && to[i].value() < 0) {
            detail::fail(ErrorKind::argument, op, "The shape (", to_string(to), ") has a negative size (",
                         to[i], "): only (-1) is allowed, for the size to be inferred.");
        }
    }
    const Dim total = element_count(from), others = element_count(result);
    if (!inferred) {
        require_equal(op, total, others, describe);
        return result;
    }
    if (same(others, 0)) {
        detail::fail(ErrorKind::argument, op, "The size (-1) in (", to_string(to),
                     ") can't be inferred beside a size of (0): give it.");
    }
    if (const auto quotient = divide_exactly(total, others)) {
        result[*inferred] = *quotient;
    } else {
        require_multiple(op, total, others, describe);
        result[*inferred] = floor_div(total, others);
    }
    return result;
}

Shape matmul(const char* op, const Shape& a, const Shape& b)
{
    if (a.empty() || b.empty()) {
        detail::fail(ErrorKind::shape, op, "The shapes ", both(a, b),
                     " hold a scalar: use mul, or unsqueeze it.");
    }
    const bool row = a.size() == 1, column = b.size() == 1;
    const Dim &inner_a = a.back(), &inner_b = column ? b[0] : b[b.size() - 2];
    require_equal(op, inner_a, inner_b, [&] {
        return "The inner sizes (" + inner_a.text() + " and " + inner_b.text() + ") of the shapes " +
               both(a, b) + " differ: the last size of the first must equal the last but one of the second.";
    });
    const auto batch = [](const Shape& sizes) {
        return Shape(sizes.begin(),
                     sizes.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(sizes.size(), 2)));
    };
    Shape result = broadcast(op, batch(a), batch(b));
    if (!row) result.push_back(a[a.size() - 2]);
    if (!column) result.push_back(b.back());
    return result;
}

Dim window_output(const char* op, const Dim& x, const Window& w)
{
    check_window(op, w);
    const Dim padded = x + w.padding * 2, reach = w.dilation * (w.kernel - 1) + 1;
    require_at_least(op, w.ceil_mode ? padded + w.stride - 1 : padded, reach, [&] {
        return "A window of kernel size (" + w.kernel.text() + ") with dilation (" + w.dilation.text() +
               ") does not fit into the size (" + x.text() + ") with padding (" + w.padding.text() +
               "): use a larger input or a smaller kernel.";
    });
    if (!w.ceil_mode) return floor_div(padded - reach, w.stride) + 1;
    return min(ceil_div(padded - reach, w.stride), floor_div(x + w.padding - 1, w.stride)) + 1;
}

Dim transposed_window_output(const char* op, const Dim& x, const Window& w, const Dim& output_padding)
{
    check_window(op, w);
    check_attribute(op, "output padding", output_padding, 0);
    const Dim size = (x - 1) * w.stride - w.padding * 2 + w.dilation * (w.kernel - 1) + output_padding + 1;
    require_at_least(op, size, 0, [&] {
        return "The output of size (" + size.text() + ") is negative for the input size (" + x.text() +
               "): use a larger input or less padding.";
    });
    return size;
}

Collapsed collapse(const Shape& sizes, std::span<const Strides> strides)
{
    Collapsed result{{}, std::vector<Strides>(strides.size())};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (same(sizes[i], 1)) continue;
        bool merges = !result.sizes.empty();
        for (std::size_t k = 0; k < strides.size() && merges; ++k) {
            merges = same(result.strides[k].back(), sizes[i] * strides[k][i]);
        }
        if (merges) {
            result.sizes.back() *= sizes[i];
        } else {
            result.sizes.push_back(sizes[i]);
        }
        for (std::size_t k = 0; k < strides.size(); ++k) {
            if (merges) result.strides[k].back() = strides[k][i];
            else result.strides[k].push_back(strides[k][i]);
        }
    }
    return result;
}

} // namespace reprise::shape

namespace reprise {

Shape broadcast_shapes(const Shape& a, const Shape& b) { return shape::broadcast("broadcast_shapes", a, b); }

} // namespace reprise
