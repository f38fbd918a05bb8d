// Parameters and running values have one object of Python each, as long as it is alive: `is`, sets and dictionaries
// then tell them apart.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

#include <reprise/tensor.hpp>

namespace reprise::python {

// nn.Parameter: a Variable that modules register as a parameter.
struct Parameter : Variable {
    using Variable::Variable;
    explicit Parameter(const Variable& v) : Variable(v) {}
};

// The object for a Variable: the living one, or a new one, of the class Parameter or Variable.  Returns a new
// reference; null with an exception of Python where there is no memory.
nanobind::handle object_of_variable(const Variable&, bool is_parameter) noexcept;
// Makes this object the one for its Variable.
void remember_object(nanobind::handle object);

} // namespace reprise::python

namespace nanobind::detail {

template <> struct type_caster<reprise::Variable> : type_caster_base<reprise::Variable> {
    template <class T> static handle from_cpp(T&& value, rv_policy policy, cleanup_list* cleanup) noexcept
    {
        if constexpr (std::is_pointer_v<std::decay_t<T>>) {
            if (!value) return none().release();
            return from_cpp(*value, policy, cleanup);
        } else {
            return reprise::python::object_of_variable(value, value.defined() && value.requires_grad());
        }
    }
};

} // namespace nanobind::detail
