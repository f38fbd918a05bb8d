// Ops that change the shape or the order of elements, composed of views, cat and pad.
#include <algorithm>
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
Tensor view_as(const Tensor& x, const Tensor& other) { return reshape(x, other.shape()); }
Tensor reshape_as(const Tensor& x, const Tensor& other) { return reshape(x, other.shape()); }
Tensor expand_as(const Tensor& x, const Tensor& other) { return expand(x, other.shape()); }
Tensor ravel(const Tensor& x) { return flatten(x); }
Tensor expand_dims(const Tensor& x, std::int64_t dim) { return unsqueeze(x, dim); }
Tensor swapaxes(const Tensor& x, std::int64_t a, std::int64_t b) { return transpose(x, a, b); }

Tensor movedim(const Tensor& x, std::int64_t from, std::int64_t to)
{
    return movedim(x, Dims{from}, Dims{to});
}

Tensor movedim(const Tensor& x, const Dims& from, const Dims& to)
{
    constexpr const char* op = "movedim";
    if (from.size() != to.size())
        detail::fail(ErrorKind::argument, op, "There are (", from.size(), ") dimensions to move to (",
                     to.size(), ") places.");
    const std::size_t rank = x.shape().size();
    const std::vector<std::size_t> a = shape::normalize_dims(op, from, std::max<std::size_t>(rank, 1)),
                                   b = shape::normalize_dims(op, to, std::max<std::size_t>(rank, 1));
    if (rank == 0) return x;
    std::vector<std::int64_t> order(rank, -1), rest;
    for (std::size_t i = 0; i < a.size(); ++i) order[b[i]] = whole(a[i]);
    for (std::size_t d = 0; d < rank; ++d)
        if (std::find(a.begin(), a.end(), d) == a.end()) rest.push_back(whole(d));
    auto next = rest.begin();
    for (std::int64_t& d : order)
        if (d < 0) d = *next++;
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
    const Tensor part = squeeze(narrow(x, whole(d), at, 1), whole(d));
    ops::link_range(part, x, whole(d), at, 1);
    return part;
}

Tensor slice(const Tensor& x, std::int64_t dim, const std::optional<Dim>& start,
             const std::optional<Dim>& end, std::int64_t step)
{
    return slice(x, dim, {start.value_or(Dim(0)), end, step});
}

// Splits the dimension into [count, step] and selects the first element of each step.  If the length is no multiple of
// the step, the dimension is padded with zeros.
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
    DimVector amounts(2 * (x.shape().size() - d), 0);
    amounts.back() = count * range.step - length;
    if (!same(amounts.back(), 0)) part = pad(part, amounts);
    Shape steps = x.shape();
    steps[d] = count;
    steps.insert(steps.begin() + whole(d) + 1, range.step);
    const Tensor strided = select(reshape(part, steps), whole(d) + 1, 0);
    graph::ViewLink& link = graph::link_view(strided, x);
    link.gather = [d, range](const Tensor& base) { return slice(base, whole(d), range); };
    link.scatter = [d, range](const Tensor& base, const Tensor& value) {
        std::vector<TensorIndex> indices(d, Slice());
        indices.emplace_back(Slice(range.start, range.end, range.step));
        return base.index_put(indices, value);
    };
    return strided;
}

Tensor repeat(const Tensor& x, const DimVector& times)
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
    return ops::copied(reshape(expand(reshape(x, split), wide), out));
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
    return ops::copied(reshape(expand(unsqueeze(x, whole(d) + 1), wide), out));
}

Tensor repeat_interleave(const Tensor& x, std::int64_t times)
{
    return repeat_interleave(reshape(x, {x.numel()}), times, 0);
}

Tensor roll(const Tensor& x, std::int64_t shift, std::int64_t dim)
{
    const std::size_t d = shape::normalize_dim("roll", dim, x.shape().size());
    const Dim size = x.shape()[d], divisor = max(size, 1);
    const Dim turned = Dim(shift) - floor_div(Dim(shift), divisor) * divisor; // 0 to size - 1
    const Dim middle = size - min(turned, size);
    return cat({narrow(x, whole(d), middle, size - middle), narrow(x, whole(d), 0, middle)}, whole(d));
}

Tensor roll(const Tensor& x, const std::vector<std::int64_t>& shifts, const Dims& dims)
{
    if (shifts.size() != dims.size())
        detail::fail(ErrorKind::argument, "roll", "There are (", shifts.size(), ") shifts for (", dims.size(),
                     ") dimensions: give one for each.");
    Tensor y = x;
    for (std::size_t i = 0; i < dims.size(); ++i) y = roll(y, shifts[i], dims[i]);
    return y;
}
Tensor roll(const Tensor& x, std::int64_t shift)
{
    return reshape(roll(reshape(x, {x.numel()}), shift, 0), x.shape());
}

Tensor tile(const Tensor& x, const DimVector& times)
{
    DimVector all = times;
    const std::size_t rank = x.shape().size();
    if (all.size() < rank) all.insert(all.begin(), rank - all.size(), Dim(1));
    for (const Dim& t : all)
        shape::require_at_least("tile", t, 0,
                                [&] { return "The number of repetitions (" + t.text() + ") is negative."; });
    return repeat(x, all);
}

Tensor unflatten(const Tensor& x, std::int64_t dim, const Shape& parts)
{
    constexpr const char* op = "unflatten";
    const std::size_t d = shape::normalize_dim(op, dim, x.shape().size());
    if (parts.empty())
        detail::fail(ErrorKind::argument, op, "There are no sizes to make of dimension (", d, ").");
    const Shape split = shape::reshape(op, {x.shape()[d]}, parts);
    Shape to = x.shape();
    to.erase(to.begin() + whole(d));
    to.insert(to.begin() + whole(d), split.begin(), split.end());
    return reshape(x, to);
}

Tensor contiguous(const Tensor& x) { return graph::in_order(x) ? x : graph::apply1(ops::contiguous_op, {x}); }

std::vector<Tensor> meshgrid(const std::vector<Tensor>& lines, Choice<MeshIndexing> indexing)
{
    constexpr const char* op = "meshgrid";
    if (lines.empty()) detail::fail(ErrorKind::argument, op, "There are no tensors to make a grid of.");
    Shape grid;
    for (const Tensor& t : lines) {
        if (t.dim() > 1)
            detail::fail(ErrorKind::shape, op, "The shape (", to_string(t.shape()), ") is not a vector's.");
        if (t.dtype() != lines[0].dtype())
            detail::fail(ErrorKind::dtype, op, "The dtypes (", name_of(lines[0].dtype()), " and ",
                         name_of(t.dtype()), ") differ: cast one of the tensors.");
        grid.push_back(t.numel());
    }
    const bool swapped = indexing == MeshIndexing::xy && lines.size() > 1;
    if (swapped) std::swap(grid[0], grid[1]);
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        Shape line(lines.size(), 1);
        line[swapped && i < 2 ? 1 - i : i] = lines[i].numel();
        out.push_back(expand(reshape(lines[i], line), grid));
    }
    return out;
}

namespace {
// Adds dimensions of size 1 up to `rank`, at most 3: in front of vectors, after the dimensions of matrices.
std::vector<Tensor> raised(const std::vector<Tensor>& parts, std::int64_t rank)
{
    std::vector<Tensor> out = parts;
    for (Tensor& t : out) {
        if (t.dim() == 0) t = unsqueeze(t, 0);
        if (t.dim() == 1 && rank > 1) t = unsqueeze(t, 0);
        if (t.dim() == 2 && rank > 2) t = unsqueeze(t, 2);
    }
    return out;
}
} // namespace

Tensor hstack(const std::vector<Tensor>& parts)
{
    const std::vector<Tensor> raised_parts = raised(parts, 1);
    return cat(raised_parts, !parts.empty() && raised_parts[0].dim() > 1 ? 1 : 0);
}
Tensor vstack(const std::vector<Tensor>& parts) { return cat(raised(parts, 2), 0); }
Tensor dstack(const std::vector<Tensor>& parts) { return cat(raised(parts, 3), 2); }
Tensor column_stack(const std::vector<Tensor>& parts)
{
    std::vector<Tensor> columns;
    for (const Tensor& t : parts) columns.push_back(t.dim() < 2 ? reprise::reshape(t, {-1, 1}) : t);
    return cat(columns, 1);
}
Tensor concat(const std::vector<Tensor>& parts, std::int64_t dim) { return cat(parts, dim); }

} // namespace reprise
