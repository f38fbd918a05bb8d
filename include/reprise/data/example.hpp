// Examples in host memory, which data sets return, transforms change and loaders stack to batches, in any
// thread.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/scalar.hpp>
#include <reprise/tensor.hpp>

namespace reprise::data {

// The element type of an Array that is constructed from a number of the C++ type T.
template <class T> struct HeldAs {
    using Type = std::int64_t; // for integers without a dtype
};
// For floating-point numbers.
template <std::floating_point T> struct HeldAs<T> {
    using Type = float; // f32
};
// For integers whose type has a dtype.
template <std::integral T>
requires requires { DTypeOf<T>::value; }
struct HeldAs<T> {
    using Type = T; // its own
};
template <class T> using Held = typename HeldAs<T>::Type; // the type of HeldAs

// An array in host memory.  Numbers, vectors and tensors convert to it implicitly, so that a data set's get()
// may return them.  Only tensors involve a device: their values are read back.
class Array {
public:
    Array() = default; // undefined, such as the target of an example without one
    // An array of zeros. Throws Error(argument) for negative sizes and for more than 2^40 bytes.
    Array(DType, std::vector<std::int64_t> sizes);
    // Copies the values of a vector, row-major, in the given sizes.  Throws Error(argument) where the numbers
    // of elements differ.
    template <class T> Array(const std::vector<T>& values, std::vector<std::int64_t> sizes)
        : Array(DTypeOf<T>::value, std::move(sizes))
    {
        assign(values.data(), values.size());
    }
    // Copies the values of a vector, in one dimension.
    template <class T> Array(const std::vector<T>& values)
        : Array(values, {static_cast<std::int64_t>(values.size())})
    {}
    // Stores a number, without dimensions: f32 for float and double; else the type's own dtype, or i64 where
    // it has none.
    template <class T>
    requires std::is_arithmetic_v<T> Array(T number)
        : Array(DTypeOf<Held<T>>::value, std::vector<std::int64_t>{})
    {
        const auto held = static_cast<Held<T>>(number);
        assign(&held, 1);
    }
    // Copies the values of a tensor, and waits for them.  f16 and bf16 become f32.
    Array(const Tensor&);

    // A list of sizes, which can be printed.
    struct Sizes : std::vector<std::int64_t> {
        Sizes() = default;                                                   // no dimensions
        Sizes(std::vector<std::int64_t> sizes) : vector(std::move(sizes)) {} // those of a vector
        Sizes(std::initializer_list<std::int64_t> sizes) : vector(sizes) {}  // those in braces
        friend std::ostream& operator<<(std::ostream&, const Sizes&);        // prints "[2, 3]"
    };

    bool defined() const noexcept { return defined_; }     // false for Array()
    DType dtype() const noexcept { return dtype_; }        // the type of the elements
    const Sizes& sizes() const noexcept { return sizes_; } // the sizes of all dimensions
    std::int64_t dim() const { return static_cast<std::int64_t>(sizes_.size()); } // the number of dimensions
    // Returns the size of a dimension; negative counts from the end.  Throws Error(argument) where there is none.
    std::int64_t size(std::int64_t dim) const;
    std::int64_t numel() const noexcept; // the number of elements; 0 where undefined
    std::span<const std::byte> bytes() const noexcept { return bytes_; } // a view of all bytes
    std::span<std::byte> bytes() noexcept { return bytes_; }             // a view of all bytes, for writing

    // Returns a view of the elements, row-major.  Throws Error(argument) where T is not the C++ type of the
    // dtype, and where undefined.
    template <class T> std::span<const T> values() const
    {
        check_type(DTypeOf<T>::value);
        return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
    }
    // The same for writing.
    template <class T> std::span<T> values()
    {
        check_type(DTypeOf<T>::value);
        return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
    }
    // Returns a copy of row i, without the first dimension.  Throws Error(argument) where there is no such row.
    Array row(std::int64_t i) const;
    // Returns row(i); a negative index counts from the end.
    Array operator[](std::int64_t i) const { return row(i < 0 ? i + size(0) : i); }
    // Returns the element of an array of one element, as T.  Throws Error(argument) for arrays of another
    // size, and if it is out of the range of T.
    template <class T> T item() const { return item().template to<T>(); }
    // Returns the element as a Scalar.  Throws Error(argument) as above.
    Scalar item() const;
    // Returns a tensor of the values on a device, by default default_device(); undefined for an undefined array.
    Tensor to_tensor(const std::optional<Device>& = std::nullopt) const;
    operator Tensor() const { return to_tensor(); } // as to_tensor()

private:
    void assign(const void* values, std::size_t count);
    void check_type(DType) const;

    bool defined_ = false;
    DType dtype_ = f32;
    Sizes sizes_;
    std::vector<std::byte> bytes_;
};

std::ostream& operator<<(std::ostream&, const Array&); // prints the array as a tensor
// Arithmetic of arrays, which returns tensors.
using reprise::operator+, reprise::operator-, reprise::operator*, reprise::operator/;

// Data with its target: auto [x, y] = example.  With arrays it is one example or a batch in host memory, with
// tensors a batch of a loader.
template <class Data = Array, class Target = Data> struct Example {
    Data data;     // the input of a model
    Target target; // the expected output; undefined where there is none
};

// Stacks examples to a batch, along a new first dimension.  Throws Error(argument) where dtypes or sizes
// differ, where only some examples have a target, and for no examples.
Example<> stack(const std::vector<Example<>>&);

// A stream of random numbers (SplitMix64) that depends on its seed only and is the same on every platform.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {} // begins a stream
    std::uint64_t next();                                 // 64 random bits
    std::uint64_t below(std::uint64_t n); // a uniform integer from 0 to n - 1; n must be at least 1
    double uniform();                     // a uniform number in [0, 1), with 53 random bits

private:
    std::uint64_t state_;
};

} // namespace reprise::data
