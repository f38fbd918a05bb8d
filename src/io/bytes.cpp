// A tensor's elements as they stand in files.
#include <algorithm>
#include <bit>
#include <cstring>

#include <reprise/io.hpp>

namespace reprise {

namespace {

template <class T> std::vector<std::byte> raw(const Tensor& tensor)
{
    const std::vector<T> values = tensor.to_vector<T>();
    std::vector<std::byte> out(values.size() * sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
    return out;
}

// f16 and bf16 are read as floats, which hold each of their values; so these conversions are exact.
std::uint16_t to_f16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x7f800000) { // infinity or NaN; a NaN's high bits are kept
        const std::uint32_t payload = magnitude & 0x7fffff;
        const std::uint32_t mantissa = payload == 0 ? 0 : std::max(payload >> 13, 1u);
        return static_cast<std::uint16_t>(sign | 0x7c00 | mantissa);
    }
    if (magnitude < 0x38800000) { // below 2^-14, f16's subnormals: multiples of 2^-24
        const float scaled = std::bit_cast<float>(magnitude) * 16777216.0f;
        return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(scaled));
    }
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000) >> 13));
}

std::uint16_t to_bf16(float value)
{
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

template <class F> std::vector<std::byte> narrowed(const Tensor& tensor, F convert)
{
    const std::vector<float> values = tensor.to_vector<float>();
    std::vector<std::byte> out(values.size() * sizeof(std::uint16_t));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t bits = convert(values[i]);
        std::memcpy(out.data() + i * sizeof(bits), &bits, sizeof(bits));
    }
    return out;
}

} // namespace

std::vector<std::byte> to_bytes(const Tensor& tensor)
{
    switch (tensor.dtype()) {
    case DType::f32: return raw<float>(tensor);
    case DType::f64: return raw<double>(tensor);
    case DType::i64: return raw<std::int64_t>(tensor);
    case DType::i32: return raw<std::int32_t>(tensor);
    case DType::i16: return raw<std::int16_t>(tensor);
    case DType::i8: return raw<std::int8_t>(tensor);
    case DType::u8: return raw<std::uint8_t>(tensor);
    case DType::f16: return narrowed(tensor, to_f16);
    case DType::bf16: return narrowed(tensor, to_bf16);
    case DType::boolean: break;
    }
    std::vector<std::byte> out;
    for (const bool value : tensor.to_vector<bool>()) out.push_back(static_cast<std::byte>(value));
    return out;
}

} // namespace reprise
