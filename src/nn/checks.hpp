// Checks that several modules share.
#pragma once
#include <cstddef>
#include <cstdint>

#include <reprise/error.hpp>
#include <reprise/nn/size.hpp>
#include <reprise/program.hpp>

namespace reprise::nn {

inline void check_at_least(const char* op, const char* what, std::int64_t value, std::int64_t min_value)
{
    if (value < min_value)
        detail::fail(ErrorKind::argument, op, "The ", what, " (", value, ") must be at least ", min_value,
                     ".");
}

template <std::size_t N>
void check_at_least(const char* op, const char* what, const Sizes<N>& values, std::int64_t min_value)
{
    for (const std::int64_t value : values) check_at_least(op, what, value, min_value);
}

// Throws Error(state) with the sentence "`what` while a program is recorded" if one is.
inline void check_not_recording(const char* op, const char* what)
{
    if (is_recording())
        detail::fail(ErrorKind::state, op, what, " while a program is recorded: do it before.");
}

} // namespace reprise::nn
