// What all files of the extension share.  They have one function bind_X() each, which extension.cpp calls.
#pragma once
#include <source_location>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <reprise/nn/module.hpp>
#include <reprise/tensor.hpp>

#include "callback.hpp"
#include "casters.hpp"
#include "names.hpp"

namespace reprise::python {

namespace nb = nanobind;
using namespace nanobind::literals;

// The place of a module's call, which anomaly mode reports.
inline nn::Module::Place here() { return nn::Module::Place(std::source_location::current()); }

void bind_errors(nb::module_&);
void bind_dims(nb::module_&);
void bind_devices(nb::module_&);
nb::class_<Tensor> bind_tensor(nb::module_&);
void bind_operators(nb::class_<Tensor>&);
void bind_indexing(nb::class_<Tensor>&);
void bind_arrays(nb::module_&, nb::class_<Tensor>&);
void bind_autograd(nb::module_&, nb::class_<Tensor>&);
void bind_custom_functions(nb::module_&);
void bind_ops(nb::module_&, nb::class_<Tensor>&); // generated
void bind_programs(nb::module_&);
void bind_modules(nb::module_& nn);
void bind_containers(nb::module_& nn);
void bind_layers(nb::module_& nn);        // generated
void bind_optimizers(nb::module_& optim); // generated
void bind_optimization(nb::module_& m, nb::module_& optim);
void bind_files(nb::module_& m, nb::module_& train);
void bind_enums(nb::module_&); // generated

} // namespace reprise::python
