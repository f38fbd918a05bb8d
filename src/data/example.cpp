#include <algorithm>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>

#include <reprise/data/example.hpp>
#include <reprise/ops/creation.hpp>

namespace reprise::data {

using detail::fail;

namespace {

std::string text_of(const std::vector<std::int64_t>& sizes)
{
    std::string out = "[";
    for (std::size_t i = 0; i < sizes.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
    return out + "]";
}

// Calls f(T{}) with the C++ type T as which values of the dtype are read.
template <class F> void with_type(DType dtype, F f)
{
    switch (dtype) {
    case DType::f64: return f(double{});
    case DType::i64: return f(std::int64_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::i16: return f(std::int16_t{});
    case DType::i8: return f(std::int8_t{});
    case DType::u8: return f(std::uint8_t{});
    case DType::boolean: return f(bool{});
    case DType::f32:
    case DType::f16:
    case DType::bf16: return f(float{});
    }
}

} // namespace

Array::Array(DType dtype, std::vector<std::int64_t> sizes)
    : defined_(true), dtype_(dtype), sizes_(std::move(sizes))
{
    constexpr std::int64_t max_bytes = std::int64_t{1} << 40;
    std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
    for (const std::int64_t size : sizes_) {
        if (size < 0 || (size > 0 && bytes > max_bytes / size))
            fail(ErrorKind::argument, "Array", "The sizes (", text_of(sizes_),
                 ") must be at least 0, of at most 2^40 bytes.");
        bytes *= size;
    }
    bytes_.resize(static_cast<std::size_t>(bytes));
}

Array::Array(const Tensor& tensor)
{
    if (!tensor.defined()) return;
    with_type(tensor.dtype(), [&]<class T>(T) {
        const std::vector<T> values = tensor.to_vector<T>();
        std::vector<std::int64_t> sizes;
        for (const Dim& d : tensor.shape()) sizes.push_back(d.value());
        *this = Array(DTypeOf<T>::value, std::move(sizes));
        if constexpr (std::is_same_v<T, bool>) // std::vector<bool> stores no array of bool
            std::transform(values.begin(), values.end(), bytes_.begin(), [](bool v) { return std::byte{v}; });
        else assign(values.data(), values.size());
    });
}

void Array::assign(const void* values, std::size_t count)
{
    if (count != bytes_.size() / size_of(dtype_))
        fail(ErrorKind::argument, "Array", "The sizes (", text_of(sizes_), ") take ",
             bytes_.size() / size_of(dtype_), " values, not (", count, ").");
    if (count > 0) std::memcpy(bytes_.data(), values, bytes_.size());
}

void Array::check_type(DType dtype) const
{
    if (!defined_) fail(ErrorKind::argument, "Array", "The array is undefined, so it has no values.");
    if (dtype != dtype_)
        fail(ErrorKind::argument, "Array", "The array's dtype (", name_of(dtype_),
             ") is not that of the requested values (", name_of(dtype), ").");
}

std::int64_t Array::numel() const noexcept
{
    return static_cast<std::int64_t>(bytes_.size() / size_of(dtype_));
}

std::int64_t Array::size(std::int64_t dim) const
{
    const std::int64_t dims = this->dim(), at = dim < 0 ? dim + dims : dim;
    if (at < 0 || at >= dims)
        fail(ErrorKind::argument, "size", "The dimension (", dim, ") is not one of an array of sizes (",
             text_of(sizes_), ").");
    return sizes_[static_cast<std::size_t>(at)];
}

std::ostream& operator<<(std::ostream& out, const Array::Sizes& sizes) { return out << text_of(sizes); }

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << array.to_tensor(); }

Array Array::row(std::int64_t i) const
{
    if (sizes_.empty() || i < 0 || i >= sizes_[0])
        fail(ErrorKind::argument, "Array", "The row (", i, ") is not one of an array of sizes (",
             text_of(sizes_), ").");
    Array out(dtype_, std::vector<std::int64_t>(sizes_.begin() + 1, sizes_.end()));
    if (!out.bytes_.empty())
        std::memcpy(out.bytes_.data(), bytes_.data() + static_cast<std::size_t>(i) * out.bytes_.size(),
                    out.bytes_.size());
    return out;
}

Scalar Array::item() const
{
    if (numel() != 1)
        fail(ErrorKind::argument, "item", "The array of sizes (", text_of(sizes_), ") has (", numel(),
             ") elements, but item() is for one.");
    if (dtype_ == f16 || dtype_ == bf16) return to_tensor().item();
    Scalar out;
    with_type(dtype_, [&]<class T>(T value) {
        std::memcpy(&value, bytes_.data(), sizeof value);
        out = Scalar(value);
    });
    return out;
}

Tensor Array::to_tensor(const std::optional<Device>& device) const
{
    if (!defined_) return {};
    Shape shape;
    for (const std::int64_t size : sizes_) shape.push_back(Dim(size));
    return from_bytes(bytes_, shape, {.dtype = dtype_, .device = device});
}

namespace {

Array stack_arrays(const std::vector<Example<>>& examples, Array Example<>::*part, const char* name)
{
    const Array& first = examples.front().*part;
    for (std::size_t i = 1; i < examples.size(); ++i) {
        const Array& a = examples[i].*part;
        if (a.defined() != first.defined())
            fail(ErrorKind::argument, "stack", "The ", name, " of example (", i, ") of a batch is ",
                 a.defined() ? "defined" : "undefined", ", that of the first is not: give all or none.");
        if (a.dtype() != first.dtype() || a.sizes() != first.sizes())
            fail(ErrorKind::argument, "stack", "The ", name, " of example (", i, ") of a batch is ",
                 name_of(a.dtype()), " ", text_of(a.sizes()), ", that of the first ", name_of(first.dtype()),
                 " ", text_of(first.sizes()),
                 ": make them equal in the data set or a transform, or give the loader a collate function.");
    }
    if (!first.defined()) return {};
    std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(examples.size())};
    sizes.insert(sizes.end(), first.sizes().begin(), first.sizes().end());
    Array out(first.dtype(), std::move(sizes));
    auto to = out.bytes().begin();
    for (const Example<>& e : examples)
        to = std::copy((e.*part).bytes().begin(), (e.*part).bytes().end(), to);
    return out;
}

} // namespace

Example<> stack(const std::vector<Example<>>& examples)
{
    if (examples.empty()) fail(ErrorKind::argument, "stack", "There is no example to make a batch of.");
    return {stack_arrays(examples, &Example<>::data, "data"),
            stack_arrays(examples, &Example<>::target, "target")};
}

// SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t Random::next()
{
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Rejection sampling: numbers of the last, incomplete interval of length n are drawn again.
std::uint64_t Random::below(std::uint64_t n)
{
    const std::uint64_t surplus = (std::numeric_limits<std::uint64_t>::max() % n + 1) % n; // 2^64 mod n
    for (;;) {
        const std::uint64_t z = next();
        if (z <= std::numeric_limits<std::uint64_t>::max() - surplus) return z % n;
    }
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

} // namespace reprise::data
