// Examples in host memory: what data sets give, transforms change and loaders put together, on any thread.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::data {

// The element type that a number of C++ gets as an array.
template <class T> struct HeldAs {
    using Type = std::int64_t;
};
template <std::floating_point T> struct HeldAs<T> {
    using Type = float;
};
template <std::integral T>
requires requires { DTypeOf<T>::value; }
struct HeldAs<T> {
    using Type = T;
};
template <class T> using Held = typename HeldAs<T>::Type;

// An array in host memory.  Implicitly made of a number, of a vector and of a tensor, so that a data set's
// get() may return what it has; arrays cost no work on a device, tensors are read back.
class Array {
public:
    Array() = default; // undefined, as a target that there is none of
    // Zeros.  Error(argument) for negative sizes.
    Array(DType, std::vector<std::int64_t> sizes);
    // Of the given sizes, row-major; without: one dimension.  Error(argument) where they do not multiply to
    // as many.
    template <class T> Array(const std::vector<T>& values, std::vector<std::int64_t> sizes)
        : Array(DTypeOf<T>::value, std::move(sizes))
    {
        assign(values.data(), values.size());
    }
    template <class T> Array(const std::vector<T>& values)
        : Array(values, {static_cast<std::int64_t>(values.size())})
    {}
    // Without dimensions: f32 of float and double, the number's own dtype or else i64 of others.
    template <class T>
    requires std::is_arithmetic_v<T> Array(T number)
        : Array(DTypeOf<Held<T>>::value, std::vector<std::int64_t>{})
    {
        const auto held = static_cast<Held<T>>(number);
        assign(&held, 1);
    }
    // A copy of its values; waits for the device.  f16 and bf16 become f32.
    Array(const Tensor&);

    bool defined() const noexcept { return defined_; }
    DType dtype() const noexcept { return dtype_; }
    const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
    std::int64_t numel() const noexcept; // 1 without dimensions, 0 where undefined
    std::span<const std::byte> bytes() const noexcept { return bytes_; }
    std::span<std::byte> bytes() noexcept { return bytes_; }

    // Row-major; a view.  Error(argument) where T is not the dtype's type.
    template <class T> std::span<const T> values() const
    {
        check_type(DTypeOf<T>::value);
        return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
    }
    template <class T> std::span<T> values()
    {
        check_type(DTypeOf<T>::value);
        return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
    }
    // A copy of entry `i` of the first dimension.  Error(argument) where there is none.
    Array row(std::int64_t i) const;
    // Undefined for an undefined array.
    Tensor to_tensor(const std::optional<Device>& = std::nullopt) const;

private:
    void assign(const void* values, std::size_t count);
    void check_type(DType) const;

    bool defined_ = false;
    DType dtype_ = f32;
    std::vector<std::int64_t> sizes_;
    std::vector<std::byte> bytes_;
};

// `auto [x, y] = example;` Of arrays: one example, or a batch in host memory.  Of tensors: a batch that a
// loader gives.
template <class Data = Array, class Target = Data> struct Example {
    Data data;
    Target target;
};

// Each array of the result has the examples' along a new first dimension.  Error(argument) where dtypes or
// sizes differ, where a target is defined for some only, or where there is no example.
Example<> stack(const std::vector<Example<>>&);

// A stream of random numbers that is a function of its seed, the same on every platform.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    std::uint64_t below(std::uint64_t n); // uniform in 0 ... n - 1; n is at least 1
    double uniform();                     // in [0, 1), of 53 bits

private:
    std::uint64_t state_;
};

} // namespace reprise::data
