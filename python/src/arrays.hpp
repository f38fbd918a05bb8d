// Exchange of values with NumPy, DLPack and Python's numbers.
#pragma once
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <reprise/tensor.hpp>

namespace reprise::python {

// An array of another library in the memory of the host, row-major.
using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

// Copies the elements of an array into a new tensor.
Tensor tensor_of(const Array&, const CreationOptions& = {});
// A tensor, or a copy of an array on the device, or else on the default one; TypeError for other objects.
Tensor tensor_of(nanobind::handle, const std::optional<Device>& = {});
// A tensor of the numbers in nested lists.
Tensor tensor_of_numbers(nanobind::handle data, CreationOptions);
// Waits until the elements of a tensor can be read; on Python's main thread signals are handled meanwhile.
void wait_for(const Tensor&);
// The element of a tensor as a number of Python.
nanobind::object number_of(const Tensor&);

} // namespace reprise::python
