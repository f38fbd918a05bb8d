#include <reprise/nn/parameters.hpp>

#include <reprise/error.hpp>

namespace reprise::nn {

Variable ParameterList::operator[](std::int64_t index) const
{
    const auto count = static_cast<std::int64_t>(items_.size());
    if (index < -count || index >= count)
        detail::fail(ErrorKind::argument, "ParameterList", "There is no place (", index, ") in a list of (",
                     count, ") parameters.");
    return items_[static_cast<std::size_t>(index < 0 ? index + count : index)];
}

} // namespace reprise::nn
