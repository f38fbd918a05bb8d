// Functions shared by the ops over the last one to three dimensions, whose kernels work on [planes, D, H, W].
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise::ops {

inline Shape last_of(const Shape& s, std::size_t n)
{
    return {s.end() - static_cast<std::ptrdiff_t>(n), s.end()};
}

// Returns the shape with its last sizes replaced by these.
inline Shape with_last(Shape s, const Shape& last)
{
    std::copy(last.begin(), last.end(), s.end() - static_cast<std::ptrdiff_t>(last.size()));
    return s;
}

inline Dim planes_of(const Shape& s, std::size_t n)
{
    Dim planes = 1;
    for (std::size_t d = 0; d + n < s.size(); ++d) planes *= s[d];
    return planes;
}

// Prepends `filling` until the list has three entries.
template <class Vector> Vector three(Vector v, const typename Vector::value_type& filling)
{
    v.insert(v.begin(), 3 - v.size(), filling);
    return v;
}
inline std::vector<std::int64_t> three(const std::vector<std::int64_t>& v, int filling)
{
    return three<std::vector<std::int64_t>>(v, filling);
}
inline Shape three_sizes(const Shape& s, std::size_t n) { return three<Shape>(last_of(s, n), 1); }

} // namespace reprise::ops
