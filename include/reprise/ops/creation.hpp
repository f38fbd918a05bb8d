// Tensors made of nothing, of random numbers and of host memory; on default_device() unless a device is given.
#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

struct TensorOptions {
    DType dtype = f32;
    std::optional<Device> device = std::nullopt; // default_device()
    bool requires_grad = false;
};
std::ostream& operator<<(std::ostream&, const TensorOptions&); // "f32, vulkan:0"

// What may stand in place of TensorOptions: a dtype, or a device (with the function's own dtype).
template <class T>
concept OneOption = std::same_as<T, DType> || std::same_as<T, Device>;
namespace detail {
inline TensorOptions only(DType dtype, DType) { return {.dtype = dtype}; }
inline TensorOptions only(const Device& device, DType dtype) { return {.dtype = dtype, .device = device}; }
} // namespace detail

// The shape may hold symbols while recording.  Errors: unsupported for a dtype that the device can't hold.
Tensor zeros(const Shape&, const TensorOptions& = {});
Tensor ones(const Shape&, const TensorOptions& = {});
Tensor full(const Shape&, double value, const TensorOptions& = {});
Tensor scalar_tensor(double value, const TensorOptions& = {}); // without dimensions
Tensor empty(const Shape&, const TensorOptions& = {});         // zeros
// start, start + step, ... before end (or after it, with a step below 0): of whole numbers i32, else f32.  Error(argument)
// for a step of 0, and for an end on the wrong side of start.
Tensor arange(const Dim& end, const TensorOptions& = {.dtype = i32}); // 0, 1, ..., end - 1
Tensor arange(const Dim& start, const Dim& end, std::int64_t step = 1, const TensorOptions& = {.dtype = i32});
Tensor arange(double start, double end, double step = 1, const TensorOptions& = {});
// The same of whole numbers in C++, of which a size is one: neither form above is nearer to all of their types.
template <class T>
concept Whole = std::integral<T> || std::same_as<T, Dim>;
template <Whole A, Whole B>
Tensor arange(const A& start, const B& end, const TensorOptions& options = {.dtype = i32})
{
    return arange(Dim(start), Dim(end), std::int64_t{1}, options);
}
template <Whole A, Whole B, std::integral C>
Tensor arange(const A& start, const B& end, C step, const TensorOptions& options = {.dtype = i32})
{
    return arange(Dim(start), Dim(end), static_cast<std::int64_t>(step), options);
}
// `steps` numbers in equal distances, with both ends; base to the power of these.
Tensor linspace(double start, double end, const Dim& steps, const TensorOptions& = {});
Tensor logspace(double start, double end, const Dim& steps, double base = 10, const TensorOptions& = {});
// [n, m] with ones on the diagonal.
Tensor eye(const Dim& n, const TensorOptions& = {});
Tensor eye(const Dim& n, const Dim& m, const TensorOptions& = {});
// Counters, not state: see random.hpp.  f32.
Tensor rand(const Shape&, const TensorOptions& = {});  // uniform in [0, 1), multiples of 2^-24
Tensor randn(const Shape&, const TensorOptions& = {}); // standard normal, by Box and Muller
// Of the same shape, dtype and device.
Tensor zeros_like(const Tensor&);
Tensor empty_like(const Tensor&); // zeros
Tensor ones_like(const Tensor&);
Tensor full_like(const Tensor&, double value);
Tensor rand_like(const Tensor&);
Tensor randn_like(const Tensor&);

// ---- drawn from distributions; without gradients ----
// Integers from low to high - 1, of at most 2^32 - 1 different ones; a dtype of numbers.
Tensor randint(std::int64_t low, std::int64_t high, const Shape&, const TensorOptions& = {.dtype = i32});
Tensor randint(std::int64_t high, const Shape&, const TensorOptions& = {.dtype = i32}); // from 0 on
Tensor randint_like(const Tensor&, std::int64_t low, std::int64_t high);
Tensor randperm(const Dim& n, const TensorOptions& = {.dtype = i32}); // 0 to n - 1 in any order
// 1 with probability p, else 0: of p's shape and dtype, or of x's.
Tensor bernoulli(const Tensor& p);
Tensor bernoulli(const Tensor& x, double p);
// Normal numbers; mean and std broadcast.  Error(argument) for a number std below 0.
Tensor normal(double mean, double std, const Shape&, const TensorOptions& = {});
Tensor normal(const Tensor& mean, const Tensor& std);
Tensor normal(const Tensor& mean, double std = 1);
Tensor normal(double mean, const Tensor& std);
// Indices (i32) by weights, [C] or [N, C] -> [count] or [N, count]: at least 0, of any sum above 0 in a
// row.  Without replacement the count is at most C, and a row should have so many weights above 0: those
// that are 0 come last.
Tensor multinomial(const Tensor& weights, const Dim& count, bool replacement = false);

// Copies host memory, row-major.  Error(shape) unless it has as many values as the shape.
Tensor from_bytes(std::span<const std::byte>, const Shape&, const TensorOptions&);
template <class T> Tensor from_vector(const std::vector<T>& v, const Shape& shape, TensorOptions options = {})
{
    options.dtype = DTypeOf<T>::value;
    return from_bytes(std::as_bytes(std::span<const T>(v)), shape, options);
}
Tensor from_vector(const std::vector<bool>&, const Shape&, const TensorOptions& = {});
// from_vector({1, 0, 1, 0}, {2, 2}): of the numbers' type: i32, f32, f64, bool.
template <class T>
Tensor from_vector(std::initializer_list<T> v, const Shape& shape, TensorOptions options = {})
{
    return from_vector(std::vector<T>(v), shape, std::move(options));
}
// A copy of the numbers at `data`, row-major; nobody looks at them later.
template <class T> Tensor from_blob(const T* data, const Shape& shape, TensorOptions options = {})
{
    std::size_t count = 1;
    for (const Dim& size : shape) count *= static_cast<std::size_t>(size.value());
    options.dtype = DTypeOf<T>::value;
    return from_bytes(std::as_bytes(std::span<const T>(data, count)), shape, options);
}
// The same by a dtype: `data` points to as many elements of it.
Tensor from_blob(const void* data, const Shape&, const TensorOptions& = {});
inline Tensor from_vector(const std::vector<float>& v)
{
    return from_vector(v, {static_cast<long long>(v.size())});
}

// Numbers in braces, nested as the dimensions are: tensor(1.5), tensor({1, 2}), tensor({{1., 2.}, {3., 4.}}).
class NestedNumbers {
public:
    template <class T>
    requires std::is_arithmetic_v<T> NestedNumbers(T value)
        : values_{static_cast<double>(value)}, whole_{static_cast<std::int64_t>(value)}, kind_(kind_of<T>())
    {
        if constexpr (std::is_floating_point_v<T>) whole_.clear();
    }
    NestedNumbers(std::initializer_list<NestedNumbers> parts); // Error(shape) unless all have one shape
    template <class T> NestedNumbers(const std::vector<T>& values)
        : kind_(kind_of<T>()), sizes_{values.size()}
    {
        for (const T value : values) {
            values_.push_back(static_cast<double>(value));
            if constexpr (!std::is_floating_point_v<T>) whole_.push_back(static_cast<std::int64_t>(value));
        }
    }
    enum class Kind { logical, whole, floating };
    Kind kind() const { return kind_; }
    const std::vector<double>& values() const { return values_; }
    const std::vector<std::int64_t>& whole() const { return whole_; } // of what is not floating
    Shape shape() const { return {sizes_.begin(), sizes_.end()}; }

private:
    template <class T> static constexpr Kind kind_of()
    {
        return std::same_as<T, bool>         ? Kind::logical
               : std::is_floating_point_v<T> ? Kind::floating
                                             : Kind::whole;
    }
    std::vector<double> values_;
    std::vector<std::int64_t> whole_;
    Kind kind_ = Kind::floating;
    std::vector<std::size_t> sizes_;
};
// As in PyTorch: floating numbers make f32, whole ones i64, bools bool; or of the dtype that is given.
Tensor tensor(const NestedNumbers&);
Tensor tensor(const NestedNumbers&, const TensorOptions&);

// ---- with a dtype or a device in place of options: zeros({2, 3}, f16) ----
template <OneOption T> Tensor zeros(const Shape& s, const T& o) { return zeros(s, detail::only(o, f32)); }
template <OneOption T> Tensor ones(const Shape& s, const T& o) { return ones(s, detail::only(o, f32)); }
template <OneOption T> Tensor empty(const Shape& s, const T& o) { return empty(s, detail::only(o, f32)); }
template <OneOption T> Tensor rand(const Shape& s, const T& o) { return rand(s, detail::only(o, f32)); }
template <OneOption T> Tensor randn(const Shape& s, const T& o) { return randn(s, detail::only(o, f32)); }
template <OneOption T> Tensor full(const Shape& s, double value, const T& o)
{
    return full(s, value, detail::only(o, f32));
}
template <OneOption T> Tensor arange(const Dim& end, const T& o) { return arange(end, detail::only(o, i32)); }
template <Whole A, Whole B, OneOption T> Tensor arange(const A& start, const B& end, const T& o)
{
    return arange(start, end, detail::only(o, i32));
}
template <OneOption T> Tensor eye(const Dim& n, const T& o) { return eye(n, detail::only(o, f32)); }
template <OneOption T> Tensor randperm(const Dim& n, const T& o) { return randperm(n, detail::only(o, i32)); }
template <OneOption T> Tensor scalar_tensor(double value, const T& o)
{
    return scalar_tensor(value, detail::only(o, f32));
}
template <OneOption T> Tensor randint(std::int64_t low, std::int64_t high, const Shape& s, const T& o)
{
    return randint(low, high, s, detail::only(o, i32));
}
Tensor tensor(const NestedNumbers&, DType);
Tensor tensor(const NestedNumbers&, const Device&);

} // namespace reprise
