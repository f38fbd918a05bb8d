#include <algorithm>
#include <concepts>
#include <cstring>
#include <type_traits>

#include <reprise/distributed/collectives.hpp>
#include <reprise/error.hpp>

#include "distributed/world_state.hpp"

namespace reprise::distributed {

namespace {

// The type in which sums and products of whole numbers wrap around, as on devices.
template <class T> struct Wrapping {
    using type = std::common_type_t<unsigned, std::make_unsigned_t<T>>;
};
template <std::floating_point T> struct Wrapping<T> {
    using type = T;
};

template <class T> T combined(ReduceOp r, T a, T b)
{
    using U = typename Wrapping<T>::type;
    switch (r) {
    case ReduceOp::min: return b < a || b != b ? b : a; // NaN wins
    case ReduceOp::max: return b > a || b != b ? b : a;
    case ReduceOp::product: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case ReduceOp::sum:
    case ReduceOp::mean: break;
    }
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}

constexpr std::size_t block = 1024; // elements that stay in the cache

// Reduces elements that are stored as S and computed as T.
template <class S, class T, class Load, class Store>
void reduce_as(ReduceOp r, const std::vector<const std::byte*>& parts, std::byte* into, std::size_t count,
               const Load& load, const Store& store)
{
    T sums[block];
    S stored[block];
    for (std::size_t at = 0; at < count; at += block) {
        const std::size_t n = std::min(block, count - at);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            std::memcpy(stored, parts[p] + at * sizeof(S), n * sizeof(S));
            if (p == 0)
                for (std::size_t i = 0; i < n; ++i) sums[i] = load(stored[i]);
            else if (r == ReduceOp::sum || r == ReduceOp::mean)
                for (std::size_t i = 0; i < n; ++i)
                    sums[i] = combined(ReduceOp::sum, sums[i], load(stored[i]));
            else
                for (std::size_t i = 0; i < n; ++i) sums[i] = combined(r, sums[i], load(stored[i]));
        }
        for (std::size_t i = 0; i < n; ++i) stored[i] = store(sums[i]);
        std::memcpy(into + at * sizeof(S), stored, n * sizeof(S));
    }
}

template <class T>
void reduce_plain(ReduceOp r, const std::vector<const std::byte*>& parts, std::byte* into, std::size_t count)
{
    reduce_as<T, T>(
        r, parts, into, count, [](T v) { return v; }, [](T v) { return v; });
}

} // namespace

void reduce(DType dtype, int reduction, const std::vector<const std::byte*>& parts, std::byte* into,
            std::size_t count)
{
    const auto r = static_cast<ReduceOp>(reduction);
    switch (dtype) {
    case DType::f32: return reduce_plain<float>(r, parts, into, count);
    case DType::f64: return reduce_plain<double>(r, parts, into, count);
    case DType::f16:
        return reduce_as<std::uint16_t, float>(r, parts, into, count, ops::from_f16, ops::to_f16);
    case DType::bf16:
        return reduce_as<std::uint16_t, float>(r, parts, into, count, ops::from_bf16, ops::to_bf16);
    case DType::i64: return reduce_plain<std::int64_t>(r, parts, into, count);
    case DType::i32: return reduce_plain<std::int32_t>(r, parts, into, count);
    case DType::i16: return reduce_plain<std::int16_t>(r, parts, into, count);
    case DType::i8: return reduce_plain<std::int8_t>(r, parts, into, count);
    case DType::u8: return reduce_plain<std::uint8_t>(r, parts, into, count);
    case DType::boolean: break;
    }
    detail::fail(ErrorKind::internal, "reduce", "There is no reduction of ", name_of(dtype), ".");
}

} // namespace reprise::distributed
