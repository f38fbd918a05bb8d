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
