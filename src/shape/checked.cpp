#include "shape/checked.hpp"

#include <reprise/error.hpp>

namespace reprise::shape {

namespace {

using Overflows = bool(std::int64_t a, std::int64_t b, std::int64_t& result);

// `name` is the result's name in the error.
std::int64_t checked(const char* name, Overflows& overflows, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    if (!overflows(a, b, result)) return result;
    detail::fail(ErrorKind::argument, "size", "The ", name, " of (", a, ") and (", b,
                 ") exceeds 64 bits: use smaller sizes.");
}

} // namespace

std::int64_t checked_add(std::int64_t a, std::int64_t b) { return checked("sum", add_overflows, a, b); }

std::int64_t checked_subtract(std::int64_t a, std::int64_t b)
{
    return checked("difference", subtract_overflows, a, b);
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b)
{
    return checked("product", multiply_overflows, a, b);
}

std::int64_t checked_floor_div(std::int64_t a, std::int64_t b)
{
    if (b == 0) {
        detail::fail(ErrorKind::argument, "size", "(", a, ") is divided by (0): use a divisor other than 0.");
    }
    return checked("quotient", floor_div_overflows, a, b);
}

} // namespace reprise::shape
