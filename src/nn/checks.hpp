// Checks of what modules are made with.
#pragma once
#include <cstdint>

#include <reprise/error.hpp>
#include <reprise/nn/size.hpp>

namespace reprise::nn {

inline void check_at_least(const char* op, const char* what, std::int64_t value, std::int64_t least)
{
    if (value < least)
        detail::fail(ErrorKind::argument, op, "The ", what, " (", value, ") must be at least ", least, ".");
}

inline void check_at_least(const char* op, const char* what, Size2d value, std::int64_t least)
{
    check_at_least(op, what, value.height, least);
    check_at_least(op, what, value.width, least);
}

} // namespace reprise::nn
