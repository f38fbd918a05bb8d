// x[...] and x[...] = y, with PyTorch's meaning.
#include <optional>
#include <vector>

#include <reprise/ops/shapes.hpp>

#include "arrays.hpp"
#include "binding.hpp"

namespace reprise::python {
namespace {

std::optional<Dim> bound(nb::handle value)
{
    return value.is_none() ? std::nullopt : std::optional<Dim>(nb::cast<Dim>(value));
}

TensorIndex index_of(nb::handle index)
{
    if (index.is_none()) return None;
    if (index.ptr() == Py_Ellipsis) return Ellipsis;
    if (nb::isinstance<nb::bool_>(index)) return nb::cast<bool>(index);
    if (nb::isinstance<nb::slice>(index)) {
        const nb::object step = index.attr("step");
        return Slice(bound(index.attr("start")), bound(index.attr("stop")),
                     step.is_none() ? 1 : nb::cast<std::int64_t>(step));
    }
    if (nb::isinstance<Tensor>(index)) return nb::cast<Tensor>(index);
    Dim number;
    if (nb::try_cast(index, number)) return number;
    Array array;
    if (nb::try_cast(index, array)) return tensor_of(array);
    if (nb::isinstance<nb::list>(index)) // a list of numbers or bools
        return tensor_of(nb::module_::import_("reprise").attr("tensor")(index));
    throw nb::type_error("An index is a number, a slice, None, ..., a bool, a tensor or a list of numbers.");
}

std::vector<TensorIndex> indices_of(nb::handle key)
{
    std::vector<TensorIndex> out;
    if (nb::isinstance<nb::tuple>(key))
        for (nb::handle index : key) out.push_back(index_of(index));
    else out.push_back(index_of(key));
    return out;
}

Tensor get(const Tensor& t, nb::handle key)
{
    const std::vector<TensorIndex> indices = indices_of(key);
    const auto* number = indices.size() == 1 ? std::get_if<Dim>(&indices[0].kind()) : nullptr;
    // Python ends a loop over a sequence at an IndexError.
    if (number && number->is_constant() && t.dim() > 0 && t.size(0).is_constant() &&
        (number->value() >= t.size(0).value() || number->value() < -t.size(0).value()))
        throw nb::index_error(("The index " + number->text() +
                               " is out of range for a dimension of the size " + t.size(0).text() + ".")
                                  .c_str());
    const Unlocked unlocked;
    return t.index(indices);
}

void set(Tensor& t, nb::handle key, nb::handle value)
{
    const std::vector<TensorIndex> indices = indices_of(key);
    double number = 0;
    if (!nb::isinstance<Tensor>(value) && nb::try_cast(value, number)) {
        const Unlocked unlocked;
        t.index_put_(indices, number);
        return;
    }
    const Tensor values = tensor_of(value);
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
