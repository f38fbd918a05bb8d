// Creating tensors: of one value, of a sequence, of random numbers and from host memory, on default_device()
// unless a device is given.  Error(unsupported) for a dtype that the device does not hold.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <reprise/tensor.hpp>
#include <reprise/tensor_options.hpp>

namespace reprise {

namespace detail {
// Options with the dtype and device of a tensor where they name none.
CreationOptions like(const Tensor&, const CreationOptions&);
// A copy of numbers of this dtype, converted to the dtype of the options.
Tensor from_numbers(std::span<const std::byte>, DType, const Shape&, const CreationOptions&);
} // namespace detail

// -- of one value; the shape may have symbols while recording; Error(shape) for a negative size --

Tensor zeros(const Shape&, const CreationOptions& = {}); // filled with 0
Tensor ones(const Shape&, const CreationOptions& = {});  // filled with 1
// Filled with `value`; Error(argument) where an integer dtype does not hold it.
Tensor full(const Shape&, double value, const CreationOptions& = {});
Tensor scalar_tensor(double value, const CreationOptions& = {}); // full() without dimensions
Tensor empty(const Shape&, const CreationOptions& = {});         // the same as zeros()

// -- sequences --

// 0, 1, ..., end - 1, by default i32.  Error(argument) for an end below 0.
Tensor arange(const Dim& end, const CreationOptions& = {});
// start, start + step, ... before end, or after it with a step below 0.  Error(argument) for a step of 0, and
// for an end on the wrong side of start.
Tensor arange(const Dim& start, const Dim& end, std::int64_t step = 1, const CreationOptions& = {});
// The same with floating numbers, f32.
Tensor arange(double start, double end, double step = 1, const CreationOptions& = {});
// arange() with whole numbers, in any combination of C++ integers and Dim.
template <Whole A, Whole B> Tensor arange(const A& start, const B& end, const CreationOptions& options = {})
{
    return arange(Dim(start), Dim(end), std::int64_t{1}, options);
}
// arange() with whole numbers and a step.
template <Whole A, Whole B, std::integral C>
Tensor arange(const A& start, const B& end, C step, const CreationOptions& options = {})
{
    return arange(Dim(start), Dim(end), static_cast<std::int64_t>(step), options);
}
// `steps` numbers at equal distances from start to end, both included exactly.  Error(argument) for steps
// below 0.
Tensor linspace(double start, double end, const Dim& steps, const CreationOptions& = {});
// `base` to the power of the numbers of linspace().
Tensor logspace(double start, double end, const Dim& steps, double base = 10, const CreationOptions& = {});
// [n, n] with ones on the diagonal, zeros elsewhere.
Tensor eye(const Dim& n, const CreationOptions& = {});
// [n, m] with ones on the diagonal, zeros elsewhere.
Tensor eye(const Dim& n, const Dim& m, const CreationOptions& = {});

// -- random numbers (random.hpp); without gradients; a floating dtype unless stated otherwise --

Tensor rand(const Shape&, const CreationOptions& = {});  // uniform in [0, 1), multiples of 2^-24
Tensor randn(const Shape&, const CreationOptions& = {}); // standard normal, by Box and Muller

// -- with the shape of a tensor, and with its dtype and device where the options name none --

Tensor zeros_like(const Tensor&, const CreationOptions& = {});              // filled with 0
Tensor empty_like(const Tensor&, const CreationOptions& = {});              // the same as zeros_like()
Tensor ones_like(const Tensor&, const CreationOptions& = {});               // filled with 1
Tensor full_like(const Tensor&, double value, const CreationOptions& = {}); // filled with `value`, as full()
Tensor rand_like(const Tensor&, const CreationOptions& = {});               // uniform, as rand()
Tensor randn_like(const Tensor&, const CreationOptions& = {});              // standard normal, as randn()

// -- drawn from distributions; without gradients --

// Integers from low to high - 1, by default i32, of any dtype but bool.  Error(argument) unless there are 1 to
// 2^32 - 1 of them, within 2^53 of 0 and within the dtype.
Tensor randint(std::int64_t low, std::int64_t high, const Shape&, const CreationOptions& = {});
Tensor randint(std::int64_t high, const Shape&, const CreationOptions& = {}); // from 0 to high - 1
// randint() with the shape, dtype and device of a tensor.
Tensor randint_like(const Tensor&, std::int64_t low, std::int64_t high);
Tensor randint_like(const Tensor&, std::int64_t high);      // from 0 to high - 1
Tensor randperm(const Dim& n, const CreationOptions& = {}); // 0 to n - 1 in a random order
// 1 with the probability that each element of p is, else 0, of p's shape and floating dtype.
Tensor bernoulli(const Tensor& p);
// 1 with probability p, else 0, of x's shape and dtype.  Error(argument) for a p outside [0, 1].
Tensor bernoulli(const Tensor& x, double p);
// Normal numbers with this mean and standard deviation.  Error(argument) for a number std below 0, in all
// four forms.
Tensor normal(double mean, double std, const Shape&, const CreationOptions& = {});
Tensor normal(const Tensor& mean, const Tensor& std); // one for each mean and std, which broadcast
Tensor normal(const Tensor& mean, double std = 1);    // one for each mean
Tensor normal(double mean, const Tensor& std);        // one for each std
// Indices (i32) with probabilities proportional to the weights, of a floating dtype: [C] or [N, C] -> [count]
// or [N, count].  Weights are at least 0 with a sum above 0 in each row.  Without replacement no index occurs
// twice: count is at most C, else Error(shape), and indices of weight 0 come last where a row has too few
// others.
Tensor multinomial(const Tensor& weights, const Dim& count, bool replacement = false);

// -- from host memory --

// A number of the host as an f32 tensor of one element, such as a learning rate or a bias correction.  A
// recorded program calls `value` at each of its calls; eager code calls it immediately.
Tensor host_scalar(std::function<double()> value);
// The bytes of all elements, in row-major order, as from_bytes() takes them.  Waits for the device.
std::vector<std::byte> to_bytes(const Tensor&);

// A copy of elements of options.dtype (f32 where none is set) in row-major order.  Error(shape) unless their
// number is that of the shape.
Tensor from_bytes(std::span<const std::byte>, const Shape&, const CreationOptions&);
// A copy of the numbers in row-major order, of their type's dtype, or converted to options.dtype.  Error(shape) as
// from_bytes().
template <class T>
Tensor from_vector(const std::vector<T>& v, const Shape& shape, const CreationOptions& options = {})
{
    return detail::from_numbers(std::as_bytes(std::span<const T>(v)), DTypeOf<T>::value, shape, options);
}
// A copy of bools, as bool, or converted to options.dtype.
Tensor from_vector(const std::vector<bool>&, const Shape&, const CreationOptions& = {});
// The same with numbers in braces, such as from_vector({1, 0, 1, 0}, {2, 2}), which is i32.
template <class T>
Tensor from_vector(std::initializer_list<T> v, const Shape& shape, const CreationOptions& options = {})
{
    return from_vector(std::vector<T>(v), shape, options);
}
// A copy of elements of options.dtype (f32 where none is set) at `data`, in row-major order; `data` may be freed
// afterwards.
Tensor from_blob(const void* data, const Shape&, const CreationOptions& = {});
// Does not compile for elements of a type without a dtype.
template <class T>
requires(!std::is_void_v<T> && !requires { DTypeOf<T>::value; }) Tensor
    from_blob(const T* data, const Shape&, const CreationOptions& = {})
= delete;
// The same with the dtype of T if the options name none.
template <class T>
requires requires { DTypeOf<T>::value; }
Tensor from_blob(const T* data, const Shape& shape, CreationOptions options = {})
{
    options.dtype = options.dtype_or(DTypeOf<T>::value);
    return from_blob(static_cast<const void*>(data), shape, options);
}
// The same; calls deleter(data) when the copy is made.
template <class T, std::invocable<void*> Deleter>
Tensor from_blob(T* data, const Shape& shape, Deleter&& deleter, const CreationOptions& options = {})
{
    Tensor copy = from_blob(static_cast<const T*>(data), shape, options);
    deleter(data);
    return copy;
}
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
    // The kind of the numbers: bools, integers or floating numbers; if they are mixed, the last of these kinds.
    enum class Kind { logical, whole, floating };
    Kind kind() const { return kind_; }                           // the kind of the numbers
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
// A tensor of these numbers, by default of PyTorch's dtypes: floating numbers give f32, integers i64, bools bool.
Tensor tensor(const NestedNumbers&, const CreationOptions& = {});

// -- with a dtype or a device in place of options: zeros({2, 3}, f16) --

// zeros() with a dtype or a device.
template <OneOption O> Tensor zeros(const Shape& shape, const O& option)
{
    return zeros(shape, TensorOptions(option));
}
// ones() with a dtype or a device.
template <OneOption O> Tensor ones(const Shape& shape, const O& option)
{
    return ones(shape, TensorOptions(option));
}
// empty() with a dtype or a device.
template <OneOption O> Tensor empty(const Shape& shape, const O& option)
{
    return empty(shape, TensorOptions(option));
}
// rand() with a dtype or a device.
template <OneOption O> Tensor rand(const Shape& shape, const O& option)
{
    return rand(shape, TensorOptions(option));
}
// randn() with a dtype or a device.
template <OneOption O> Tensor randn(const Shape& shape, const O& option)
{
    return randn(shape, TensorOptions(option));
}
// full() with a dtype or a device.
template <OneOption O> Tensor full(const Shape& shape, double value, const O& option)
{
    return full(shape, value, TensorOptions(option));
}
// scalar_tensor() with a dtype or a device.
template <OneOption O> Tensor scalar_tensor(double value, const O& option)
{
    return scalar_tensor(value, TensorOptions(option));
}
// arange() with a dtype or a device.
template <OneOption O> Tensor arange(const Dim& end, const O& option)
{
    return arange(end, TensorOptions(option));
}
// linspace() with a dtype or a device.
template <OneOption O> Tensor linspace(double start, double end, const Dim& steps, const O& option)
{
    return linspace(start, end, steps, TensorOptions(option));
}
// eye() with a dtype or a device.
template <OneOption O> Tensor eye(const Dim& n, const O& option) { return eye(n, TensorOptions(option)); }
// eye() with a dtype or a device.
template <OneOption O> Tensor eye(const Dim& n, const Dim& m, const O& option)
{
    return eye(n, m, TensorOptions(option));
}
// randperm() with a dtype or a device.
template <OneOption O> Tensor randperm(const Dim& n, const O& option)
{
    return randperm(n, TensorOptions(option));
}
// randint() with a dtype or a device.
template <OneOption O>
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const O& option)
{
    return randint(low, high, shape, TensorOptions(option));
}
// randint() with a dtype or a device.
template <OneOption O> Tensor randint(std::int64_t high, const Shape& shape, const O& option)
{
    return randint(high, shape, TensorOptions(option));
}
// normal() with a dtype or a device.
template <OneOption O> Tensor normal(double mean, double std, const Shape& shape, const O& option)
{
    return normal(mean, std, shape, TensorOptions(option));
}
// zeros_like() with a dtype or a device.
template <OneOption O> Tensor zeros_like(const Tensor& t, const O& option)
{
    return zeros_like(t, TensorOptions(option));
}
// ones_like() with a dtype or a device.
template <OneOption O> Tensor ones_like(const Tensor& t, const O& option)
{
    return ones_like(t, TensorOptions(option));
}
// empty_like() with a dtype or a device.
template <OneOption O> Tensor empty_like(const Tensor& t, const O& option)
{
    return empty_like(t, TensorOptions(option));
}
// rand_like() with a dtype or a device.
template <OneOption O> Tensor rand_like(const Tensor& t, const O& option)
{
    return rand_like(t, TensorOptions(option));
}
// randn_like() with a dtype or a device.
template <OneOption O> Tensor randn_like(const Tensor& t, const O& option)
{
    return randn_like(t, TensorOptions(option));
}
// full_like() with a dtype or a device.
template <OneOption O> Tensor full_like(const Tensor& t, double value, const O& option)
{
    return full_like(t, value, TensorOptions(option));
}
// tensor() with a dtype or a device.
template <OneOption O> Tensor tensor(const NestedNumbers& numbers, const O& option)
{
    return tensor(numbers, TensorOptions(option));
}
// from_blob() with a dtype or a device.
template <class T, OneOption O> Tensor from_blob(const T* data, const Shape& shape, const O& option)
{
    return from_blob(data, shape, TensorOptions(option));
}
// arange() from start on with a dtype or a device.
template <class A, class B, OneOption O>
requires(std::is_arithmetic_v<A> || Whole<A>) Tensor arange(const A& start, const B& end, const O& option)
{
    return arange(start, end, TensorOptions(option));
}
// arange() by steps with a dtype or a device.
template <class A, class B, class C, OneOption O>
requires(std::is_arithmetic_v<A> || Whole<A>) Tensor
    arange(const A& start, const B& end, C step, const O& option)
{
    return arange(start, end, step, TensorOptions(option));
}
// 0, 1, ... before a floating end, f32.
template <std::floating_point T> Tensor arange(T end, const CreationOptions& options = {})
{
    return arange(0.0, static_cast<double>(end), 1.0, options);
}
// A floating sequence by steps of 1.
template <std::floating_point A, std::floating_point B>
Tensor arange(A start, B end, const CreationOptions& options)
{
    return arange(static_cast<double>(start), static_cast<double>(end), 1.0, options);
}

// -- of one dimension, by its size: zeros(5) --

// zeros() of one dimension.
template <Whole T> Tensor zeros(T size, const CreationOptions& options = {})
{
    return zeros(Shape{size}, options);
}
// zeros() of one dimension with a dtype or a device.
template <Whole T, OneOption O> Tensor zeros(T size, const O& option) { return zeros(Shape{size}, option); }
// ones() of one dimension.
template <Whole T> Tensor ones(T size, const CreationOptions& options = {})
{
    return ones(Shape{size}, options);
}
// ones() of one dimension with a dtype or a device.
template <Whole T, OneOption O> Tensor ones(T size, const O& option) { return ones(Shape{size}, option); }
// empty() of one dimension.
template <Whole T> Tensor empty(T size, const CreationOptions& options = {})
{
    return empty(Shape{size}, options);
}
// empty() of one dimension with a dtype or a device.
template <Whole T, OneOption O> Tensor empty(T size, const O& option) { return empty(Shape{size}, option); }
// rand() of one dimension.
template <Whole T> Tensor rand(T size, const CreationOptions& options = {})
{
    return rand(Shape{size}, options);
}
// rand() of one dimension with a dtype or a device.
template <Whole T, OneOption O> Tensor rand(T size, const O& option) { return rand(Shape{size}, option); }
// randn() of one dimension.
template <Whole T> Tensor randn(T size, const CreationOptions& options = {})
{
    return randn(Shape{size}, options);
}
// randn() of one dimension with a dtype or a device.
template <Whole T, OneOption O> Tensor randn(T size, const O& option) { return randn(Shape{size}, option); }

} // namespace reprise
