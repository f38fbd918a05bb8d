#include "shape/checked.hpp"

#include <reprise/error.hpp>

namespace reprise::shape {

std::int64_t checked_add(std::int64_t a, std::int64_t b)
{
    std::int64_t sum = 0;
    if (!add_overflows(a, b, sum)) return sum;
    detail::fail(ErrorKind::argument, "size", "The sum of (", a, ") and (", b,
                 ") exceeds 64 bits: use smaller sizes.");
}

std::int64_t checked_subtract(std::int64_t a, std::int64_t b)
{
    std::int64_t difference = 0;
    if (!subtract_overflows(a, b, difference)) return difference;
    detail::fail(ErrorKind::argument, "size", "The difference of (", a, ") and (", b,
                 ") exceeds 64 bits: use smaller sizes.");
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b)
{
    std::int64_t product = 0;
    if (!multiply_overflows(a, b, product)) return product;
    detail::fail(ErrorKind::argument, "size", "The product of (", a, ") and (", b,
                 ") exceeds 64 bits: use smaller sizes.");
}

std::int64_t checked_floor_div(std::int64_t a, std::int64_t b)
{
    if (b == 0) {
        detail::fail(ErrorKind::argument, "size", "(", a, ") is divided by (0): use a divisor other than 0.");
    }
    std::int64_t quotient = 0;
    if (!floor_div_overflows(a, b, quotient)) return quotient;
    detail::fail(ErrorKind::argument, "size", "The quotient of (", a, ") and (", b,
                 ") exceeds 64 bits: use smaller sizes.");
}

} // namespace reprise::shape
