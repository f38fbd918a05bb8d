#include <ostream>

#include <reprise/error.hpp>
#include <reprise/scalar.hpp>

namespace reprise {

void detail::no_place(double value, bool is_signed, std::size_t bytes)
{
    fail(ErrorKind::argument, "item", "The number (", value, ") has no place in ",
         is_signed ? "a signed" : "an unsigned", " integer of (", 8 * bytes,
         ") bits: read it as another type.");
}

std::ostream& operator<<(std::ostream& out, const Scalar& s)
{
    return s.isFloatingPoint() ? out << s.toDouble() : out << s.toLong();
}

} // namespace reprise
