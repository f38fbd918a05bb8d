// The options of a new tensor: its dtype, its device, and whether it requires a gradient.
#pragma once
#include <concepts>
#include <iosfwd>
#include <optional>
#include <utility>

#include <reprise/device.hpp>
#include <reprise/dtype.hpp>

namespace reprise {

// The options of functions that create tensors, for braces: zeros({2, 3}, {.dtype = f16, .requires_grad = true}).
struct CreationOptions {
    std::optional<DType> dtype = std::nullopt;   // the type of the elements; nullopt: the function's default
    std::optional<Device> device = std::nullopt; // where the tensor is; nullopt: default_device()
    bool requires_grad = false;                  // whether backward() computes its gradient

    DType dtype_or(DType otherwise) const { return dtype.value_or(otherwise); } // the dtype, or this one
};
std::ostream& operator<<(std::ostream&, const CreationOptions&); // prints "f32, vulkan:0"

// The same options as libtorch writes them: TensorOptions().dtype(kHalf).requires_grad(true).
class TensorOptions : public CreationOptions {
public:
    TensorOptions() = default;                                                      // all defaults
    TensorOptions(CreationOptions options) : CreationOptions(std::move(options)) {} // these options
    TensorOptions(DType dtype) { CreationOptions::dtype = dtype; }                  // this dtype
    TensorOptions(const Device& device) { CreationOptions::device = device; }       // this device
    TensorOptions(DeviceType device) : TensorOptions(Device(device)) {} // the first device of this type
    // The same options with another dtype.
    TensorOptions dtype(DType dtype) const
    {
        TensorOptions changed = *this;
        changed.CreationOptions::dtype = dtype;
        return changed;
    }
    // The same options with another device.
    TensorOptions device(const Device& device) const
    {
        TensorOptions changed = *this;
        changed.CreationOptions::device = device;
        return changed;
    }
    // The same options with the device of a type and an index.
    TensorOptions device(DeviceType type, int index) const { return device(Device(type, index)); }
    // The same options for a tensor that requires a gradient, or does not.
    TensorOptions requires_grad(bool on) const
    {
        TensorOptions changed = *this;
        changed.CreationOptions::requires_grad = on;
        return changed;
    }
    DType dtype() const { return dtype_or(f32); } // the dtype; f32 where none is set
    Device device() const { return CreationOptions::device.value_or(default_device()); } // the device
    bool requires_grad() const { return CreationOptions::requires_grad; } // whether a gradient is required
};

// Functions that begin a chain of options: dtype(kLong).requires_grad(true).  They have a namespace of their own, as
// the library has a namespace `device`.
namespace option_builders {
inline TensorOptions dtype(DType dtype) { return dtype; }            // options with this dtype
inline TensorOptions device(const Device& device) { return device; } // options with this device
// Options of a tensor that requires a gradient, or does not.
inline TensorOptions requires_grad(bool on = true) { return TensorOptions().requires_grad(on); }
} // namespace option_builders
using namespace option_builders;

// The types accepted in place of options by functions that create tensors: a dtype, a device, or a type of devices.
template <class T>
concept OneOption = std::same_as<T, DType> || std::same_as<T, Device> || std::same_as<T, DeviceType>;

} // namespace reprise
