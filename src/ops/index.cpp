// index and index_put: parts of a tensor selected by numbers, slices, index tensors and masks.
#include <algorithm>
#include <limits>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/tensor.hpp>

#include "ops/index_check.hpp"
#include "ops/indices.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

using Indices = std::vector<TensorIndex>;
using Integers = std::vector<std::int64_t>;

// An index tensor along a dimension.
struct Lookup {
    std::int64_t dim;
    Tensor index; // i32
};

// The effect of one index, other than a tensor, on one dimension.
struct ViewStep {
    enum class Kind { select, range, strided, added } kind;
    Tensor before;
    std::int64_t dim;
    Dim start = 0, length = 1; // of select and range
    std::int64_t step = 1;
};

// The view that results from all indices but tensors, and the index tensors to look up in it.
struct Parts {
    Tensor view;
    std::vector<ViewStep> steps{};
    std::vector<Lookup> lookups{};
};

[[noreturn]] void fail_number(const Dim& at, std::int64_t dim, const Dim& size)
{
    detail::fail(ErrorKind::argument, "index", "The index (", at, ") is out of range for dimension (", dim,
                 ") of the size (", size, "): it must be from ", -size, " to ", size - 1, ".");
}

// Casts to i32 with saturation: the limits of i32 are out of range of every tensor.
Tensor saturated(const Tensor& index)
{
    using Limits = std::numeric_limits<std::int32_t>;
    return index.dtype() == i32 ? index : cast(clamp(index, Limits::min(), Limits::max()), i32);
}

// Returns how many dimensions of the tensor an index consumes.
std::int64_t named(const TensorIndex& index)
{
    if (const Tensor* t = std::get_if<Tensor>(&index.kind())) return t->dtype() == boolean ? t->dim() : 1;
    return std::holds_alternative<Dim>(index.kind()) || std::holds_alternative<Slice>(index.kind()) ? 1 : 0;
}

class Reader {
public:
    // `op` is the function to which the indices were passed.
    Reader(const char* op, const Tensor& x, const Indices& indices) : op_(op), parts_{x}
    {
        std::int64_t all = 0, ellipses = 0;
        for (const TensorIndex& i : indices) {
            all += named(i);
            ellipses += std::holds_alternative<indexing::EllipsisType>(i.kind());
        }
        if (all > x.dim() || ellipses > 1)
            detail::fail(ErrorKind::argument, "index", "There are indices for (", all, ") dimensions, and (",
                         ellipses, ") ellipses, for the shape (", to_string(x.shape()),
                         "): give at most one for each dimension, and one ellipsis.");
        left_ = x.dim() - all;
        for (const TensorIndex& i : indices) std::visit([&](const auto& kind) { add(kind); }, i.kind());
    }
    Parts take() { return std::move(parts_); }

private:
    Tensor& view() { return parts_.view; }
    void add(std::nullopt_t)
    {
        parts_.steps.push_back({ViewStep::Kind::added, view(), dim_});
        view() = unsqueeze(view(), dim_++);
    }
    void add(const indexing::EllipsisType&)
    {
        dim_ += left_;
        original_ += left_;
    }
    void add(bool taken)
    {
        add(None);
        if (taken) return;
        --dim_;
        add(Slice(0, 0));
        --original_;
    }
    void add(const Dim& number)
    {
        const Dim size = view().size(dim_);
        if (number.is_constant() && size.is_constant() &&
            (number.value() < -size.value() || number.value() >= size.value()))
            fail_number(number, original_, size);
        const Dim at = number.is_constant() && number.value() < 0 ? size + number : number;
        parts_.steps.push_back({ViewStep::Kind::select, view(), dim_, at});
        view() = select(view(), dim_, at);
        ++original_;
    }
    void add(const Slice& s)
    {
        if (s.start || s.stop || s.step != 1) {
            const Tensor before = view();
            const Dim size = before.size(dim_);
            view() = slice(before, dim_, {s.start.value_or(Dim(0)), s.stop, s.step});
            const Dim given = s.start.value_or(Dim(0));
            const Dim start =
                max(min(given.is_constant() && given.value() < 0 ? size + given : given, size), 0);
            parts_.steps.push_back({s.step == 1 ? ViewStep::Kind::range : ViewStep::Kind::strided, before,
                                    dim_, start, view().size(dim_), s.step});
        }
        ++dim_;
        ++original_;
    }
    void add(const Tensor& t)
    {
        if (t.dtype() == boolean) return add_mask(t);
        ops::require_indices(op_, "index", t.dtype());
        ops::check_indices({.op = op_, .from_end = true}, t, view().size(dim_));
        parts_.lookups.push_back({dim_++, saturated(t)});
        ++original_;
    }
    // Converts a mask to index tensors: the positions of its true elements.
    void add_mask(const Tensor& mask)
    {
        if (graph::current_tracer())
            detail::fail(ErrorKind::state, "index",
                         "How many elements a mask keeps is not known while recording: use where() or "
                         "masked_fill(), which keep the shape.");
        const std::int64_t rank = mask.dim();
        for (std::int64_t d = 0; d < rank; ++d)
            if (mask.size(d) != view().size(dim_ + d))
                detail::fail(ErrorKind::shape, "index", "The mask's shape (", to_string(mask.shape()),
                             ") is not that of what it is for, which has (", view().size(dim_ + d),
                             ") elements in dimension (", original_ + d, ").");
        const std::vector<bool> keep = mask.to_vector<bool>();
        if (rank == 0) return add(static_cast<bool>(keep[0]));
        std::vector<std::vector<std::int32_t>> positions(static_cast<std::size_t>(rank));
        for (std::size_t i = 0; i < keep.size(); ++i) {
            if (!keep[i]) continue;
            auto rest = static_cast<std::int64_t>(i);
            for (std::int64_t d = rank; d-- > 0;) {
                const std::int64_t size = mask.size(d).value();
                positions[static_cast<std::size_t>(d)].push_back(static_cast<std::int32_t>(rest % size));
                rest /= size;
            }
        }
        for (const auto& line : positions)
            parts_.lookups.push_back({dim_++, from_vector(line, {static_cast<std::int64_t>(line.size())},
                                                          {.device = view().device()})});
        original_ += rank;
    }

    const char* op_;
    Parts parts_;
    std::int64_t dim_ = 0;      // dimension of the view to which the next index applies
    std::int64_t original_ = 0; // the same of the tensor, for messages
    std::int64_t left_ = 0;     // number of dimensions that the ellipsis covers
};

// A tensor as a matrix whose rows are looked up by index tensors.
struct Table {
    Integers order; // the permutation that moves the indexed dimensions to the front
    Shape ordered;  // the permuted sizes
    Dim rows = 1, columns = 1;
    Shape found;         // the shape of the index tensors, broadcast
    Tensor row;          // the row for each of their elements, -1: out of range; [found]
    std::int64_t at = 0; // the first dimension of `found` in the result
    Shape rest;          // the other sizes
};

Table table_of(const Tensor& x, const std::vector<Lookup>& lookups)
{
    Table t;
    for (const Lookup& l : lookups) {
        t.found = shape::broadcast("index", t.found, l.index.shape());
        t.order.push_back(l.dim);
    }
    const bool together =
        lookups.back().dim - lookups.front().dim + 1 == static_cast<std::int64_t>(lookups.size());
    t.at = together ? lookups.front().dim : 0;
    for (std::int64_t d = 0; d < x.dim(); ++d)
        if (std::find(t.order.begin(), t.order.end(), d) == t.order.end()) {
            t.order.push_back(d);
            t.rest.push_back(x.size(d));
            t.columns *= x.size(d);
        }
    for (const std::int64_t d : t.order) t.ordered.push_back(x.size(d));
    Tensor inside;
    for (std::size_t i = lookups.size(); i-- > 0;) {
        const Tensor& given = lookups[i].index;
        const Tensor size = ops::size_like(given, x.size(lookups[i].dim));
        const Tensor from_start = where(given < 0.0, given + size, given);
        const Tensor part = from_start * ops::size_like(given, t.rows);
        const Tensor fits = logical_and(from_start >= 0.0, less(from_start, size));
        t.row = t.row.defined() ? t.row + part : part;
        inside = inside.defined() ? logical_and(inside, fits) : fits;
        t.rows *= x.size(lookups[i].dim);
    }
    t.row = expand(where(inside, t.row, ops::number_like(t.row, -1)), t.found);
    return t;
}

Tensor matrix_of(const Tensor& x, const Table& t)
{
    return reshape(permute(x, t.order), {t.rows, t.columns});
}

// Returns the permutation that moves the dimensions of the index tensors from the front to dimension t.at of the
// result, or, with to_front, back.
Integers result_order(const Table& t, bool to_front)
{
    const auto found = static_cast<std::int64_t>(t.found.size()),
               rest = static_cast<std::int64_t>(t.rest.size());
    Integers order;
    const auto run = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t d = from; d < to; ++d) order.push_back(d);
    };
    if (to_front) {
        run(t.at, t.at + found);
        run(0, t.at);
    } else {
        run(found, found + t.at);
        run(0, found);
    }
    run(found + t.at, found + rest);
    return order;
}

Tensor looked_up(const Tensor& x, const std::vector<Lookup>& lookups)
{
    const ops::IndexChecksOff checks_off;
    const Table t = table_of(x, lookups);
    const Tensor rows = embedding(reshape(t.row, {t.row.numel()}), matrix_of(x, t));
    Shape sizes = t.found;
    sizes.insert(sizes.end(), t.rest.begin(), t.rest.end());
    return permute(reshape(rows, sizes), result_order(t, false));
}

Shape found_shape(const Tensor& x, const std::vector<Lookup>& lookups)
{
    const Table t = table_of(x, lookups);
    Shape sizes = t.rest;
    sizes.insert(sizes.begin() + t.at, t.found.begin(), t.found.end());
    return sizes;
}

// Returns x with its looked-up elements replaced by the values, or with these added. Values have the looked-up shape.
Tensor put_rows(const Tensor& x, const std::vector<Lookup>& lookups, const Tensor& values, bool accumulate)
{
    const ops::IndexChecksOff checks_off;
    const Table t = table_of(x, lookups);
    const Dim count = t.row.numel();
    if (same(count, 0)) return x;
    const Tensor rows = reshape(permute(values, result_order(t, true)), {count, t.columns});
    const Tensor before = matrix_of(x, t), row = reshape(t.row, {count});
    Tensor after;
    if (accumulate)
        after = before + graph::apply1(ops::embedding_vjp_op, {rows, row},
                                       {{"rows", t.rows}, {"padding", std::int64_t{-1}}});
    else {
        const Tensor last = graph::apply1(ops::last_positions_op, {row}, {{"rows", t.rows}});
        after = where(unsqueeze(last >= 0.0, 1), embedding(maximum(last, 0.0), rows), before);
    }
    return permute(reshape(after, t.ordered), ops::inverse_order(t.order));
}

Tensor put_back(const ViewStep& s, const Tensor& view)
{
    switch (s.kind) {
    case ViewStep::Kind::added: return reshape(view, s.before.shape());
    case ViewStep::Kind::select:
        return ops::put_range(s.before, s.dim, s.start, s.length, unsqueeze(view, s.dim));
    case ViewStep::Kind::range: return ops::put_range(s.before, s.dim, s.start, s.length, view);
    case ViewStep::Kind::strided: break;
    }
    const Tensor count = ops::count_like(view, s.length);
    const Tensor at = count * static_cast<double>(s.step) + ops::size_like(count, s.start);
    return put_rows(s.before, {{s.dim, at}}, view, false);
}

} // namespace

Tensor Tensor::index(const std::vector<TensorIndex>& indices) const
{
    const Parts parts = Reader("index", *this, indices).take();
    const Tensor part = parts.lookups.empty() ? graph::make_tensor(graph::read(parts.view))
                                              : looked_up(parts.view, parts.lookups);
    graph::ViewLink& link = graph::link_view(part, *this);
    link.gather = [indices](const Tensor& base) { return base.index(indices); };
    link.scatter = [indices](const Tensor& base, const Tensor& value) {
        const ops::IndexChecksOff checks_off;
        return base.index_put(indices, value);
    };
    link.advanced_index = !parts.lookups.empty();
    link.in_order =
        graph::in_order(*this) && std::all_of(parts.steps.begin(), parts.steps.end(), [](const ViewStep& s) {
            return s.kind == ViewStep::Kind::added ||
                   (s.kind != ViewStep::Kind::strided && ops::leading_sizes_are_one(s.before.shape(), s.dim));
        });
    return part;
}

Tensor Tensor::operator[](const TensorIndex& i) const { return index({i}); }

Tensor Tensor::index_put(const std::vector<TensorIndex>& indices, const Tensor& value, bool accumulate) const
{
    const Parts parts = Reader("index_put", *this, indices).take();
    Tensor values = cast(value, dtype());
    const Shape sizes = parts.lookups.empty() ? parts.view.shape() : found_shape(parts.view, parts.lookups);
    while (values.shape().size() > sizes.size() && same(values.size(0), 1))
        values = reprise::squeeze(values, 0);
    values = reprise::expand(values, sizes);
    Tensor after = values;
    if (!parts.lookups.empty()) after = put_rows(parts.view, parts.lookups, values, accumulate);
    else if (accumulate) after = parts.view + values;
    for (auto step = parts.steps.rbegin(); step != parts.steps.rend(); ++step) after = put_back(*step, after);
    return ops::copy_if_aliased(ops::copy_if_aliased(after, *this), value);
}

Tensor& Tensor::index_put_(const std::vector<TensorIndex>& indices, const Tensor& value, bool accumulate)
{
    return write("index_put_", graph::current(*this).index_put(indices, value, accumulate));
}
Tensor& Tensor::index_put_(const std::vector<TensorIndex>& indices, double value, bool accumulate)
{
    return index_put_(indices, full({}, value, {.dtype = dtype(), .device = device()}), accumulate);
}

} // namespace reprise
