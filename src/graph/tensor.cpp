// Tensor's members that need no op.
#include <algorithm>
#include <vector>

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

std::size_t Tensor::elements_to_read() const
{
    const Value v = value_to_read(*this);
    v.node->evaluator->evaluate({&v, 1});
    return static_cast<std::size_t>(numel().value());
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
    while (!values.empty()) { // a device at a time, in the order in which they come
        graph::Evaluator* const device = values.front().node->evaluator.get();
        const auto rest = std::stable_partition(
            values.begin(), values.end(), [&](const Value& v) { return v.node->evaluator.get() == device; });
        device->evaluate({values.begin(), rest});
        values.erase(values.begin(), rest);
    }
}

void Tensor::assign(const Tensor& value)
{
    const Value before = graph::read(*this), given = graph::read(value);
    const auto sentence = [&] {
        return std::string("The value is ") + name_of(given.type().dtype) + to_string(given.type().shape) +
               " but the tensor is " + name_of(before.type().dtype) + to_string(before.type().shape) + ".";
    };
    if (given.type().dtype != before.type().dtype) detail::fail(ErrorKind::dtype, "assign", sentence());
    shape::require_same("assign", given.type().shape, before.type().shape, sentence);
    const graph::Tracer* tracer = graph::current_tracer();
    if (given.node->trace && (!tracer || given.node->trace != tracer->id()))
        detail::fail(
            ErrorKind::state, "assign",
            "The value belongs to a recording that this tensor is not part of: assign it inside of the "
            "recorded function.");
    if (given.node->evaluator != before.node->evaluator)
        detail::fail(ErrorKind::device, "assign", "The value is on (", given.node->evaluator->name(),
                     ") but the tensor is on (", before.node->evaluator->name(), ").");
    // a cell keeps its shape, though the value's may be written in another way
    const Value v =
        given.type() == before.type() ? given : graph::read(reprise::reshape(value, before.type().shape));
    const bool leaf = before.node->is_leaf && before.node->requires_grad;
    graph::assign(*this, graph::leaf_alias(v, leaf, leaf ? cell_ : nullptr));
}

void Tensor::read_one(void* to, DType dtype) const
{
    if (const Dim n = numel(); !same(n, 1))
        detail::fail(ErrorKind::shape, "item", "The tensor has the shape (", to_string(shape()),
                     "): only one element can be read so; use to_vector().");
    read_all(to, size_of(dtype), dtype);
}

void Tensor::read_all(void* to, std::size_t bytes, DType dtype) const
{
    const Value v = value_to_read(*this);
    const DType held = v.type().dtype;
    if (held != dtype) {
        if (dtype == f32 && (held == f16 || held == bf16)) return cast(*this, f32).read_all(to, bytes, dtype);
        detail::fail(ErrorKind::dtype, "read", "The tensor holds (", name_of(held), ") but (", name_of(dtype),
                     ") was asked for: cast it, or read the other type.");
    }
    v.node->evaluator->read(v, {static_cast<std::byte*>(to), bytes});
}

template <> std::vector<bool> Tensor::to_vector<bool>() const
{
    std::vector<std::uint8_t> bytes(elements_to_read());
    read_all(bytes.data(), bytes.size(), DType::boolean);
    return {bytes.begin(), bytes.end()};
}

Variable::Variable(const Tensor& value, bool requires_grad)
    : Tensor(graph::make_tensor(graph::leaf_alias(graph::read(value), false, nullptr)))
{
    if (requires_grad) requires_grad_();
}

} // namespace reprise
