// Optimizer and its groups, clipping, GradScaler, averages and LBFGS.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <reprise/optim/averages.hpp>
#include <reprise/optim/clip.hpp>
#include <reprise/optim/grad_scaler.hpp>
#include <reprise/optim/lbfgs.hpp>

#include "optimizers.hpp"

namespace reprise::python {
namespace {

using Group = optim::Optimizer::GroupView;

// A closure that returns the loss.
using Closure = std::function<Tensor()>;

void bind_clipping(nb::module_& m)
{
    m.def(
        "clip_grad_norm_",
        [](nb::typed<nb::object, Parameters> given, double max_norm, double norm_type,
           bool error_if_nonfinite) {
            const Parameters parameters = nb::isinstance<Tensor>(given)
                                              ? Parameters{nb::cast<const Tensor&>(given)}
                                              : parameters_of(given);
            const Unlocked unlocked;
            return Tensor(optim::clip_grad_norm_(
                parameters, max_norm, {.norm_type = norm_type, .error_if_nonfinite = error_if_nonfinite}));
        },
        "parameters"_a, "max_norm"_a, "norm_type"_a = 2.0, "error_if_nonfinite"_a = false,
        "Scales the gradients so that their norm is at most max_norm; returns the norm before.");
    m.def("clip_grad_value_", &optim::clip_grad_value_, "parameters"_a, "clip_value"_a,
          nb::call_guard<Unlocked>());
}

void bind_scaler(nb::module_& m)
{
    nb::class_<GradScaler>(m, "GradScaler", "Scales losses so that gradients of float16 do not vanish.")
        .def(
            "__init__",
            [](GradScaler* self, double init_scale, double growth_factor, double backoff_factor,
               std::int64_t growth_interval, bool enabled) {
                new (self) GradScaler({init_scale, growth_factor, backoff_factor, growth_interval, enabled});
            },
            "init_scale"_a = 65536.0, "growth_factor"_a = 2.0, "backoff_factor"_a = 0.5,
            "growth_interval"_a = 2000, "enabled"_a = true)
        .def(
            "scale",
            [](GradScaler& s, const Tensor& loss) {
                const Unlocked unlocked;
                return s.scale(loss);
            },
            "loss"_a)
        .def("unscale_", &GradScaler::unscale_, "optimizer"_a, nb::call_guard<Unlocked>(),
             nb::keep_alive<1, 2>())
        .def("step", &GradScaler::step, "optimizer"_a, nb::call_guard<Unlocked>(), nb::keep_alive<1, 2>())
        .def(
            "update",
            [](GradScaler& s, std::optional<double> scale) {
                const Unlocked unlocked;
                if (scale) s.update(*scale);
                else s.update();
            },
            "new_scale"_a = nb::none())
        .def("get_scale", &GradScaler::get_scale, nb::call_guard<Unlocked>())
        .def("is_enabled", &GradScaler::is_enabled)
        .def("state_dict", &GradScaler::state_dict, nb::call_guard<Unlocked>())
        .def("load_state_dict", &GradScaler::load_state_dict, "values"_a, nb::call_guard<Unlocked>());
}

void bind_others(nb::module_& m)
{
    using optim::ExponentialMovingAverage, optim::LBFGS;
    nb::class_<ExponentialMovingAverage>(m, "ExponentialMovingAverage",
                                         "Averages of parameters over the steps.")
        .def(
            "__init__",
            [](ExponentialMovingAverage* self, const Parameters& parameters, double decay,
               bool use_num_updates) {
                const Unlocked unlocked;
                new (self) ExponentialMovingAverage(parameters,
                                                    {.decay = decay, .use_num_updates = use_num_updates});
            },
            "parameters"_a, "decay"_a = 0.999, "use_num_updates"_a = true)
        .def("update", &ExponentialMovingAverage::update, nb::call_guard<Unlocked>())
        .def("copy_to", &ExponentialMovingAverage::copy_to, nb::call_guard<Unlocked>())
        .def_prop_ro("averages", &ExponentialMovingAverage::averages)
        .def("state_dict", &ExponentialMovingAverage::state_dict, nb::call_guard<Unlocked>())
        .def("load_state_dict", &ExponentialMovingAverage::load_state_dict, "values"_a,
             nb::call_guard<Unlocked>());
    nb::class_<LBFGS>(m, "LBFGS", "Limited-memory BFGS, whose step() takes a closure.")
        .def(
            "__init__",
            [](LBFGS* self, const Parameters& parameters, double lr, std::int64_t max_iter,
               std::optional<std::int64_t> max_eval, double tolerance_grad, double tolerance_change,
               std::int64_t history_size, const std::optional<std::string>& line_search_fn) {
                const Unlocked unlocked;
                new (self) LBFGS(parameters, {lr, max_iter, max_eval, tolerance_grad, tolerance_change,
                                              history_size, line_search_fn.value_or("")});
            },
            "params"_a, "lr"_a = 1.0, "max_iter"_a = 20, "max_eval"_a = nb::none(), "tolerance_grad"_a = 1e-7,
            "tolerance_change"_a = 1e-9, "history_size"_a = 100, "line_search_fn"_a = nb::none())
        .def("zero_grad", &LBFGS::zero_grad, "set_to_none"_a = true, nb::call_guard<Unlocked>())
        .def(
            "step",
            [](LBFGS& s, const Closure& closure) {
                const Unlocked unlocked;
                return s.step(closure);
            },
            "closure"_a);
}

} // namespace

Parameters parameters_of(nb::handle given)
{
    if (nb::isinstance<Tensor>(given)) throw nb::type_error("A list of tensors is needed, not one tensor.");
    Parameters out;
    for (nb::handle item : nb::iter(given)) {
        if (!nb::isinstance<Tensor>(item))
            throw nb::type_error(
                ("A parameter is a tensor, not " + std::string(nb::type_name(item.type()).c_str()) + ".")
                    .c_str());
        out.push_back(nb::cast<const Tensor&>(item));
    }
    return out;
}

void bind_optimizer_base(nb::module_& m)
{
    nb::class_<Group>(m, "ParamGroup", "A group of an optimizer: group[\"lr\"] is its learning rate.")
        .def(
            "__getitem__",
            [](const Group& g, const std::string& name) -> nb::object {
                if (name == "params") return nb::cast(Parameters(g.params));
                if (name == "betas") return nb::make_tuple(g.option("beta1"), g.option("beta2"));
                return nb::cast(g.option(name));
            },
            "name"_a)
        .def(
            "__setitem__", [](Group& g, const std::string& name, double value) { g.set_option(name, value); },
            "name"_a, "value"_a)
        .def(
            "__setitem__",
            [](Group& g, const std::string& name, std::pair<double, double> betas) {
                if (name != "betas") throw nb::type_error(("(" + name + ") is one number.").c_str());
                g.set_option("beta1", betas.first);
                g.set_option("beta2", betas.second);
            },
            "name"_a, "value"_a)
        .def(
            "__contains__",
            [](const Group& g, const std::string& name) {
                try {
                    if (name != "params") static_cast<void>(g.option(name == "betas" ? "beta1" : name));
                    return true;
                } catch (const Error&) {
                    return false;
                }
            },
            "name"_a);
    nb::class_<optim::Optimizer>(m, "Optimizer", nb::is_weak_referenceable(), "The base class of optimizers.")
        .def("zero_grad", &optim::Optimizer::zero_grad, "set_to_none"_a = true, nb::call_guard<Unlocked>())
        .def(
            "step",
            [](optim::Optimizer& self, const Closure& closure) -> std::optional<Tensor> {
                const Unlocked unlocked;
                if (closure) return self.step(closure);
                self.step();
                return std::nullopt;
            },
            "closure"_a = nb::none(), "Updates all parameters that have a gradient.")
        .def("step_unless", &optim::Optimizer::step_unless, "skip"_a, nb::call_guard<Unlocked>())
        .def("parameters", [](const optim::Optimizer& self) { return Parameters(self.parameters()); })
        .def_prop_ro("param_groups",
                     [](nb::handle self) {
                         nb::list out;
                         for (Group& group : nb::cast<optim::Optimizer&>(self).param_groups())
                             out.append(nb::cast(&group, nb::rv_policy::reference_internal, self));
                         return out;
                     })
        .def(
            "get_lr", [](const optim::Optimizer& self, std::size_t group) { return self.get_lr(group); },
            "group"_a = 0)
        .def(
            "set_lr",
            [](optim::Optimizer& self, double value, std::optional<std::size_t> group) {
                if (group) self.set_lr(value, *group);
                else self.set_lr(value);
            },
            "value"_a, "group"_a = nb::none(), "Sets the learning rate of a group, or of all.")
        .def("state_dict", &optim::Optimizer::state_dict, nb::call_guard<Unlocked>())
        .def("load_state_dict", &optim::Optimizer::load_state_dict, "values"_a, nb::call_guard<Unlocked>());
    nb::class_<optim::LRScheduler> schedule(m, "LRScheduler",
                                            "The base class of schedules of the learning rate.");
    schedule.def(
        "step", [](optim::LRScheduler& self) { self.step(); }, "Advances to the next epoch.");
    bind_schedule_members(schedule);
}

void bind_optimization(nb::module_& m, nb::module_& optim_module)
{
    bind_scaler(m);
    bind_clipping(optim_module);
    bind_others(optim_module);
}

} // namespace reprise::python
