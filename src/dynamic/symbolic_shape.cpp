#include <reprise/dynamic/symbolic_shape.hpp>

#include <algorithm>
#include <map>
#include <ostream>

#include <reprise/error.hpp>

namespace reprise {

std::size_t SymbolicShape::place_of(std::int64_t dim) const
{
    const auto count = static_cast<std::int64_t>(rank());
    if (dim < -count || dim >= count)
        detail::fail(ErrorKind::argument, "SymbolicShape", "There is no dimension (", dim, ") in the shape (",
                     to_string(dims_), "): use one from (", -count, ") to (", count - 1, ").");
    return static_cast<std::size_t>(dim < 0 ? dim + count : dim);
}

Dim SymbolicShape::numel() const
{
    Dim count = 1;
    for (const Dim& size : dims_) count *= size;
    return count;
}

bool SymbolicShape::is_static() const
{
    return std::all_of(dims_.begin(), dims_.end(), [](const Dim& size) { return size.is_constant(); });
}

SymbolicShape SymbolicShape::broadcast(const SymbolicShape& other) const
{
    return broadcast_shapes(dims_, other.dims_);
}

SymbolicShape SymbolicShape::bind(const std::vector<std::pair<Dim, std::int64_t>>& values) const
{
    std::map<std::uint32_t, std::int64_t> by_id;
    for (const auto& [symbol, value] : values) {
        if (value < 0 || !symbol.is_symbol())
            detail::fail(ErrorKind::argument, "bind", "The value (", value, ") is given to (", symbol,
                         "): give one of at least 0 to a symbol alone.");
        const auto [entry, added] = by_id.try_emplace(symbol.symbols()[0], value);
        if (entry->second != value)
            detail::fail(ErrorKind::argument, "bind", "The values (", entry->second, ") and (", value,
                         ") are given to (", symbol, "): give one.");
    }
    Shape bound;
    for (const Dim& size : dims_) {
        bound.emplace_back(size.evaluate([&](std::uint32_t id) {
            const auto found = by_id.find(id);
            return found == by_id.end() ? -1 : found->second;
        }));
        if (bound.back().value() < 0)
            detail::fail(ErrorKind::shape, "bind", "The size (", size, ") of the shape (", to_string(dims_),
                         ") is (", bound.back(), ") for these values: give larger ones.");
    }
    return bound;
}

std::ostream& operator<<(std::ostream& out, const SymbolicShape& shape) { return out << to_string(shape); }

} // namespace reprise
