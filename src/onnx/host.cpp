#include "onnx/host.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "shape/checked.hpp"

namespace reprise::onnx {

namespace {

// More integers than this are computed as tensors.
constexpr std::int64_t most_integers = 4096;

using Numbers = std::vector<std::int64_t>;
using shape::add_overflows;
using shape::multiply_overflows;
using shape::subtract_overflows;
using Binary = std::function<std::optional<Dim>(const Dim&, const Dim&)>;

std::int64_t count(const Numbers& shape)
{
    std::int64_t n = 1;
    for (const std::int64_t size : shape) n *= size;
    return n;
}

// The shape to which two shapes broadcast; nullopt where they do not, or where it is large.
std::optional<Numbers> broadcast(const Numbers& a, const Numbers& b)
{
    const std::size_t rank = std::max(a.size(), b.size());
    Numbers out(rank, 1);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                           y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return std::nullopt;
        out[rank - 1 - i] = x == 1 ? y : x;
        if (out[rank - 1 - i] > most_integers) return std::nullopt;
    }
    if (rank > 8 || count(out) > most_integers) return std::nullopt;
    return out;
}

// The element of a list that broadcasts to `shape` at a position in that shape.
const Dim& element_at(const Integers& from, const Numbers& shape, std::int64_t position)
{
    std::int64_t at = 0, step = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::int64_t size = shape[shape.size() - 1 - i];
        const std::int64_t index = position % size;
        position /= size;
        if (i >= from.shape.size()) continue;
        const std::int64_t own = from.shape[from.shape.size() - 1 - i];
        at += (own == 1 ? 0 : index) * step;
        step *= own;
    }
    return from.values[static_cast<std::size_t>(at)];
}

std::optional<Value> elementwise(const Call& call, const ElementType& type, const Binary& f)
{
    Integers result = *call.value(0).integers();
    for (std::size_t k = 1; k < call.inputs(); ++k) {
        const Integers& b = *call.value(k).integers();
        const auto shape = broadcast(result.shape, b.shape);
        if (!shape) return std::nullopt;
        Integers next{*shape, {}};
        for (std::int64_t i = 0; i < count(*shape); ++i) {
            const auto value = f(element_at(result, *shape, i), element_at(b, *shape, i));
            if (!value) return std::nullopt;
            next.values.push_back(*value);
        }
        result = std::move(next);
    }
    return Value(std::move(result), type);
}

// Arithmetic is for the types of sizes; others wrap around or are rare.
bool of_sizes(const Call& call)
{
    const DType held = call.type(0).held;
    return call.type(0).native && (held == i64 || held == i32);
}

using Overflows = bool (*)(std::int64_t, std::int64_t, std::int64_t&);

// A result; nullopt where it is a number that the type can't hold, so that it has to wrap around.
template <class F> std::optional<Dim> combined(const ElementType& type, const Dim& a, const Dim& b,
                                               Overflows overflows, const F& f)
{
    if (!a.is_constant() || !b.is_constant()) return f(a, b);
    std::int64_t result = 0;
    if (overflows(a.value(), b.value(), result) || !fits(type, Dim(result))) return std::nullopt;
    return Dim(result);
}

std::optional<Value> arithmetic(const Call& call, Overflows overflows, Dim (*f)(const Dim&, const Dim&))
{
    if (!of_sizes(call)) return std::nullopt;
    const ElementType& type = call.type(0);
    return elementwise(call, type,
                       [&](const Dim& a, const Dim& b) { return combined(type, a, b, overflows, f); });
}

// Whether a < b for all values of the symbols; nullopt where that can't be decided.
std::optional<bool> less(const Dim& a, const Dim& b)
{
    if (a.is_constant() && b.is_constant()) return a.value() < b.value();
    const Dim difference = b - a;
    if (difference.at_least(1)) return true;
    if (difference.at_most(0)) return false;
    return std::nullopt;
}

std::optional<bool> equals(const Dim& a, const Dim& b)
{
    if (same(a, b)) return true;
    const auto below = less(a, b), above = less(b, a);
    if ((below && *below) || (above && *above)) return false;
    if (below && above) return true;
    return std::nullopt;
}

std::optional<Value> compare(const Call& call,
                             const std::function<std::optional<bool>(const Dim&, const Dim&)>& f)
{
    return elementwise(call, element_type_of(boolean), [&](const Dim& a, const Dim& b) -> std::optional<Dim> {
        const auto result = f(a, b);
        if (!result) return std::nullopt;
        return Dim(*result ? 1 : 0);
    });
}

std::optional<bool> inverse(std::optional<bool> value)
{
    if (value) value = !*value;
    return value;
}

std::optional<Value> reduce(const Call& call, Dim start, Overflows overflows,
                            Dim (*f)(const Dim&, const Dim&))
{
    const Integers& x = *call.value(0).integers();
    if (!of_sizes(call) || x.shape.size() != 1) return std::nullopt;
    if (call.has(1) && !call.value(1).integers()->constant()) return std::nullopt;
    const Numbers axes = call.integers_or_list(1, "axes").value_or(Numbers());
    if (axes.empty() && call.flag("noop_with_empty_axes")) return call.value(0);
    if (!axes.empty() && axes != Numbers{0} && axes != Numbers{-1}) return std::nullopt;
    for (const Dim& value : x.values) {
        const auto next = combined(call.type(0), start, value, overflows, f);
        if (!next) return std::nullopt;
        start = *next;
    }
    return Value({call.flag("keepdims", true) ? Numbers{1} : Numbers{}, {start}}, call.type(0));
}

// Quotients round toward zero; known where neither number is negative.
std::optional<Dim> quotient(const Dim& a, const Dim& b)
{
    if (a.is_constant() && b.is_constant() && b.value() != 0) {
        if (b.value() == -1 && a.value() == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
        return Dim(a.value() / b.value());
    }
    if (!a.at_least(0) || !b.at_least(0) || (b.is_constant() && b.value() == 0)) return std::nullopt;
    return floor_div(a, b);
}

} // namespace

bool fits(const ElementType& type, const Dim& value)
{
    return type.held != i32 || !value.is_constant() ||
           (value.value() >= std::numeric_limits<std::int32_t>::min() &&
            value.value() <= std::numeric_limits<std::int32_t>::max());
}

std::optional<Value> host_add(const Call& call)
{
    return arithmetic(call, add_overflows, [](const Dim& a, const Dim& b) { return a + b; });
}

std::optional<Value> host_sub(const Call& call)
{
    return arithmetic(call, subtract_overflows, [](const Dim& a, const Dim& b) { return a - b; });
}

std::optional<Value> host_mul(const Call& call)
{
    return arithmetic(call, multiply_overflows, [](const Dim& a, const Dim& b) { return a * b; });
}

std::optional<Value> host_min(const Call& call)
{
    if (!of_sizes(call)) return std::nullopt;
    return elementwise(call, call.type(0),
                       [](const Dim& a, const Dim& b) { return std::optional(min(a, b)); });
}

std::optional<Value> host_max(const Call& call)
{
    if (!of_sizes(call)) return std::nullopt;
    return elementwise(call, call.type(0),
                       [](const Dim& a, const Dim& b) { return std::optional(max(a, b)); });
}

std::optional<Value> host_div(const Call& call)
{
    if (!of_sizes(call)) return std::nullopt;
    return elementwise(call, call.type(0), quotient);
}

std::optional<Value> host_mod(const Call& call)
{
    if (!of_sizes(call) || call.flag("fmod")) return std::nullopt;
    return elementwise(call, call.type(0), [](const Dim& a, const Dim& b) -> std::optional<Dim> {
        if (!b.at_least(1)) return std::nullopt;
        return mod(a, b);
    });
}

std::optional<Value> host_neg(const Call& call)
{
    if (!of_sizes(call)) return std::nullopt;
    Integers x = *call.value(0).integers();
    for (Dim& value : x.values) {
        const auto opposite =
            combined(call.type(0), 0, value, subtract_overflows, [](const Dim&, const Dim& b) { return -b; });
        if (!opposite) return std::nullopt;
        value = *opposite;
    }
    return Value(std::move(x), call.type(0));
}

std::optional<Value> host_equal(const Call& call) { return compare(call, equals); }

std::optional<Value> host_less(const Call& call) { return compare(call, less); }

std::optional<Value> host_greater(const Call& call)
{
    return compare(call, [](const Dim& a, const Dim& b) { return less(b, a); });
}

std::optional<Value> host_less_or_equal(const Call& call)
{
    return compare(call, [](const Dim& a, const Dim& b) { return inverse(less(b, a)); });
}

std::optional<Value> host_greater_or_equal(const Call& call)
{
    return compare(call, [](const Dim& a, const Dim& b) { return inverse(less(a, b)); });
}

std::optional<Value> host_and(const Call& call)
{
    return elementwise(call, element_type_of(boolean),
                       [](const Dim& a, const Dim& b) { return std::optional(min(a, b)); });
}

std::optional<Value> host_or(const Call& call)
{
    return elementwise(call, element_type_of(boolean),
                       [](const Dim& a, const Dim& b) { return std::optional(max(a, b)); });
}

std::optional<Value> host_not(const Call& call)
{
    Integers x = *call.value(0).integers();
    for (Dim& value : x.values) value = 1 - value;
    return Value(std::move(x), element_type_of(boolean));
}

std::optional<Value> host_where(const Call& call)
{
    const Integers &condition = *call.value(0).integers(), &a = *call.value(1).integers();
    const Integers& b = *call.value(2).integers();
    auto shape = broadcast(condition.shape, a.shape);
    if (shape) shape = broadcast(*shape, b.shape);
    if (!shape || !condition.constant()) return std::nullopt;
    Integers out{*shape, {}};
    for (std::int64_t i = 0; i < count(*shape); ++i)
        out.values.push_back(element_at(element_at(condition, *shape, i).value() ? a : b, *shape, i));
    return Value(std::move(out), call.type(1));
}

std::optional<Value> host_reduce_prod(const Call& call)
{
    return reduce(call, 1, multiply_overflows, [](const Dim& a, const Dim& b) { return a * b; });
}

std::optional<Value> host_reduce_sum(const Call& call)
{
    return reduce(call, 0, add_overflows, [](const Dim& a, const Dim& b) { return a + b; });
}

std::optional<Value> host_expand(const Call& call)
{
    const Integers &x = *call.value(0).integers(), &target = *call.value(1).integers();
    if (!target.constant()) return std::nullopt;
    const auto shape = broadcast(x.shape, target.numbers());
    if (!shape) return std::nullopt;
    Integers out{*shape, {}};
    for (std::int64_t i = 0; i < count(*shape); ++i) out.values.push_back(element_at(x, *shape, i));
    return Value(std::move(out), call.type(0));
}

std::optional<Value> host_range(const Call& call)
{
    if (!of_sizes(call)) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i)
        if (!call.value(i).integers()->constant() || call.value(i).integers()->values.size() != 1)
            return std::nullopt;
    const std::int64_t start = call.integers(0)[0], limit = call.integers(1)[0];
    const std::int64_t delta = std::clamp(call.integers(2)[0], -4 * most_integers, 4 * most_integers);
    if (delta == 0 || start < -most_integers || start > most_integers || limit < -most_integers ||
        limit > most_integers)
        return std::nullopt;
    Integers out;
    for (std::int64_t i = start; delta > 0 ? i < limit : i > limit; i += delta) out.values.emplace_back(i);
    out.shape = {static_cast<std::int64_t>(out.values.size())};
    return Value(std::move(out), call.type(0));
}

} // namespace reprise::onnx
