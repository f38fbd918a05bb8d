// What the generated bindings of optimizers share.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include <reprise/optim.hpp>

#include "binding.hpp"

namespace reprise::python {

void bind_optimizer_base(nb::module_&);

// The parameters of an iterable.  Exceptions of the iteration arrive unchanged; TypeError where an item is no tensor.
Parameters parameters_of(nb::handle);

// A group of parameters, from a dictionary {"params": ..., "lr": ...}.  set(options, name, value) sets an option and
// returns whether there is one of this name.
template <class Settings, class Set>
optim::ParamGroup<Settings> group_of(const nb::dict& group, Settings options, const Set& set)
{
    Parameters parameters;
    for (auto [key, value] : group) {
        const std::string name = nb::str(key).c_str();
        if (name == "params") parameters = parameters_of(value);
        else if (!set(options, name, value))
            throw nb::type_error(("The optimizer has no option (" + name + ").").c_str());
    }
    return {parameters, options};
}

// Makes an optimizer of parameters, or of groups of parameters as dictionaries.
template <class Optimizer, class Settings, class Set>
void make_optimizer(Optimizer* self, nb::handle given, const Settings& options, const Set& set)
{
    if (nb::isinstance<Tensor>(given))
        throw nb::type_error("An optimizer takes a list of tensors, or of dictionaries, not one tensor.");
    const nb::list list(nb::borrow(given));
    std::vector<optim::ParamGroup<Settings>> groups;
    const bool has_groups = nb::len(list) > 0 && PyDict_Check(nb::object(list[0]).ptr());
    if (has_groups)
        for (nb::handle group : list) groups.push_back(group_of(nb::cast<nb::dict>(group), options, set));
    else groups.emplace_back(parameters_of(list), options);
    const Unlocked unlocked;
    new (self) Optimizer(optim::ParamGroups<Settings>(std::move(groups)), options);
}

template <class Optimizer, class Settings, class Set>
nb::class_<Optimizer, optim::Optimizer> bind_optimizer(nb::module_& to, const char* name, const char* doc,
                                                       const Set& set)
{
    nb::class_<Optimizer, optim::Optimizer> optimizer(to, name, nb::is_final(), doc);
    optimizer.def(
        "add_param_group",
        [set](Optimizer& self, const nb::dict& group) {
            const auto& usual = dynamic_cast<const optim::OptionsWith<Settings>&>(self.defaults());
            const optim::ParamGroup<Settings> made = group_of(group, static_cast<Settings>(usual), set);
            const Unlocked unlocked;
            self.add_param_group(made);
        },
        "group"_a, "Adds a group of parameters: {\"params\": ..., \"lr\": ...}.");
    return optimizer;
}

// The members that all schedules have.
template <class Schedule> void bind_schedule_members(Schedule& schedule)
{
    using Type = typename Schedule::Type;
    schedule.def_prop_ro("last_epoch", &Type::last_epoch)
        .def("get_last_lr", &Type::get_last_lr, "The rate of each group.")
        .def("state_dict", &Type::state_dict, nb::call_guard<Unlocked>())
        .def("load_state_dict", &Type::load_state_dict, "values"_a, nb::call_guard<Unlocked>());
}

} // namespace reprise::python
