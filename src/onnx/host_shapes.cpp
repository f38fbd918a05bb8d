// Moving integers of the host: what graphs do with shapes.
#include <algorithm>

#include "onnx/host.hpp"

namespace reprise::onnx {

namespace {

using Numbers = std::vector<std::int64_t>;

bool is_list(const Integers& x) { return x.shape.size() == 1; }

std::optional<Value> with_shape(const Call& call, Numbers shape)
{
    return Value({std::move(shape), call.value(0).integers()->values}, call.type(0));
}

} // namespace

std::optional<Value> host_identity(const Call& call) { return call.value(0); }

std::optional<Value> host_gather(const Call& call)
{
    const Integers &x = *call.value(0).integers(), &index = *call.value(1).integers();
    if (!is_list(x) || !index.constant()) return std::nullopt;
    Integers out{index.shape, {}};
    const auto size = static_cast<std::int64_t>(x.values.size());
    for (const std::int64_t i : index.numbers()) {
        if (i < -size || i >= size) call.fail("The index (", i, ") is not in a list of (", size, ").");
        out.values.push_back(x.values[static_cast<std::size_t>(i < 0 ? i + size : i)]);
    }
    return Value(std::move(out), call.type(0));
}

std::optional<Value> host_concat(const Call& call)
{
    Integers out;
    for (std::size_t k = 0; k < call.inputs(); ++k) {
        const Integers& x = *call.value(k).integers();
        if (!is_list(x)) return std::nullopt;
        out.values.insert(out.values.end(), x.values.begin(), x.values.end());
    }
    out.shape = {static_cast<std::int64_t>(out.values.size())};
    return Value(std::move(out), call.type(0));
}

std::optional<Value> host_slice(const Call& call)
{
    const Integers& x = *call.value(0).integers();
    for (std::size_t k = 1; k < call.inputs(); ++k)
        if (call.has(k) && !call.value(k).integers()->constant()) return std::nullopt;
    const auto starts = call.integers_or_list(1, "starts"), ends = call.integers_or_list(2, "ends");
    if (!is_list(x) || !starts || !ends || starts->size() != 1 || ends->size() != 1) return std::nullopt;
    const std::int64_t step = call.has(4) ? call.integers(4).at(0) : 1;
    const auto size = static_cast<std::int64_t>(x.values.size());
    if (step == 0) call.fail("The step of a slice is (0).");
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto clamped = [&](std::int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
    const std::int64_t start = clamped((*starts)[0]);
    const std::int64_t end = (*ends)[0] < -size ? low : clamped((*ends)[0]);
    Integers out;
    for (std::int64_t i = start; step > 0 ? i < end : i > end; i += std::clamp(step, -size - 1, size + 1))
        out.values.push_back(x.values[static_cast<std::size_t>(i)]);
    out.shape = {static_cast<std::int64_t>(out.values.size())};
    return Value(std::move(out), call.type(0));
}

std::optional<Value> host_squeeze(const Call& call)
{
    const Integers& x = *call.value(0).integers();
    if (x.shape.size() > 1 || x.values.size() != 1) return std::nullopt;
    return with_shape(call, {});
}

std::optional<Value> host_unsqueeze(const Call& call)
{
    const Integers& x = *call.value(0).integers();
    const auto axes = call.integers_or_list(1, "axes");
    if (!x.shape.empty() || !axes || axes->size() != 1) return std::nullopt;
    return with_shape(call, {1});
}

std::optional<Value> host_reshape(const Call& call)
{
    const Integers &x = *call.value(0).integers(), &shape = *call.value(1).integers();
    if (!shape.constant()) return std::nullopt;
    const auto count = static_cast<std::int64_t>(x.values.size());
    const Numbers to = shape.numbers();
    if (to.empty() && count == 1) return with_shape(call, {});
    if (to.size() == 1 && (to[0] == -1 || to[0] == count)) return with_shape(call, {count});
    return std::nullopt;
}

std::optional<Value> host_constant_of_shape(const Call& call)
{
    constexpr std::int64_t most = 1024;
    const Integers& shape = *call.value(0).integers();
    const auto* attribute = call.attribute("value");
    if (!shape.constant() || shape.values.size() != 1 || !attribute || !attribute->has_t())
        return std::nullopt;
    const Value value(decode_tensor(attribute->t(), {}));
    const std::int64_t count = shape.values[0].value();
    if (!value.integers() || value.integers()->values.size() != 1 || count < 0 || count > most)
        return std::nullopt;
    const std::vector<Dim> all(static_cast<std::size_t>(count), value.integers()->values[0]);
    return Value({{count}, all}, value.type());
}

std::optional<Value> host_cast(const Call& call)
{
    const ElementType* to = find_element_type(static_cast<int>(call.integer("to")));
    if (!to || !to->native || (to->held != i64 && to->held != i32 && to->held != boolean))
        return std::nullopt;
    Integers x = *call.value(0).integers();
    if (to->held == boolean)
        for (Dim& value : x.values) {
            if (!value.is_constant()) return std::nullopt;
            value = value.value() != 0 ? 1 : 0;
        }
    for (const Dim& value : x.values)
        if (!fits(*to, value)) return std::nullopt;
    return Value(std::move(x), *to);
}

} // namespace reprise::onnx
