// Finds the tensors in the arguments and results of a function.
#pragma once
#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/members.hpp>
#include <reprise/tensor.hpp>

namespace reprise::detail {

template <class T> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;

// Appends the addresses of a value's defined tensors, in order: a tensor's own, and those in lists,
// dictionaries, pairs, tuples, optionals and structures.  Other values (numbers, sizes, text) are ignored.
template <class T> void find_tensors(T& value, std::vector<Tensor*>& out)
{
    if constexpr (std::is_const_v<T>) { // keys of dictionaries
    } else if constexpr (std::derived_from<T, Tensor>) {
        if (value.defined()) out.push_back(&value);
    } else if constexpr (is_optional<T>) {
        if (value) find_tensors(*value, out);
    } else if constexpr (std::ranges::range<T>) {
        for (auto&& item : value) find_tensors(item, out);
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
        std::apply([&](auto&... items) { (find_tensors(items, out), ...); }, value);
    } else if constexpr (std::is_aggregate_v<T>) {
        with_members(value, [&](auto&... members) { (find_tensors(members, out), ...); });
    }
}

} // namespace reprise::detail
