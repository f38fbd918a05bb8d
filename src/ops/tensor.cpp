// Tensor's members: properties, reads and in-place writes.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include <reprise/grad_mode.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/shapes.hpp>

#include "graph/cell.hpp"
#include "shape/guard.hpp"

namespace reprise {

using graph::Value;

Shape Tensor::shape() const { return graph::type_of(*this).shape; }

std::int64_t Tensor::dim() const { return static_cast<std::int64_t>(graph::type_of(*this).shape.size()); }

Dim Tensor::size(std::int64_t d) const
{
    const Shape& s = graph::type_of(*this).shape;
    const auto rank = static_cast<std::int64_t>(s.size());
    if (d < -rank || d >= rank)
        detail::fail(ErrorKind::argument, "size", "The dimension (", d, ") is not in [", -rank, ", ",
                     rank - 1, "] of a tensor of the shape (", to_string(s), ").");
    return s[static_cast<std::size_t>(d < 0 ? d + rank : d)];
}

Dim Tensor::numel() const
{
    Dim n = 1;
    for (const Dim& d : graph::type_of(*this).shape) n *= d;
    return n;
}

bool Tensor::is_contiguous() const { return graph::in_order(*this); }

DType Tensor::dtype() const { return graph::type_of(*this).dtype; }

namespace {
Value value_to_read(const Tensor& t)
{
    const Value v = graph::read(t);
    if (v.node->trace && graph::current_tracer())
        detail::fail(ErrorKind::state, "read",
                     "A tensor of a program that is being recorded has no value yet: return it "
                     "from the function and read what the program gives.");
    return v;
}
} // namespace

bool Tensor::is_ready() const
{
    const Value v = value_to_read(*this);
    return v.node->evaluator->is_ready(v);
}

std::size_t Tensor::elements_to_read() const
{
    const Value v = value_to_read(*this);
    v.node->evaluator->evaluate({&v, 1});
    return static_cast<std::size_t>(numel().value());
}

void Tensor::fail_to_hold() const
{
    detail::fail(ErrorKind::out_of_memory, "read", "The host has no memory for the (", numel(),
                 ") elements of the shape (", to_string(shape()), "): read a part, made with narrow().");
}

void Tensor::eval() const { reprise::eval({*this}); }

void eval(const std::vector<Tensor>& tensors)
{
    std::vector<Value> values;
    for (const Tensor& t : tensors) {
        values.push_back(graph::read(t));
        if (values.back().node->trace && graph::current_tracer())
            detail::fail(ErrorKind::state, "eval",
                         "A tensor of a program that is being recorded has no value yet.");
    }
    while (!values.empty()) { // one device at a time, in order of first occurrence
        graph::Evaluator* const device = values.front().node->evaluator.get();
        const auto rest = std::stable_partition(
            values.begin(), values.end(), [&](const Value& v) { return v.node->evaluator.get() == device; });
        device->evaluate({values.begin(), rest});
        values.erase(values.begin(), rest);
    }
}

namespace {
// Checks that a value can replace that of a tensor, except for its dtype and shape.
void check_replacement(const char* op, const Value& before, const Value& given)
{
    const graph::Tracer* tracer = graph::current_tracer();
    if (given.node->trace && (!tracer || given.node->trace != tracer->id()))
        detail::fail(
            ErrorKind::state, op,
            "The value belongs to a recording that this tensor is not part of: assign it inside of the "
            "recorded function.");
    if (given.node->evaluator != before.node->evaluator)
        detail::fail(ErrorKind::device, op, "The value is on (", given.node->evaluator->name(),
                     ") but the tensor is on (", before.node->evaluator->name(), ").");
}

std::string describe(const graph::TensorType& t) { return name_of(t.dtype) + to_string(t.shape); }

bool is_parameter(const Value& v) { return v.node->is_leaf && v.node->requires_grad; }
} // namespace

void Tensor::assign(const Tensor& value)
{
    const Value before = graph::read(*this), given = graph::read(value);
    const auto sentence = [&] {
        return "The value is " + describe(given.type()) + " but the tensor is " + describe(before.type()) +
               ".";
    };
    if (given.type().dtype != before.type().dtype) detail::fail(ErrorKind::dtype, "assign", sentence());
    shape::require_same("assign", given.type().shape, before.type().shape, sentence);
    check_replacement("assign", before, given);
    // The cell retains its shape, as equal sizes may be different expressions.
    const Value v =
        given.type() == before.type() ? given : graph::read(reprise::reshape(value, before.type().shape));
    const bool leaf = is_parameter(before);
    graph::assign(*this, graph::leaf_alias(v, leaf, leaf ? cell_ : nullptr));
    const graph::Tracer* tracer = graph::current_tracer();
    if (cell_->trace == (tracer ? tracer->id() : 0)) cell_->link.reset(); // no view any more
}

// Writes a view's new value into its base.
void Tensor::write_back(const char* op, graph::ViewLink& link, const Tensor& value)
{
    const std::shared_ptr<graph::Cell> cell = link.base.lock();
    if (!cell || !link.scatter) {
        if (link.advanced_index || !link.has_live_base()) return;
        detail::fail(
            ErrorKind::state, op,
            "The tensor is a view that is made in several steps, by expand(), or by a reshape() that "
            "may have to copy, of another one, which would not see the change: write x[i] or "
            "x.index({...}) of that one, x.index_put_(), or change a clone().");
    }
    if (cell->layout != link.layout)
        detail::fail(ErrorKind::state, op,
                     "The tensor is a view of one whose dimensions were changed in place after the view was "
                     "made: make "
                     "the view again, or change a clone().");
    Tensor base = graph::current(Tensor(cell)); // it may be a view itself
    const graph::Value before = graph::read(base);
    if (link.detached && graph::requires_grad(before) && !before.node->is_leaf)
        detail::fail(
            ErrorKind::state, op,
            "The tensor is the detach() of one that an op computed, whose gradient would not fit the "
            "change: change a clone().");
    const std::optional<no_grad> off = link.detached ? std::make_optional<no_grad>() : std::nullopt;
    base.write(op, link.scatter(base, value));
    link.version = cell->version;
}

Tensor& Tensor::write(const char* op, const Tensor& value, bool into_indexed)
{
    const Value before = graph::read(*this);
    const graph::TensorType type = before.type();
    if (is_parameter(before) && graph::grad_mode())
        detail::fail(
            ErrorKind::state, op,
            "A leaf that requires a gradient can't be changed in place while gradients are recorded: do it "
            "under no_grad, or change a clone().");
    const auto category = [](DType t) { return is_floating(t) ? 2 : t == boolean ? 0 : 1; };
    const auto sentence = [&] {
        return "The result is " + describe(graph::type_of(value)) + " but the tensor is " + describe(type) +
               ".";
    };
    if (category(value.dtype()) > category(type.dtype))
        detail::fail(ErrorKind::dtype, op, sentence(), " Convert the tensor first, or make a new one.");
    shape::require_same(op, value.shape(), type.shape, sentence);
    check_replacement(op, before, graph::read(value));
    const Tensor held = reprise::reshape(cast(value, type.dtype), type.shape).clone();
    if (const auto link = cell_->link; link && (into_indexed || !link->advanced_index))
        write_back(op, *link, held);
    if (is_parameter(before)) assign(held);
    else graph::assign(*this, graph::read(held));
    return *this;
}

namespace {
// Whether `to` represents all values of `from`.
bool holds_all(DType to, DType from)
{
    if (to == from) return true;
    if (from == boolean) return true;
    if (is_floating(from)) return is_floating(to) && size_of(to) > size_of(from);
    const std::size_t bits = 8 * size_of(from) - (from == u8 ? 0 : 1);
    switch (to) {
    case DType::f64: return bits <= 53;
    case DType::f32: return bits <= 24;
    case DType::i64:
    case DType::i32:
    case DType::i16: return bits < 8 * size_of(to);
    default: return false;
    }
}

// Converts elements from one type to another, which represents all of their values.
template <class From, class To> void convert(const std::byte* from, std::byte* to, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        From v{};
        std::memcpy(&v, from + i * sizeof v, sizeof v);
        const To out = static_cast<To>(v);
        std::memcpy(to + i * sizeof out, &out, sizeof out);
    }
}

template <class F> void with_type(DType t, F&& f)
{
    switch (t) {
    case DType::f64: return f(double{});
    case DType::i64: return f(std::int64_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::i16: return f(std::int16_t{});
    case DType::i8: return f(std::int8_t{});
    case DType::u8: return f(std::uint8_t{});
    case DType::boolean: return f(bool{});
    default: return f(float{});
    }
}

// Reads elements of any dtype and converts them; f16 and bf16 by way of f32.
void read_converted(const Tensor& t, std::byte* to, std::size_t bytes, DType dtype)
{
    const DType held = t.dtype();
    if (held == f16 || held == bf16) return read_converted(t.to(f32), to, bytes, dtype);
    const std::size_t count = bytes / size_of(dtype);
    const Value v = value_to_read(t);
    if (held == dtype) return v.node->evaluator->read(v, {to, bytes});
    std::vector<std::byte> raw(count * size_of(held));
    v.node->evaluator->read(v, raw);
    with_type(held, [&]<class From>(From) {
        with_type(dtype, [&]<class To>(To) { convert<From, To>(raw.data(), to, count); });
    });
}
} // namespace

Scalar Tensor::item() const
{
    if (const Dim n = numel(); !same(n, 1))
        detail::fail(ErrorKind::shape, "item", "The tensor has the shape (", to_string(shape()),
                     "): only one element can be read so; use to_vector().");
    const auto read = [&]<class T>(T value) {
        read_converted(*this, reinterpret_cast<std::byte*>(&value), sizeof value, DTypeOf<T>::value);
        return Scalar(value);
    };
    return dtype() == boolean ? read(false) : is_integer(dtype()) ? read(std::int64_t{0}) : read(0.0);
}

void Tensor::read_all(void* to, std::size_t bytes, DType dtype) const
{
    const DType held = value_to_read(*this).type().dtype;
    if (!holds_all(dtype, held))
        detail::fail(ErrorKind::dtype, "read", "The tensor holds (", name_of(held), ") but (", name_of(dtype),
                     ") was requested: cast it, or read the other type.");
    read_converted(*this, static_cast<std::byte*>(to), bytes, dtype);
}

std::vector<std::byte> to_bytes(const Tensor& t)
{
    const Value v = value_to_read(t);
    std::vector<std::byte> bytes;
    try {
        bytes.resize(static_cast<std::size_t>(t.numel().value()) * size_of(v.type().dtype));
    } catch (const std::bad_alloc&) {
        detail::fail(ErrorKind::out_of_memory, "to_bytes", "The host has no memory for the (", t.numel(),
                     ") elements of the shape (", to_string(t.shape()), ").");
    }
    v.node->evaluator->read(v, bytes);
    return bytes;
}

template <> std::vector<bool> Tensor::to_vector<bool>() const
{
    std::vector<std::uint8_t> bytes;
    make_room(bytes);
    read_all(bytes.data(), bytes.size(), DType::boolean);
    return {bytes.begin(), bytes.end()};
}

Variable::Variable(const Tensor& value, bool requires_grad)
    : Tensor(graph::make_tensor(graph::leaf_alias(graph::read(value), false, nullptr)))
{
    if (requires_grad) requires_grad_();
}

} // namespace reprise
