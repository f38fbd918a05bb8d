// Conversions between element types.
#include <cmath>

#include "onnx/call.hpp"
#include "onnx/host.hpp"

namespace reprise::onnx {

namespace {

// Converts a tensor, whose numbers are those of the type `from`, to the type `to`.
Tensor converted(const Tensor& x, const ElementType& from, const ElementType& to, bool saturate)
{
    if (to.small) return rounded(x, *to.small, saturate);
    if (to.native && to.held != u8 && to.held != i8 && to.held != i16) return x.to(to.held);
    // Narrow integers wrap around, so they are converted by way of wider ones.
    const Tensor wide = from.is_floating() || from.held != i64 ? x.to(i32) : x;
    if (to.held == i64) return wrapped(from.is_floating() ? x.to(i64) : wide.to(i64), to);
    return wrapped(to.bits < 8 ? wrapped(wide, to).to(to.held) : wide.to(to.held), to);
}

Value cast_to(const Call& call, const ElementType& to)
{
    const ElementType& from = call.type(0);
    return Value(converted(call[0], from, to, call.flag("saturate", true)), &to);
}

Value cast_of(Call& call) { return cast_to(call, call.element_type("to", call.type(0))); }

// The bytes of an element in a file, which are the lowest ones of the integer that holds it.
std::string file_bytes(const Call& call, const ElementType& type)
{
    if (type.small || type.bits < 8)
        call.fail("Elements of the type (", type.name, ") are not held with their bits.");
    const std::vector<std::byte> held = to_bytes(call[0]);
    const std::size_t width = type.bits / 8, step = size_of(type.held);
    std::string bytes;
    for (std::size_t at = 0; at < held.size(); at += step)
        for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(held[at + i]);
    return bytes;
}

// The same bits as another type, by way of the host.
Value bit_cast(Call& call)
{
    const ElementType& from = call.type(0);
    proto::TensorProto tensor;
    tensor.set_data_type(static_cast<int>(call.integer("to")));
    for (const Dim& size : call.shape(0)) tensor.add_dims(size.value());
    tensor.set_raw_data(file_bytes(call, from));
    const std::string why = why_not(tensor);
    if (!why.empty()) call.fail(why, ".");
    return Value(decode_tensor(tensor, {}));
}

Value cast_like(Call& call) { return cast_to(call, call.type(1)); }

const Operator rows[] = {
    {"BitCast", bit_cast, {.limits = "can't be recorded; no types of fewer than 8 bits and no float8"}},
    {"Cast", cast_of, {.on_host = host_cast, .since = 6, .limits = "no strings and no float8e8m0"}},
    {"CastLike", cast_like, {.limits = "no strings and no float8e8m0"}},
};

} // namespace

Operators cast_operators() { return rows; }

} // namespace reprise::onnx
