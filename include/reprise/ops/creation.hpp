// Tensors made of nothing, of random numbers and of host memory; on default_device() unless a device is given.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

struct TensorOptions {
    DType dtype = f32;
    std::optional<Device> device = std::nullopt; // default_device()
    bool requires_grad = false;
};
// The shape may hold symbols while recording.  Errors: unsupported for a dtype that the device can't hold.
Tensor zeros(const Shape&, const TensorOptions& = {});
Tensor ones(const Shape&, const TensorOptions& = {});
Tensor full(const Shape&, double value, const TensorOptions& = {});
Tensor arange(const Dim& end, const TensorOptions& = {.dtype = i32}); // 0, 1, ..., end - 1
// Counters, not state: see random.hpp.  f32.
Tensor rand(const Shape&, const TensorOptions& = {});  // uniform in [0, 1), multiples of 2^-24
Tensor randn(const Shape&, const TensorOptions& = {}); // standard normal, by Box and Muller
// Of the same shape, dtype and device.
Tensor zeros_like(const Tensor&);
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
inline Tensor from_vector(const std::vector<float>& v)
{
    return from_vector(v, {static_cast<long long>(v.size())});
}

} // namespace reprise
