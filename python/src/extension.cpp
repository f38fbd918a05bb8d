// The extension module reprise._core.  Nothing in the library knows Python.
#include <reprise/device.hpp>

#include "binding.hpp"

NB_MODULE(_core, m)
{
    using namespace reprise::python;
    m.doc() = "The bindings of Reprise, which the package reprise exports.";
    bind_enums(m);
    bind_errors(m);
    bind_dims(m);
    bind_devices(m);
    nb::class_<reprise::Tensor> tensor = bind_tensor(m);
    bind_operators(tensor);
    bind_arrays(m, tensor);
    bind_indexing(tensor);
    bind_ops(m, tensor);
    bind_autograd(m, tensor);
    bind_custom_functions(m);
    bind_programs(m);
    nb::module_ modules = m.def_submodule("nn", "Layers and networks, with the names of torch.nn.");
    bind_modules(modules);
    bind_containers(modules);
    bind_layers(modules);
    nb::module_ optim = m.def_submodule("optim", "Optimizers and schedules, with the names of torch.optim.");
    bind_optimizers(optim);
    bind_optimization(m, optim);
    nb::module_ train = m.def_submodule("train", "Checkpoints of a training.");
    bind_files(m, train);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_callbacks));
}
