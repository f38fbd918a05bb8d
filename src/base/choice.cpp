#include <reprise/choice.hpp>

namespace reprise::detail {

void no_choice(std::string_view text, const std::string& names)
{
    fail(ErrorKind::argument, "choice", "The name (", text, ") is none of (", names, ").");
}

} // namespace reprise::detail
