// Reading and writing by indices.
#include <algorithm>

#include "onnx/call.hpp"
#include "onnx/host.hpp"

namespace reprise::onnx {

namespace {

using Numbers = std::vector<std::int64_t>;

// The size of a dimension as a tensor without dimensions, of the dtype of the indices.
Tensor size_along(const Call& call, const Tensor& x, std::int64_t axis, DType dtype)
{
    return Value::scalar(x.size(axis)).tensor(call.device).to(dtype);
}

// Negative indices count from the end.
Tensor from_front(const Call& call, const Tensor& index, const Tensor& x, std::int64_t axis)
{
    return where(lt(index, 0), add(index, size_along(call, x, axis, index.dtype())), index);
}

Value gather_of(Call& call)
{
    const Tensor x = call[0], index = call[1];
    const std::int64_t axis = call.axis("axis", 0, x.dim());
    // One row of the table for each index, as a lookup in an embedding.
    const Tensor flat = reshape(index, Shape{-1});
    Shape shape = x.shape();
    const Shape inner = index.shape();
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, inner.begin(), inner.end());
    if (axis == 0 && x.dim() == 2 && is_floating(x.dtype()))
        return reshape(embedding(from_front(call, index, x, 0), x), shape);
    return reshape(index_select(x, axis, flat), shape);
}

Value gather_elements(Call& call)
{
    const Tensor x = call[0];
    return gather(x, call.axis("axis", 0, x.dim()), call[1]);
}

// Positions in the flattened leading dimensions that the last dimension of `index` names, [...].
Tensor flat_positions(const Call& call, const Tensor& x, const Tensor& index, std::int64_t first)
{
    const std::int64_t depth = index.size(-1).value();
    Tensor position;
    for (std::int64_t k = 0; k < depth; ++k) {
        const std::int64_t axis = first + k;
        const Tensor own = from_front(call, select(index, -1, k), x, axis);
        position = position.defined() ? add(mul(position, size_along(call, x, axis, own.dtype())), own) : own;
    }
    return position;
}

Value gather_nd(Call& call)
{
    const Tensor x = call[0], index = call[1];
    const std::int64_t batch = call.integer("batch_dims", 0), depth = index.size(-1).value();
    if (batch < 0 || batch >= index.dim() || batch + depth > x.dim() || depth < 1)
        call.fail("Indices ", to_string(index.shape()), " with (", batch,
                  ") batch dimensions do not fit the shape ", to_string(x.shape()), ".");
    Dim rows = 1, table = 1, batches = 1;
    Shape rest, shape;
    for (std::int64_t i = 0; i < x.dim(); ++i)
        if (i < batch) batches *= x.size(i);
        else if (i < batch + depth) table *= x.size(i);
        else rest.push_back(x.size(i));
    for (const Dim& size : rest) rows *= size;
    for (std::int64_t i = 0; i + 1 < index.dim(); ++i) shape.push_back(index.size(i));
    Tensor position = flat_positions(call, x, index, batch);
    if (batch > 0) {
        position = reshape(position, Shape{batches, -1});
        const Tensor first = arange(batches, {.dtype = position.dtype(), .device = call.device});
        position =
            add(position,
                unsqueeze(mul(first, Value::scalar(table).tensor(call.device).to(position.dtype())), 1));
    }
    const Tensor flat = reshape(x, Shape{batches * table, rows});
    shape.insert(shape.end(), rest.begin(), rest.end());
    return reshape(index_select(flat, 0, reshape(position, Shape{-1})), shape);
}

// How repeated or existing elements are combined; "" where they are replaced.
std::string reduction(const Call& call)
{
    const std::string name = call.text("reduction", "none");
    if (name == "none") return {};
    if (name == "add") return "sum";
    if (name == "mul") return "prod";
    if (name == "max") return "amax";
    if (name == "min") return "amin";
    call.fail("The reduction (", name, ") is not known.");
}

Tensor scatter_by(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& updates,
                  const std::string& how)
{
    if (how.empty()) return scatter(x, axis, index, updates);
    return scatter_reduce(x, axis, index, updates, how);
}

Value scatter_elements(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.axis("axis", 0, x.dim());
    return scatter_by(x, axis, from_front(call, call[1], x, axis), call[2], reduction(call));
}

Value scatter_nd(Call& call)
{
    const Tensor x = call[0], index = call[1], updates = call[2];
    const std::int64_t depth = index.size(-1).value();
    if (depth < 1 || depth > x.dim())
        call.fail("Indices ", to_string(index.shape()), " do not fit the shape ", to_string(x.shape()), ".");
    Dim table = 1, rows = 1;
    for (std::int64_t i = 0; i < x.dim(); ++i) (i < depth ? table : rows) *= x.size(i);
    const Tensor position = reshape(flat_positions(call, x, index, 0), Shape{-1});
    const Tensor flat = reshape(x, Shape{table, rows});
    const Tensor source = reshape(updates, Shape{position.size(0), rows});
    const Tensor wide = expand(unsqueeze(position, 1), Shape{position.size(0), rows});
    return reshape(scatter_by(flat, 0, wide, source, reduction(call)), x.shape());
}

// Puts a slice of each batch at its position along the axis; with `circular` positions wrap around.
Value tensor_scatter(Call& call)
{
    const Tensor past = call[0], update = call[1];
    const std::int64_t axis = call.axis("axis", -2, past.dim());
    if (axis == 0) call.fail("The axis is the batch.");
    const Dim batch = past.size(0), length = update.size(axis);
    const Tensor start =
        call.has(2) ? call[2].to(i32) : zeros(Shape{batch}, {.dtype = i32, .device = call.device});
    Tensor index = add(unsqueeze(start, 1), arange(length, {.dtype = i32, .device = call.device}));
    const std::string mode = call.text("mode", "linear");
    if (mode == "circular") index = remainder(index, size_along(call, past, axis, i32));
    else if (mode != "linear") call.fail("The mode (", mode, ") is neither linear nor circular.");
    Shape shape(static_cast<std::size_t>(past.dim()), 1);
    shape[0] = batch;
    shape[static_cast<std::size_t>(axis)] = length;
    return scatter(past, axis, expand(reshape(index, shape), update.shape()), update);
}

Value one_hot_of(Call& call)
{
    const Tensor index = call[0];
    const Tensor values = call[2];
    const std::int64_t given = call.integer("axis", -1), rank = index.dim() + 1;
    const std::int64_t axis = call.axis(given, rank);
    const Dim depth =
        call.type(1).is_floating() ? Dim(call.floor_of(call.number(1, 0))) : call.sizes(1).at(0);
    const Tensor whole = index.to(i64);
    const Tensor size = Value::scalar(depth).tensor(call.device);
    const Tensor front = where(lt(whole, 0), add(whole, size), whole);
    Shape column(static_cast<std::size_t>(rank), 1);
    column[static_cast<std::size_t>(axis)] = depth;
    const Tensor classes = reshape(arange(depth, {.dtype = i64, .device = call.device}), column);
    const Tensor hit = eq(unsqueeze(front, axis), classes);
    return Value(where(hit, select(values, 0, 1), select(values, 0, 0)), &call.type(2));
}

// Each row of a batch with its first elements in reverse order.
Value reverse_sequence(Call& call)
{
    const Tensor x = call[0], lengths = call[1].to(i64);
    const std::int64_t batch = call.axis("batch_axis", 1, x.dim()), time = call.axis("time_axis", 0, x.dim());
    const Tensor steps = arange(x.size(time), {.dtype = i64, .device = call.device});
    const Tensor length = unsqueeze(lengths, 1);
    Tensor index = where(lt(unsqueeze(steps, 0), length), sub(sub(length, 1), steps), steps); // [batch, time]
    Shape shape(static_cast<std::size_t>(x.dim()), 1);
    shape[static_cast<std::size_t>(batch)] = x.size(batch);
    shape[static_cast<std::size_t>(time)] = x.size(time);
    if (time < batch) index = transpose(index, 0, 1);
    return gather(x, time, expand(reshape(index, shape), x.shape()));
}

Value trilu(Call& call)
{
    const Tensor x = call[0];
    const auto diagonal = call.has(1) ? call.integers(1).at(0) : 0;
    return call.flag("upper", true) ? triu(x, diagonal) : tril(x, diagonal);
}

constexpr Typed moves = Typed::as_input;

const Operator rows[] = {
    {"Gather", gather_of, {.typed = moves, .on_host = host_gather}},
    {"GatherElements", gather_elements, {.typed = moves}},
    {"GatherND", gather_nd, {.typed = moves, .limits = "the last size of the indices must be constant"}},
    {"OneHot", one_hot_of, {.constants = 0b110}},
    {"ReverseSequence", reverse_sequence, {.typed = moves}},
    {"Scatter", scatter_elements, {.typed = moves}},
    {"ScatterElements", scatter_elements, {.typed = moves}},
    {"ScatterND", scatter_nd, {.typed = moves, .limits = "the last size of the indices must be constant"}},
    {"TensorScatter", tensor_scatter, {.typed = moves}},
    {"Trilu", trilu, {.typed = moves}},
};

} // namespace

Operators indexing_operators() { return rows; }

} // namespace reprise::onnx
