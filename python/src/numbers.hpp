// Python's numbers as operands of operators: an int is exact, and a float makes integers floating, as in PyTorch.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include <reprise/ops/creation.hpp>
#include <reprise/tensor.hpp>

namespace reprise::python {

// An int, a float, a bool or a scalar of NumPy.
struct Number {
    bool is_whole = true;
    std::int64_t whole = 0; // of an int or a bool
    double number = 0;      // the same as a double

    // Whether a double holds an int exactly.
    bool is_exact() const { return !is_whole || static_cast<std::int64_t>(number) == whole; }
};
struct WholeNumber : Number {}; // an int or a bool

// A tensor of no dimensions with this number, in a dtype that holds it.
inline Tensor tensor_of_number(const Number& n, const Device& device)
{
    if (n.is_whole)
        return from_vector(std::vector<std::int64_t>{n.whole}, Shape(), {.dtype = i64, .device = device});
    return from_vector(std::vector<double>{n.number}, Shape(), {.dtype = f32, .device = device});
}

// The tensor as an operand beside the number: integers become f32 beside a float.
inline Tensor beside(const Tensor& t, const Number& n)
{
    return n.is_whole || t.is_floating_point() ? t : t.to(f32);
}

// A tensor of the shape of t with this number in each element.
inline Tensor filled_like(const Tensor& t, const Number& n)
{
    if (n.is_exact()) return full_like(t, n.number);
    return tensor_of_number(n, t.device()).to(t.dtype()).expand(t.shape());
}

// Calls f(t, number) with a double where it is exact, else with a tensor.
template <class F> Tensor with_number(const Tensor& t, const Number& n, const F& f)
{
    if (n.is_exact() || t.dtype() != i64) return f(beside(t, n), n.number);
    return f(t, tensor_of_number(n, t.device()));
}

// Whether an object is a scalar of NumPy whose type's name begins so.
inline bool is_scalar_of_numpy(nanobind::handle object, std::string_view beginning = "") noexcept
{
    const nanobind::str name = nanobind::type_name(object.type());
    const std::string_view type(name.c_str());
    if (!type.starts_with("numpy.") || type == "numpy.ndarray") return false;
    return type.substr(6).starts_with(beginning) && PyNumber_Check(object.ptr());
}
inline bool is_bool(nanobind::handle object) noexcept
{
    return PyBool_Check(object.ptr()) || is_scalar_of_numpy(object, "bool");
}

// Reads a number; returns whether the object is one.
inline bool read_number(nanobind::handle from, Number& to) noexcept
{
    PyObject* const object = from.ptr();
    if (PyLong_Check(object)) to.is_whole = true;
    else if (PyFloat_Check(object)) to.is_whole = false;
    else if (!is_scalar_of_numpy(from)) return false;
    else to.is_whole = PyIndex_Check(object) || is_bool(from);
    if (to.is_whole) {
        PyObject* const exact = PyNumber_Long(object);
        to.whole = exact ? PyLong_AsLongLong(exact) : -1;
        Py_XDECREF(exact);
        to.number = static_cast<double>(to.whole);
    } else {
        to.number = PyFloat_AsDouble(object);
    }
    if (!PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

} // namespace reprise::python

namespace nanobind::detail {

template <> struct type_caster<reprise::python::Number> {
    NB_TYPE_CASTER(reprise::python::Number, const_name("float"))
    bool from_python(handle from, std::uint32_t, cleanup_list*) noexcept
    {
        return reprise::python::read_number(from, value);
    }
};
template <> struct type_caster<reprise::python::WholeNumber> {
    NB_TYPE_CASTER(reprise::python::WholeNumber, const_name("int"))
    bool from_python(handle from, std::uint32_t, cleanup_list*) noexcept
    {
        return reprise::python::read_number(from, value) && value.is_whole;
    }
};

} // namespace nanobind::detail
