// x[...] and x[...] = y, with PyTorch's meaning.
#include <optional>
#include <vector>

#include <reprise/ops/shapes.hpp>

#include "arrays.hpp"
#include "binding.hpp"
#include "numbers.hpp"

namespace reprise::python {
namespace {

std::optional<Dim> bound(nb::handle value)
{
    return value.is_none() ? std::nullopt : std::optional<Dim>(nb::cast<Dim>(value));
}

TensorIndex index_of(nb::handle index, const Device& device)
{
    if (index.is_none()) return None;
    if (index.ptr() == Py_Ellipsis) return Ellipsis;
    if (is_bool(index)) return PyObject_IsTrue(index.ptr()) == 1;
    if (nb::isinstance<nb::slice>(index)) {
        const nb::object step = index.attr("step");
        return Slice(bound(index.attr("start")), bound(index.attr("stop")),
                     step.is_none() ? 1 : nb::cast<std::int64_t>(step));
    }
    if (nb::isinstance<Tensor>(index)) return nb::cast<Tensor>(index);
    Dim number;
    if (nb::try_cast(index, number)) return number;
    Array array;
    if (nb::try_cast(index, array)) return tensor_of(array, {.device = device});
    if (nb::isinstance<nb::list>(index)) // a list of numbers or bools
        return tensor_of_numbers(
            index, {.dtype = nb::len(index) == 0 ? std::optional(i64) : std::nullopt, .device = device});
    throw nb::type_error("An index is a number, a slice, None, ..., a bool, a tensor or a list of numbers.");
}

std::vector<TensorIndex> indices_of(nb::handle key, const Device& device)
{
    std::vector<TensorIndex> out;
    if (nb::isinstance<nb::tuple>(key))
        for (nb::handle index : key) out.push_back(index_of(index, device));
    else out.push_back(index_of(key, device));
    return out;
}

// Raises IndexError for a number that is out of range.  Python ends a loop over a sequence at one.
void check_numbers(const Tensor& t, const std::vector<TensorIndex>& indices)
{
    std::int64_t dim = 0;
    for (const TensorIndex& index : indices) {
        const auto* number = std::get_if<Dim>(&index.kind());
        if (!number && !std::get_if<Slice>(&index.kind())) return; // later numbers belong to other dimensions
        if (dim >= t.dim()) return;                                // the library says that there are too many
        const Dim size = t.size(dim++);
        if (number && number->is_constant() && size.is_constant() &&
            (number->value() >= size.value() || number->value() < -size.value()))
            throw nb::index_error(("The index " + number->text() +
                                   " is out of range for a dimension of the size " + size.text() + ".")
                                      .c_str());
    }
}

Tensor get(const Tensor& t, nb::handle key)
{
    const std::vector<TensorIndex> indices = indices_of(key, t.device());
    check_numbers(t, indices);
    const Unlocked unlocked;
    return t.index(indices);
}

void set(Tensor& t, nb::handle key, nb::handle value)
{
    const std::vector<TensorIndex> indices = indices_of(key, t.device());
    check_numbers(t, indices);
    Number number;
    if (read_number(value, number)) {
        const Unlocked unlocked;
        if (number.is_exact()) t.index_put_(indices, number.number);
        else t.index_put_(indices, tensor_of_number(number, t.device()));
        return;
    }
    const Tensor values = nb::isinstance<nb::list>(value) ? tensor_of_numbers(value, {.device = t.device()})
                                                          : tensor_of(value, t.device());
    const Unlocked unlocked;
    t.index_put_(indices, values);
}

} // namespace

void bind_indexing(nb::class_<Tensor>& tensor)
{
    tensor.def("__getitem__", &get, "index"_a.none())
        .def("__setitem__", &set, "index"_a.none(), "value"_a)
        .def("__len__",
             [](const Tensor& t) {
                 if (t.dim() == 0) throw nb::type_error("A tensor without dimensions has no length.");
                 return static_cast<std::size_t>(t.size(0).value());
             })
        .def("__iter__", [](const Tensor& t) {
            std::vector<Tensor> rows;
            {
                const Unlocked unlocked;
                rows = unbind(t);
            }
            return nb::iter(nb::cast(rows));
        });
}

} // namespace reprise::python
