// Creating tensors: of one value, of a sequence, of random numbers and from host memory, on default_device()
// unless a device is given.  Error(unsupported) for a dtype that the device does not hold.
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

// What a new tensor is like.
struct TensorOptions {
    DType dtype = f32;                           // the type of its elements
    std::optional<Device> device = std::nullopt; // where it is; nullopt: default_device()
    bool requires_grad = false;                  // whether backward() computes its gradient
};
std::ostream& operator<<(std::ostream&, const TensorOptions&); // prints "f32, vulkan:0"

// What a function takes in place of TensorOptions: a dtype, or a device, with the function's default dtype.
template <class T>
concept OneOption = std::same_as<T, DType> || std::same_as<T, Device>;
namespace detail {
inline TensorOptions only(DType dtype, DType) { return {.dtype = dtype}; }
inline TensorOptions only(const Device& device, DType dtype) { return {.dtype = dtype, .device = device}; }
} // namespace detail

// -- of one value; the shape may have symbols while recording; Error(shape) for a negative size --

Tensor zeros(const Shape&, const TensorOptions& = {}); // filled with 0
Tensor ones(const Shape&, const TensorOptions& = {});  // filled with 1
// Filled with `value`; Error(argument) where an integer dtype does not hold it.
Tensor full(const Shape&, double value, const TensorOptions& = {});
Tensor scalar_tensor(double value, const TensorOptions& = {}); // full() without dimensions
Tensor empty(const Shape&, const TensorOptions& = {});         // the same as zeros()

// -- sequences --

// 0, 1, ..., end - 1.  Error(argument) for an end below 0.
Tensor arange(const Dim& end, const TensorOptions& = {.dtype = i32});
// start, start + step, ... before end, or after it with a step below 0.  Error(argument) for a step of 0, and
// for an end on the wrong side of start.
Tensor arange(const Dim& start, const Dim& end, std::int64_t step = 1, const TensorOptions& = {.dtype = i32});
// The same with floating numbers, f32.
Tensor arange(double start, double end, double step = 1, const TensorOptions& = {});
// C++ integers and Dim, in any combination; without the next two functions such calls of arange() would be
// ambiguous.
template <class T>
concept Whole = std::integral<T> || std::same_as<T, Dim>;
// arange() with whole numbers.
template <Whole A, Whole B>
Tensor arange(const A& start, const B& end, const TensorOptions& options = {.dtype = i32})
{
    return arange(Dim(start), Dim(end), std::int64_t{1}, options);
}
// arange() with whole numbers and a step.
template <Whole A, Whole B, std::integral C>
Tensor arange(const A& start, const B& end, C step, const TensorOptions& options = {.dtype = i32})
{
    return arange(Dim(start), Dim(end), static_cast<std::int64_t>(step), options);
}
// `steps` numbers at equal distances from start to end, both included exactly.  Error(argument) for steps
// below 0.
Tensor linspace(double start, double end, const Dim& steps, const TensorOptions& = {});
// `base` to the power of the numbers of linspace().
Tensor logspace(double start, double end, const Dim& steps, double base = 10, const TensorOptions& = {});
// [n, n] with ones on the diagonal, zeros elsewhere.
Tensor eye(const Dim& n, const TensorOptions& = {});
// [n, m] with ones on the diagonal, zeros elsewhere.
Tensor eye(const Dim& n, const Dim& m, const TensorOptions& = {});

// -- random numbers (random.hpp); without gradients; a floating dtype unless stated otherwise --

Tensor rand(const Shape&, const TensorOptions& = {});  // uniform in [0, 1), multiples of 2^-24
Tensor randn(const Shape&, const TensorOptions& = {}); // standard normal, by Box and Muller

// -- with the shape, dtype and device of a tensor --

Tensor zeros_like(const Tensor&);              // filled with 0
Tensor empty_like(const Tensor&);              // the same as zeros_like()
Tensor ones_like(const Tensor&);               // filled with 1
Tensor full_like(const Tensor&, double value); // filled with `value`, as full()
Tensor rand_like(const Tensor&);               // uniform, as rand()
Tensor randn_like(const Tensor&);              // standard normal, as randn()

// -- drawn from distributions; without gradients --

// Integers from low to high - 1, of any dtype but bool.  Error(argument) unless there are 1 to 2^32 - 1 of
// them, within 2^53 of 0 and within the dtype.
Tensor randint(std::int64_t low, std::int64_t high, const Shape&, const TensorOptions& = {.dtype = i32});
Tensor randint(std::int64_t high, const Shape&, const TensorOptions& = {.dtype = i32}); // from 0 to high - 1
// randint() with the shape, dtype and device of a tensor.
Tensor randint_like(const Tensor&, std::int64_t low, std::int64_t high);
Tensor randperm(const Dim& n, const TensorOptions& = {.dtype = i32}); // 0 to n - 1 in a random order
// 1 with the probability that each element of p is, else 0, of p's shape and floating dtype.
Tensor bernoulli(const Tensor& p);
// 1 with probability p, else 0, of x's shape and dtype.  Error(argument) for a p outside [0, 1].
Tensor bernoulli(const Tensor& x, double p);
// Normal numbers with this mean and standard deviation.  Error(argument) for a number std below 0, in all
// four forms.
Tensor normal(double mean, double std, const Shape&, const TensorOptions& = {});
Tensor normal(const Tensor& mean, const Tensor& std); // one for each mean and std, which broadcast
Tensor normal(const Tensor& mean, double std = 1);    // one for each mean
Tensor normal(double mean, const Tensor& std);        // one for each std
// Indices (i32) with probabilities proportional to the weights, of a floating dtype: [C] or [N, C] -> [count]
// or [N, count].  Weights are at least 0 with a sum above 0 in each row.  Without replacement no index occurs
// twice: count is at most C, else Error(shape), and indices of weight 0 come last where a row has too few
// others.
Tensor multinomial(const Tensor& weights, const Dim& count, bool replacement = false);

// -- from host memory --

// A copy of elements of options.dtype in row-major order.  Error(shape) unless there are as many as the shape
// has.
Tensor from_bytes(std::span<const std::byte>, const Shape&, const TensorOptions&);
// A copy of the numbers, of their type's dtype, in row-major order.  Error(shape) as from_bytes().
template <class T> Tensor from_vector(const std::vector<T>& v, const Shape& shape, TensorOptions options = {})
{
    options.dtype = DTypeOf<T>::value;
    return from_bytes(std::as_bytes(std::span<const T>(v)), shape, options);
}
// A copy of bools, as bool.
Tensor from_vector(const std::vector<bool>&, const Shape&, const TensorOptions& = {});
// The same with numbers in braces, such as from_vector({1, 0, 1, 0}, {2, 2}), which is i32.
template <class T>
Tensor from_vector(std::initializer_list<T> v, const Shape& shape, TensorOptions options = {})
{
    return from_vector(std::vector<T>(v), shape, std::move(options));
}
// A copy of the numbers at `data` in row-major order, of their type's dtype; they are not needed afterwards.
template <class T> Tensor from_blob(const T* data, const Shape& shape, TensorOptions options = {})
{
    std::size_t count = 1;
    for (const Dim& size : shape) count *= static_cast<std::size_t>(size.value());
    options.dtype = DTypeOf<T>::value;
    return from_bytes(std::as_bytes(std::span<const T>(data, count)), shape, options);
}
// The same with elements of options.dtype at `data`.
Tensor from_blob(const void* data, const Shape&, const TensorOptions& = {});
// A copy of the numbers as a vector, f32.
inline Tensor from_vector(const std::vector<float>& v)
{
    return from_vector(v, {static_cast<long long>(v.size())});
}

// The numbers of tensor(), in braces nested like the dimensions: tensor(1.5), tensor({1, 2}),
// tensor({{1., 2.}, {3., 4.}}).
class NestedNumbers {
public:
    // One number: no dimensions.
    template <class T>
    requires std::is_arithmetic_v<T> NestedNumbers(T value)
        : values_{static_cast<double>(value)}, whole_{static_cast<std::int64_t>(value)}, kind_(kind_of<T>())
    {
        if constexpr (std::is_floating_point_v<T>) whole_.clear();
    }
    // Parts along a new first dimension.  Error(shape) unless all have one shape.
    NestedNumbers(std::initializer_list<NestedNumbers> parts);
    // The numbers of a vector: one dimension.
    template <class T> NestedNumbers(const std::vector<T>& values)
        : kind_(kind_of<T>()), sizes_{values.size()}
    {
        for (const T value : values) {
            values_.push_back(static_cast<double>(value));
            if constexpr (!std::is_floating_point_v<T>) whole_.push_back(static_cast<std::int64_t>(value));
        }
    }
    // What the numbers are: bools, integers or floating numbers; of several kinds the last one of these.
    enum class Kind { logical, whole, floating };
    Kind kind() const { return kind_; }                           // what they are
    const std::vector<double>& values() const { return values_; } // all numbers in row-major order
    // All integers and bools in row-major order, exact beyond 2^53 too.
    const std::vector<std::int64_t>& whole() const { return whole_; }
    Shape shape() const { return {sizes_.begin(), sizes_.end()}; } // the sizes of the braces, outermost first

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
// A tensor of these numbers, of PyTorch's dtypes: floating numbers give f32, integers i64, bools bool.
Tensor tensor(const NestedNumbers&);
Tensor tensor(const NestedNumbers&, const TensorOptions&); // of options.dtype

// -- with a dtype or a device in place of options: zeros({2, 3}, f16) --

// zeros() with a dtype or a device.
template <OneOption T> Tensor zeros(const Shape& s, const T& o) { return zeros(s, detail::only(o, f32)); }
// ones() with a dtype or a device.
template <OneOption T> Tensor ones(const Shape& s, const T& o) { return ones(s, detail::only(o, f32)); }
// empty() with a dtype or a device.
template <OneOption T> Tensor empty(const Shape& s, const T& o) { return empty(s, detail::only(o, f32)); }
// rand() with a dtype or a device.
template <OneOption T> Tensor rand(const Shape& s, const T& o) { return rand(s, detail::only(o, f32)); }
// randn() with a dtype or a device.
template <OneOption T> Tensor randn(const Shape& s, const T& o) { return randn(s, detail::only(o, f32)); }
// full() with a dtype or a device.
template <OneOption T> Tensor full(const Shape& s, double value, const T& o)
{
    return full(s, value, detail::only(o, f32));
}
// arange() with a dtype or a device.
template <OneOption T> Tensor arange(const Dim& end, const T& o) { return arange(end, detail::only(o, i32)); }
// arange() from start on with a dtype or a device.
template <Whole A, Whole B, OneOption T> Tensor arange(const A& start, const B& end, const T& o)
{
    return arange(start, end, detail::only(o, i32));
}
// eye() with a dtype or a device.
template <OneOption T> Tensor eye(const Dim& n, const T& o) { return eye(n, detail::only(o, f32)); }
// randperm() with a dtype or a device.
template <OneOption T> Tensor randperm(const Dim& n, const T& o) { return randperm(n, detail::only(o, i32)); }
// scalar_tensor() with a dtype or a device.
template <OneOption T> Tensor scalar_tensor(double value, const T& o)
{
    return scalar_tensor(value, detail::only(o, f32));
}
// randint() with a dtype or a device.
template <OneOption T> Tensor randint(std::int64_t low, std::int64_t high, const Shape& s, const T& o)
{
    return randint(low, high, s, detail::only(o, i32));
}
Tensor tensor(const NestedNumbers&, DType);         // of this dtype
Tensor tensor(const NestedNumbers&, const Device&); // on this device

} // namespace reprise
