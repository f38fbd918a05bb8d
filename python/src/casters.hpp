// Conversions between Python's objects and the library's sizes, lists of dimensions and windows.  Each accepts one
// number in place of a list, as the C++ types do.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <reprise/dim.hpp>
#include <reprise/ops/interpolation.hpp>
#include <reprise/ops/window_sizes.hpp>
#include <reprise/optim/lr_scheduler.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/tensor.hpp>

#include "identity.hpp"

namespace reprise::python {

// A size that is not a number, as Python's class Dim.  Numbers are Python's int.
struct SymbolicDim {
    Dim dim;
};

// Calls add(item, index) for the items of a sequence that is no text and no tensor.  Returns whether all were taken.
template <class F> bool each_item(nanobind::handle from, const F& add) noexcept
{
    if (!PySequence_Check(from.ptr()) || PyUnicode_Check(from.ptr()) || PyBytes_Check(from.ptr()) ||
        nanobind::isinstance<Tensor>(from))
        return false;
    const Py_ssize_t size = PySequence_Size(from.ptr());
    for (Py_ssize_t i = 0; i < size; ++i) {
        const auto item = nanobind::steal(PySequence_GetItem(from.ptr(), i));
        if (item.is_valid() && add(item, static_cast<std::size_t>(i))) continue;
        PyErr_Clear();
        return false;
    }
    PyErr_Clear();
    return size >= 0;
}

// Returns a tuple of n items, of which f(i) gives a new reference.
template <class F> nanobind::handle tuple_of(std::size_t n, const F& f) noexcept
{
    PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(n));
    for (std::size_t i = 0; out && i < n; ++i) {
        const nanobind::handle item = f(i);
        if (item.is_valid() && PyTuple_SetItem(out, static_cast<Py_ssize_t>(i), item.ptr()) == 0) continue;
        Py_DECREF(out);
        out = nullptr;
    }
    return out;
}

// Returns a list of n items, of which f(i) gives a new reference.
template <class F> nanobind::handle list_of(std::size_t n, const F& f) noexcept
{
    PyObject* out = PyList_New(static_cast<Py_ssize_t>(n));
    for (std::size_t i = 0; out && i < n; ++i) {
        const nanobind::handle item = f(i);
        if (item.is_valid() && PyList_SetItem(out, static_cast<Py_ssize_t>(i), item.ptr()) == 0) continue;
        Py_DECREF(out);
        out = nullptr;
    }
    return out;
}

} // namespace reprise::python

namespace nanobind::detail {

template <> struct type_caster<reprise::Dim> {
    using SymbolicDim = reprise::python::SymbolicDim;
    NB_TYPE_CASTER(reprise::Dim, const_name("int | ") + make_caster<SymbolicDim>::Name)

    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept
    {
        if (isinstance<SymbolicDim>(from)) {
            value = inst_ptr<SymbolicDim>(from)->dim;
            return true;
        }
        make_caster<std::int64_t> number;
        // A tensor with __index__ is no size: size * tensor is the tensor's operator.
        if (PyBool_Check(from.ptr()) || isinstance<reprise::Tensor>(from)) return false;
        if (!number.from_python(from, flags, cleanup)) return false;
        value = number.value;
        return true;
    }
    static handle from_cpp(const reprise::Dim& dim, rv_policy, cleanup_list* cleanup) noexcept
    {
        if (dim.is_constant()) return PyLong_FromLongLong(dim.value());
        return make_caster<SymbolicDim>::from_cpp(SymbolicDim{dim}, rv_policy::move, cleanup);
    }
};

// A list of items, or one of them; a tuple in Python.  Types of lists derive from it and have their own Name.
template <class List, class Item> struct list_or_item_caster {
    NB_TYPE_CASTER(List, io_name("int | collections.abc.Sequence[int]", "tuple[int, ...]"))

    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept
    {
        value.clear();
        make_caster<Item> one;
        if (!PyBool_Check(from.ptr()) && one.from_python(from, flags, cleanup)) {
            value.push_back(one.value);
            return true;
        }
        return reprise::python::each_item(from, [&](handle given, std::size_t) {
            make_caster<Item> item;
            if (!item.from_python(given, flags | cast_flags::convert, cleanup)) return false;
            value.push_back(item.value);
            return true;
        });
    }
    static handle from_cpp(const List& list, rv_policy policy, cleanup_list* cleanup) noexcept
    {
        return reprise::python::tuple_of(list.size(), [&](std::size_t i) {
            return make_caster<Item>::from_cpp(list[i], policy, cleanup);
        });
    }
};
template <> struct type_caster<reprise::Shape> : list_or_item_caster<reprise::Shape, reprise::Dim> {
    static constexpr auto Name =
        io_name("int | reprise._core.Dim | collections.abc.Sequence[int | reprise._core.Dim]",
                "tuple[int | reprise._core.Dim, ...]");
};
template <> struct type_caster<std::vector<std::int64_t>>
    : list_or_item_caster<std::vector<std::int64_t>, std::int64_t> {};

template <class List> struct numbers_caster : list_or_item_caster<List, double> {
    static constexpr auto Name = io_name("float | collections.abc.Sequence[float]", "tuple[float, ...]");
};
template <> struct type_caster<reprise::ScaleFactors> : numbers_caster<reprise::ScaleFactors> {};
template <> struct type_caster<reprise::optim::PerGroup> : numbers_caster<reprise::optim::PerGroup> {};

// Dimensions to reduce over; None stands for none given.
template <> struct type_caster<reprise::Dims> : list_or_item_caster<reprise::Dims, std::int64_t> {
    static constexpr auto Name = io_name("int | collections.abc.Sequence[int] | None", "tuple[int, ...]");

    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept
    {
        value.clear();
        return from.is_none() || list_or_item_caster::from_python(from, flags, cleanup);
    }
};

// One number for each of N dimensions, or one for all.
template <class Sizes, std::size_t N> struct window_caster {
    static constexpr auto Name = const_name("int | collections.abc.Sequence[int]");
    using Value = Sizes;
    template <class T> using Cast = movable_cast_t<T>;
    template <class T> static constexpr bool can_cast() { return true; }
    explicit operator Sizes*() { return &value; }
    explicit operator Sizes&() { return value; }
    explicit operator Sizes&&() { return static_cast<Sizes&&>(value); }
    Sizes value{std::int64_t{0}};

    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept
    {
        make_caster<std::int64_t> one;
        if (!PyBool_Check(from.ptr()) && one.from_python(from, flags, cleanup)) {
            value = Sizes(one.value);
            return true;
        }
        std::size_t count = 0;
        const bool all = reprise::python::each_item(from, [&](handle given, std::size_t i) {
            make_caster<std::int64_t> item;
            if (i >= N || !item.from_python(given, flags | cast_flags::convert, cleanup)) return false;
            value[i] = item.value;
            ++count;
            return true;
        });
        if (all && count == 1)
            for (std::size_t i = 1; i < N; ++i) value[i] = value[0];
        return all && (count == N || count == 1);
    }
    static handle from_cpp(const Sizes& sizes, rv_policy, cleanup_list*) noexcept
    {
        bool equal = true;
        for (std::size_t i = 1; i < N; ++i) equal = equal && sizes[i] == sizes[0];
        if (equal) return PyLong_FromLongLong(sizes[0]);
        return reprise::python::tuple_of(N, [&](std::size_t i) { return PyLong_FromLongLong(sizes[i]); });
    }
};
template <std::size_t N> struct type_caster<reprise::WindowSizes<N>>
    : window_caster<reprise::WindowSizes<N>, N> {};
template <std::size_t N> struct type_caster<reprise::WindowStrides<N>>
    : window_caster<reprise::WindowStrides<N>, N> {};
template <std::size_t N> struct type_caster<reprise::WindowPadding<N>>
    : window_caster<reprise::WindowPadding<N>, N> {
    static constexpr auto Name = const_name("int | collections.abc.Sequence[int] | str");

    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept
    {
        if (!PyUnicode_Check(from.ptr()))
            return window_caster<reprise::WindowPadding<N>, N>::from_python(from, flags, cleanup);
        for (const char* name : {"same", "valid"}) {
            if (PyUnicode_CompareWithASCIIString(from.ptr(), name) != 0) continue;
            this->value = reprise::WindowPadding<N>(name);
            return true;
        }
        return false;
    }
};

template <std::size_t N> struct type_caster<std::array<reprise::Dim, N>> {
    using Sizes = std::array<reprise::Dim, N>;
    NB_TYPE_CASTER(Sizes,
                   const_name("int | reprise._core.Dim | collections.abc.Sequence[int | reprise._core.Dim]"))

    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept
    {
        make_caster<reprise::Shape> list;
        if (!list.from_python(from, flags, cleanup)) return false;
        if (list.value.size() != 1 && list.value.size() != N) return false;
        for (std::size_t i = 0; i < N; ++i) value[i] = list.value[list.value.size() == 1 ? 0 : i];
        return true;
    }
};

// A tensor is no list of tensors, although it can be iterated.
template <> struct type_caster<std::vector<reprise::Tensor>> {
    NB_TYPE_CASTER(std::vector<reprise::Tensor>,
                   io_name("collections.abc.Sequence[reprise._core.Tensor]", "list[reprise._core.Tensor]"))

    bool from_python(handle from, std::uint32_t, cleanup_list*) noexcept
    {
        value.clear();
        return reprise::python::each_item(from, [&](handle item, std::size_t) {
            if (!isinstance<reprise::Tensor>(item)) return false;
            value.push_back(*inst_ptr<reprise::Tensor>(item));
            return true;
        });
    }
    static handle from_cpp(const std::vector<reprise::Tensor>& list, rv_policy,
                           cleanup_list* cleanup) noexcept
    {
        return reprise::python::list_of(list.size(), [&](std::size_t i) {
            return make_caster<reprise::Tensor>::from_cpp(list[i], rv_policy::copy, cleanup);
        });
    }
};

// Parameters: any iterable of tensors, such as a generator.
template <> struct type_caster<reprise::Parameters> {
    NB_TYPE_CASTER(reprise::Parameters,
                   io_name("collections.abc.Iterable[reprise._core.Tensor]", "list[reprise._core.Variable]"))

    bool from_python(handle from, std::uint32_t, cleanup_list*) noexcept
    {
        value.clear();
        if (isinstance<reprise::Tensor>(from)) return false;
        const auto iterator = steal(PyObject_GetIter(from.ptr()));
        while (iterator.is_valid()) {
            const auto item = steal(PyIter_Next(iterator.ptr()));
            if (!item.is_valid()) break;
            if (!isinstance<reprise::Tensor>(item)) return false;
            value.push_back(*inst_ptr<reprise::Tensor>(item));
        }
        const bool failed = PyErr_Occurred() != nullptr;
        PyErr_Clear();
        return !failed;
    }
    static handle from_cpp(const reprise::Parameters& list, rv_policy, cleanup_list*) noexcept
    {
        return reprise::python::list_of(
            list.size(), [&](std::size_t i) { return reprise::python::object_of_variable(list[i], true); });
    }
};

} // namespace nanobind::detail
