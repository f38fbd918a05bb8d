// Checks of what modules are made with.
#pragma once
#include <cstddef>
#include <cstdint>

#include <reprise/error.hpp>
#include <reprise/nn/size.hpp>

namespace reprise::nn {

inline void check_at_least(const char* op, const char* what, std::int64_t value, std::int64_t least)
{
    if (value < least)
        detail::fail(ErrorKind::argument, op, "The ", what, " (", value, ") must be at least ", least, ".");
}

template <std::size_t N>
void check_at_least(const char* op, const char* what, const Sizes<N>& values, std::int64_t least)
{
    for (const std::int64_t value : values) check_at_least(op, what, value, least);
}

} // namespace reprise::nn
