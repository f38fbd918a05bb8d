#include "ops/reference.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/vocabulary.hpp"

namespace reprise::ops {

namespace {
template <class T> T load(const std::byte* p)
{
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class T> void store(std::byte* p, T v) { std::memcpy(p, &v, sizeof v); }

// Rounds toward zero and saturates; NaN gives 0.  Kernels convert the same way.
template <class T> T to_integer(double v)
{
    if (std::isnan(v)) return 0;
    const double lo = static_cast<double>(std::numeric_limits<T>::min()),
                 hi = static_cast<double>(std::numeric_limits<T>::max());
    if (v <= lo) return std::numeric_limits<T>::min();
    if (v >= hi) return std::numeric_limits<T>::max();
    return static_cast<T>(v);
}
} // namespace

std::uint16_t to_f16(float v) { return static_cast<std::uint16_t>(native::rp_to_f16(v)); }
float from_f16(std::uint16_t v) { return native::rp_from_f16(v); }
std::uint16_t to_bf16(float v) { return static_cast<std::uint16_t>(native::rp_to_bf16(v)); }
float from_bf16(std::uint16_t v) { return native::rp_from_bf16(v); }

double rounded_to(DType dtype, double v)
{
    switch (dtype) {
    case DType::f64: return v;
    case DType::f32: return static_cast<double>(static_cast<float>(v));
    case DType::f16: return static_cast<double>(from_f16(to_f16(static_cast<float>(v))));
    case DType::bf16: return static_cast<double>(from_bf16(to_bf16(static_cast<float>(v))));
    case DType::boolean: return v != 0 ? 1 : 0;
    case DType::i64:
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::u8: return std::trunc(v);
    }
    return v;
}

DimVector bits_of(DType dtype, double value)
{
    std::array<std::uint32_t, 2> words{};
    HostTensor{dtype, reinterpret_cast<std::byte*>(words.data()), {}, {}}.set(0, value);
    if (size_of(dtype) < 8) return {words[0]};
    return {words[0], words[1]};
}

std::int64_t HostTensor::count() const
{
    std::int64_t n = 1;
    for (std::int64_t s : sizes) n *= s;
    return n;
}

std::int64_t HostTensor::offset(std::int64_t index) const
{
    std::int64_t at = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        at += index % sizes[d] * strides[d];
        index /= sizes[d];
    }
    return at;
}

double HostTensor::get(std::int64_t at) const
{
    const std::byte* p = data + at * static_cast<std::int64_t>(size_of(dtype));
    switch (dtype) {
    case DType::f32: return static_cast<double>(load<float>(p));
    case DType::f16: return static_cast<double>(from_f16(load<std::uint16_t>(p)));
    case DType::bf16: return static_cast<double>(from_bf16(load<std::uint16_t>(p)));
    case DType::f64: return load<double>(p);
    case DType::i32: return load<std::int32_t>(p);
    case DType::i64: return static_cast<double>(load<std::int64_t>(p));
    case DType::i16: return load<std::int16_t>(p);
    case DType::i8: return load<std::int8_t>(p);
    case DType::u8: return load<std::uint8_t>(p);
    case DType::boolean: return load<std::uint8_t>(p) != 0;
    }
    return 0;
}

void HostTensor::set(std::int64_t at, double v) const
{
    std::byte* p = data + at * static_cast<std::int64_t>(size_of(dtype));
    switch (dtype) {
    case DType::f32: return store(p, static_cast<float>(v));
    case DType::f16: return store(p, to_f16(static_cast<float>(v)));
    case DType::bf16: return store(p, to_bf16(static_cast<float>(v)));
    case DType::f64: return store(p, v);
    case DType::i32: return store(p, to_integer<std::int32_t>(v));
    case DType::i64: return store(p, to_integer<std::int64_t>(v));
    // These store the low bits.
    case DType::i16: return store(p, static_cast<std::int16_t>(to_integer<std::int32_t>(v)));
    case DType::i8: return store(p, static_cast<std::int8_t>(to_integer<std::int32_t>(v)));
    case DType::u8: return store(p, static_cast<std::uint8_t>(to_integer<std::int32_t>(v)));
    case DType::boolean: return store(p, static_cast<std::uint8_t>(v != 0)); // NaN is true
    }
}

std::int64_t HostTensor::get_whole(std::int64_t at) const
{
    return dtype == DType::i64 ? load<std::int64_t>(data + at * 8) : static_cast<std::int64_t>(get(at));
}

void HostTensor::set_whole(std::int64_t at, std::int64_t v) const
{
    std::byte* p = data + at * static_cast<std::int64_t>(size_of(dtype));
    switch (dtype) {
    case DType::i64: return store(p, v);
    case DType::i32: return store(p, static_cast<std::int32_t>(v));
    case DType::i16: return store(p, static_cast<std::int16_t>(v));
    case DType::i8: return store(p, static_cast<std::int8_t>(v));
    case DType::u8: return store(p, static_cast<std::uint8_t>(v));
    case DType::boolean: return store(p, static_cast<std::uint8_t>(v != 0));
    case DType::f64: return store(p, static_cast<double>(v));
    case DType::f32: return store(p, static_cast<float>(v));
    case DType::f16: return store(p, to_f16(static_cast<float>(v)));
    case DType::bf16: return store(p, to_bf16(static_cast<float>(v)));
    }
}

std::vector<double> HostTensor::values() const
{
    std::vector<double> all;
    for (std::int64_t i = 0, end = count(); i < end; ++i) all.push_back(at(i));
    return all;
}

void HostTensor::copy(std::int64_t at, const HostTensor& from, std::int64_t from_at) const
{
    const std::size_t bytes = size_of(dtype);
    const auto size = static_cast<std::int64_t>(bytes);
    std::memcpy(data + at * size, from.data + from_at * size, bytes);
}

namespace {
// Returns row `number`, counted in row-major order of the other dimensions.
HostTensor row_of(const HostTensor& t, std::size_t dim, std::int64_t number)
{
    std::int64_t at = 0;
    for (std::size_t d = t.sizes.size(); d-- > 0;) {
        if (d == dim) continue;
        at += number % t.sizes[d] * t.strides[d];
        number /= t.sizes[d];
    }
    return {
        t.dtype, t.data + at * static_cast<std::int64_t>(size_of(t.dtype)), {t.sizes[dim]}, {t.strides[dim]}};
}
} // namespace

void for_each_row(const ReferenceArguments& a, const RowVisit& visit)
{
    const auto dim = static_cast<std::size_t>(a.attributes.integer("dim"));
    const std::vector<std::int64_t>& sizes = a.outputs[0].sizes;
    std::int64_t count = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (d != dim) count *= sizes[d];
    for (std::int64_t row = 0; row < count; ++row) {
        std::vector<HostTensor> in, out;
        for (const HostTensor& t : a.inputs) in.push_back(row_of(t, dim, row));
        for (const HostTensor& t : a.outputs) out.push_back(row_of(t, dim, row));
        visit(in, out);
    }
}

} // namespace reprise::ops
