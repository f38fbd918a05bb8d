// Gradients, checkpoints, and the guards that set a mode of the thread.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/autocast.hpp>
#include <reprise/autograd/anomaly.hpp>
#include <reprise/autograd/checkpoint.hpp>
#include <reprise/grad_mode.hpp>
#include <reprise/program.hpp>

#include "binding.hpp"
#include "enum_names.hpp"
#include "structure.hpp"

namespace reprise::python {
namespace {

// Runs f as a checkpoint: values inside of it are recomputed in the backward pass.
nb::object run_checkpoint(const nb::callable& f, const nb::args& given, const std::string& policy,
                          const std::string& layer, std::optional<DType> saved_dtype)
{
    const CheckpointOptions options{
        .policy = choice<CheckpointOptions::Policy>(policy), .layer = layer, .saved_dtype = saved_dtype};
    std::vector<Tensor> in;
    const Structure arguments = Structure::of_result(given, in);
    Structure result;
    std::vector<Tensor> out;
    {
        const Unlocked unlocked;
        out = checkpoint(
            options,
            [&](const std::vector<Tensor>& tensors) {
                const nb::gil_scoped_acquire locked;
                const nb::object returned = f(*nb::borrow<nb::args>(arguments.value(tensors)));
                std::vector<Tensor> results;
                result = Structure::of_result(returned, results);
                return results;
            },
            std::as_const(in));
    }
    return result.value(out);
}

// A guard of the library as an object: enter() makes it, leave() destroys it, on the same thread.
template <class Guard, class... Arguments> void guard(nb::module_& m, const char* name)
{
    struct Held {
        std::unique_ptr<Guard> guard;
    };
    nb::class_<Held>(m, name)
        .def("__init__",
             [](Held* self, Arguments... arguments) {
                 new (self) Held{std::make_unique<Guard>(std::move(arguments)...)};
             })
        .def("leave", [](Held& self) { self.guard.reset(); });
}

} // namespace

void bind_autograd(nb::module_& m, nb::class_<Tensor>&)
{
    guard<AutoGradMode, bool>(m, "GradModeGuard");
    guard<autocast, DType, bool>(m, "AutocastGuard");
    guard<detect_anomaly>(m, "AnomalyGuard");
    m.def("is_grad_enabled", &grad_enabled, "Whether ops of this thread are recorded for gradients.");
    m.def("_set_grad_enabled", &GradMode::set_enabled, "on"_a);
    m.def("is_autocast_enabled", &autocast_enabled, "Whether ops of this thread choose their dtypes.");
    m.def("_checkpoint", &run_checkpoint, "function"_a, "args"_a, nb::kw_only(), "policy"_a = "everything",
          "layer"_a = "", "saved_dtype"_a = nb::none(),
          "Calls function(*args) so that the values inside are recomputed in the backward pass, with the "
          "same bits.");
}

} // namespace reprise::python
