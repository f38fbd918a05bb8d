// Reflection on aggregates: calls functions with the members of a structure.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

namespace reprise::detail {

// Converts to any type, for counting the members of an aggregate.
struct AnyValue {
    template <class T> operator T() const;
};

// Returns the number of members of the aggregate T.
template <class T, class... Values> constexpr std::size_t count_members()
{
    if constexpr (requires { T{std::declval<Values>()..., std::declval<AnyValue>()}; })
        return count_members<T, Values..., AnyValue>();
    else return sizeof...(Values);
}

// Calls f with references to all members of an aggregate, which has at most eight.
template <class T, class F> void with_members(T& value, const F& f)
{
    constexpr std::size_t count = count_members<std::remove_const_t<T>>();
    static_assert(
        count <= 8,
        "A structure may have eight members at most: group some of them in structures of their own.");
    if constexpr (count == 1) {
        auto& [a] = value;
        f(a);
    } else if constexpr (count == 2) {
        auto& [a, b] = value;
        f(a, b);
    } else if constexpr (count == 3) {
        auto& [a, b, c] = value;
        f(a, b, c);
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = value;
        f(a, b, c, d);
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = value;
        f(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, g] = value;
        f(a, b, c, d, e, g);
    } else if constexpr (count == 7) {
        auto& [a, b, c, d, e, g, h] = value;
        f(a, b, c, d, e, g, h);
    } else if constexpr (count == 8) {
        auto& [a, b, c, d, e, g, h, i] = value;
        f(a, b, c, d, e, g, h, i);
    }
}

} // namespace reprise::detail
