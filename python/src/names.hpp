// Arguments that Python gives as a text or as None: devices, choices and tensors that are left out.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include <nanobind/nanobind.h>

#include <reprise/choice.hpp>
#include <reprise/device.hpp>
#include <reprise/tensor.hpp>

namespace reprise::python {

// A device, or its name.  It is opened outside of the conversion, so that the library's error reaches the caller.
class DeviceName {
public:
    DeviceName() = default;
    DeviceName(Device device) : given_(std::move(device)) {}
    DeviceName(std::string name) : given_(std::move(name)) {}
    Device device() const
    {
        if (const auto* name = std::get_if<std::string>(&given_)) return Device(*name);
        return std::get<Device>(given_);
    }

private:
    std::variant<std::string, Device> given_;
};
inline std::optional<Device> device_or_none(const std::optional<DeviceName>& name)
{
    return name ? std::optional<Device>(name->device()) : std::nullopt;
}

// An undefined tensor for None.
inline Tensor tensor_or_none(const std::optional<Tensor>& given) { return given.value_or(Tensor()); }
// None for an undefined tensor, also inside of tuples.
inline std::optional<Tensor> defined_ones(const Tensor& t)
{
    return t.defined() ? std::optional<Tensor>(t) : std::nullopt;
}
template <class... T> auto defined_ones(const std::tuple<T...>& all)
{
    return std::apply([](const T&... each) { return std::tuple(defined_ones(each)...); }, all);
}

// The names of an enumeration: those of Choice, or those that the generated file enum_names.hpp lists.
template <class Enum> auto names_of(Enum value) -> decltype(names_of_choices(value))
{
    return names_of_choices(value);
}
// The value of this name; Error(argument) for another text.
template <class Enum> Enum choice(std::string_view text)
{
    std::string known;
    for (const auto& [name, value] : names_of(Enum{})) {
        if (name == text) return value;
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    detail::no_choice(text, known);
}
template <class Enum> std::string text_of(Enum value)
{
    for (const auto& [name, each] : names_of(Enum{}))
        if (each == value) return std::string(name);
    return {};
}

} // namespace reprise::python

namespace nanobind::detail {

template <> struct type_caster<reprise::python::DeviceName> {
    NB_TYPE_CASTER(reprise::python::DeviceName, make_caster<reprise::Device>::Name + const_name(" | str"))

    bool from_python(handle from, std::uint32_t, cleanup_list*) noexcept
    {
        if (isinstance<reprise::Device>(from)) {
            value = *inst_ptr<reprise::Device>(from);
            return true;
        }
        if (!PyUnicode_Check(from.ptr())) return false;
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(from.ptr(), &size);
        if (!text) {
            PyErr_Clear();
            return false;
        }
        value = std::string(text, static_cast<std::size_t>(size));
        return true;
    }
};

} // namespace nanobind::detail
