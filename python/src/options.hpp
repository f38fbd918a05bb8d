// The options that a layer of the library was made with, as its attributes, and its members that can be replaced.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

#include <nanobind/stl/variant.h>

#include <reprise/nn/module.hpp>
#include <reprise/ops/window_sizes.hpp>

#include "binding.hpp"

namespace reprise::python {

using SizesTuple = nb::typed<nb::tuple, std::int64_t, nb::ellipsis>;

// The class of a layer and its options, of which another one can be made.
nb::object recipe_of(const nn::Module& layer);

// The value of an option in Python: tuples of sizes, and the recipes of layers.
template <class T> struct OptionValue {
    using Type = T;
    static nb::object of(const T& value)
    {
        if constexpr (std::derived_from<T, nn::Module>) return recipe_of(value);
        else return nb::cast(value);
    }
};
template <std::size_t N> struct OptionValue<WindowSizes<N>> {
    using Type = SizesTuple;
    static nb::object of(const WindowSizes<N>& sizes)
    {
        return nb::steal(tuple_of(N, [&](std::size_t i) { return PyLong_FromLongLong(sizes[i]); }));
    }
};
template <std::size_t N> struct OptionValue<WindowPadding<N>> {
    using Type = std::variant<SizesTuple, std::string>;
    static nb::object of(const WindowPadding<N>& padding)
    {
        return padding.is_same() ? nb::str("same") : OptionValue<WindowSizes<N>>::of(padding);
    }
};
template <class T> nb::object option_value(const T& value) { return OptionValue<T>::of(value); }

// Keeps the options of a layer that was just made, for its attributes and for copies.
using Options = std::initializer_list<std::pair<const char*, nb::object>>;
void keep_options(const nn::Module& layer, const Options&);

// The option of this name; AttributeError where the layer was not made by Python.
nb::object option_named(nb::handle layer, const char* name);
template <class T> auto option(nb::handle layer, const char* name)
{
    return nb::borrow<nb::typed<nb::object, typename OptionValue<T>::Type>>(option_named(layer, name));
}

// Puts another parameter or buffer in place of a layer's member of this name.  The layer then shares it.
void replace_member(nn::Module& layer, const char* name, Variable& member, nb::handle value);

} // namespace reprise::python
