// nn.Module, which classes of Python derive from.
#include "modules.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <reprise/hooks.hpp>
#include <reprise/model_file.hpp>

#include "arrays.hpp"
#include "enum_names.hpp"

namespace reprise::python {

nb::object object_of(const nn::ModulePointer& module, nb::handle owner)
{
    // Members of a C++ module live as long as it does; others are shared.
    if (module.use_count() == 0) return nb::cast(module.get(), nb::rv_policy::reference_internal, owner);
    return nb::cast(module.ptr());
}

Member member_of(const nn::Module& module, const Variable& v)
{
    if (!v.defined()) return nb::borrow<Member>(nb::none());
    bool is_parameter = v.requires_grad();
    if (!is_parameter) // frozen, or a running value
        for (const Variable& each : module.parameters(false)) is_parameter = is_parameter || each.is_same(v);
    return nb::steal<Member>(object_of_variable(v, is_parameter));
}

namespace {

using Class = nb::class_<nn::Module, PythonModule<nn::Module>>;

PythonSide* python_side(nb::handle self)
{
    if (!nb::inst_ready(self))
        throw nb::attribute_error("The module is not initialised: call super().__init__() first.");
    return dynamic_cast<PythonSide*>(&nb::cast<nn::Module&>(self));
}

void set_plain(nb::handle self, nb::handle name, nb::handle value)
{
    if (PyObject_GenericSetAttr(self.ptr(), name.ptr(), value.ptr()) != 0) nb::raise_python_error();
}

// Whether the class has a property or another attribute of this name that takes values itself.
bool has_setter(nb::handle self, const nb::str& name)
{
    const nb::object of_class = nb::getattr(self.type(), name, nb::none());
    return !of_class.is_none() && nb::hasattr(of_class.type(), "__set__");
}

void set_attribute(nb::handle self, const nb::str& name, nb::handle value)
{
    PythonSide* const module = python_side(self);
    if (has_setter(self, name)) {
        set_plain(self, name, value); // what it sets is registered then
        return;
    }
    if (module) module->attribute_is_set(name.c_str(), value);
    else if (nb::isinstance<nn::Module>(value) || nb::isinstance<Variable>(value))
        throw nb::type_error(
            "A layer of the library takes no further modules and parameters: put it into a class of your own "
            "that derives from nn.Module.");
    set_plain(self, name, value);
}

void delete_attribute(nb::handle self, const nb::str& name)
{
    if (PythonSide* const module = python_side(self)) module->attribute_is_deleted(name.c_str());
    set_plain(self, name, nb::handle());
}

void register_parameter(nb::handle self, const nb::str& name, nb::handle value)
{
    if (!value.is_none() && !nb::isinstance<Parameter>(value))
        throw nb::type_error("A parameter is an nn.Parameter or None.");
    set_attribute(self, name, value);
}
void register_module(nb::handle self, const nb::str& name, nb::handle value)
{
    if (!value.is_none() && !nb::isinstance<nn::Module>(value))
        throw nb::type_error("A module is an nn.Module or None.");
    set_attribute(self, name, value);
}

// The device of the module's first parameter; none where it has no parameters.
std::optional<Device> device_of(const nn::Module& module)
{
    const Parameters all = module.parameters();
    return all.empty() ? std::nullopt : std::optional(all.front().device());
}

void register_buffer(nb::handle self, const nb::str& name, nb::handle value)
{
    PythonSide* const module = python_side(self);
    if (!module) throw nb::type_error("Only classes that derive from nn.Module have further buffers.");
    const bool is_buffer = nb::isinstance<Variable>(value) && !nb::isinstance<Parameter>(value) &&
                           !nb::cast<const Variable&>(value).requires_grad();
    const Variable buffer = is_buffer ? nb::cast<const Variable&>(value) : Variable(tensor_of(value), false);
    module->add_buffer(name.c_str(), buffer);
    set_plain(self, name, nb::cast(buffer));
}

nb::any call(nb::handle self, const nb::args& arguments, const nb::kwargs& keywords)
{
    if (PythonSide* const module = python_side(self))
        return nb::borrow<nb::any>(module->call(self, arguments, keywords));
    if (arguments.size() != 1 || keywords.size() != 0) throw nb::type_error("This module takes one tensor.");
    auto& module = nb::cast<nn::Module&>(self);
    const Tensor x = nb::isinstance<Tensor>(arguments[0]) ? tensor_of(arguments[0])
                                                          : tensor_of(arguments[0], device_of(module));
    Tensor out;
    {
        const Unlocked unlocked;
        out = module(x, here());
    }
    return nb::borrow<nb::any>(nb::cast(out));
}

nb::any forward(nb::handle self, const nb::args& arguments, const nb::kwargs& keywords)
{
    PythonSide* const side = python_side(self);
    auto& module = nb::cast<nn::Module&>(self);
    // Layers of several arguments or results have only their call, which their class defines for them.
    const nb::object own = nb::getattr(self.type(), "__call__");
    const auto is_for_one = [&] {
        return nb::cast<std::string>(own.attr("__doc__")).find("-> tuple") == std::string::npos;
    };
    const bool is_one = arguments.size() == 1 && keywords.size() == 0 && nb::isinstance<Tensor>(arguments[0]);
    if (!side && !(is_one && is_for_one())) return nb::borrow<nb::any>(self(*arguments, **keywords));
    if (!is_one) throw nb::type_error("forward() of the library's module takes one tensor: override it.");
    const Tensor x = tensor_of(arguments[0]);
    Tensor out;
    {
        const Unlocked unlocked;
        out = side ? side->base_forward(x) : module.forward(x);
    }
    return nb::borrow<nb::any>(nb::cast(out));
}

// A module as an object during a call.  Where the object is made for the call, as the module is a member of a C++
// class, it can't be used afterwards, as nothing makes it keep the module alive.
struct BorrowedModule {
    nb::object object;
    bool is_made;

    explicit BorrowedModule(nn::Module& module) : object(nb::find(module)), is_made(!object.is_valid())
    {
        if (is_made) object = nb::cast(&module, nb::rv_policy::reference);
        else if (!nb::inst_ready(object)) is_made = true; // of an earlier call, and kept since then
        if (is_made) nb::inst_set_state(object, true, false);
    }
    ~BorrowedModule()
    {
        if (is_made) nb::inst_set_state(object, false, false);
    }
    BorrowedModule(const BorrowedModule&) = delete;
    BorrowedModule& operator=(const BorrowedModule&) = delete;
};

// Hooks: hook(module, inputs, ...) takes and returns lists of tensors, one tensor or None.
template <class... Lists> auto hook_of(const nb::callable& f)
{
    return [hook = share(f)](nn::Module& module, const Lists&... lists) -> std::vector<Tensor> {
        const nb::gil_scoped_acquire locked;
        const BorrowedModule self(module);
        const nb::object returned = hook->get()(self.object, lists...);
        std::vector<Tensor> out;
        tensors_in(returned, out);
        return out;
    };
}

// A function of reprise/_pickling.py.
nb::object pickling(const char* function) { return nb::module_::import_("reprise._pickling").attr(function); }

template <class T> nb::list pairs_of(const OrderedDict<T>& dictionary)
{
    nb::list out;
    for (const auto& [name, value] : dictionary) out.append(nb::make_tuple(name, value));
    return out;
}

// As PyTorch orders it: a module's own parameters, its buffers, then those of its children.
nb::typed<nb::dict, std::string, Tensor> state_of(nn::Module& module, const std::string& prefix)
{
    nn::StateDict state;
    {
        const Unlocked unlocked;
        state = module.state_dict(prefix);
    }
    nb::typed<nb::dict, std::string, Tensor> out;
    const auto add = [&](const std::string& name) {
        const auto found = state.find(name);
        if (found == state.end()) return;
        out[name.c_str()] = nb::cast(found->second);
        state.erase(found);
    };
    for (const auto& [path, each] : module.named_modules()) {
        const std::string before = prefix + (path.empty() ? "" : path + ".");
        for (const auto& [name, value] : each->named_parameters(false)) add(before + name);
        for (const auto& [name, value] : each->named_buffers(false)) add(before + name);
    }
    for (const auto& [name, value] : state) out[name.c_str()] = nb::cast(value); // second names
    return out;
}

nb::list pairs_of_parameters(const OrderedDict<Variable>& dictionary)
{
    nb::list out;
    for (const auto& [name, value] : dictionary)
        out.append(nb::make_tuple(name, nb::steal(object_of_variable(value, true))));
    return out;
}

void bind_parameters(Class& module)
{
    module
        .def(
            "parameters", [](const nn::Module& m, bool recurse) { return m.parameters(recurse); },
            "recurse"_a = true, "All parameters, each once, a module's own before its children's.")
        .def(
            "named_parameters",
            [](const nn::Module& m, bool recurse) {
                return pairs_of_parameters(m.named_parameters(recurse));
            },
            "recurse"_a = true)
        .def(
            "buffers", [](const nn::Module& m, bool recurse) { return m.buffers(recurse); },
            "recurse"_a = true)
        .def(
            "named_buffers",
            [](const nn::Module& m, bool recurse) { return pairs_of(m.named_buffers(recurse)); },
            "recurse"_a = true)
        .def("num_parameters", &nn::Module::num_parameters, "The number of elements of all parameters.")
        .def("zero_grad", &nn::Module::zero_grad, "set_to_none"_a = true, nb::call_guard<Unlocked>())
        .def(
            "requires_grad_",
            [](nb::handle self, bool on) {
                nb::cast<nn::Module&>(self).requires_grad_(on);
                return nb::borrow(self);
            },
            "requires_grad"_a = true)
        .def("state_dict", &state_of, "prefix"_a = "",
             "The present values of all parameters and buffers by name, in the order of registration.")
        .def(
            "load_state_dict",
            [](nn::Module& m, const nb::dict& values, bool strict, const std::string& prefix,
               std::function<std::optional<std::string>(const std::string&)> rename, bool cast) {
                nn::StateDict state;
                for (auto [name, value] : values)
                    state.emplace(nb::cast<std::string>(name), tensor_of(value));
                const Unlocked unlocked;
                return m.load_state_dict(
                    state, {.strict = strict, .prefix = prefix, .rename = std::move(rename), .cast = cast});
            },
            "values"_a, "strict"_a = true, nb::kw_only(), "prefix"_a = "", "rename"_a = nb::none(),
            "cast"_a = false,
            "Assigns values, tensors or arrays, to the parameters and buffers of these names.")
        .def(
            "load_file",
            [](nn::Module& m, const std::filesystem::path& path, bool strict, const std::string& prefix,
               std::function<std::optional<std::string>(const std::string&)> rename, bool cast) {
                const Unlocked unlocked;
                return m.load_state_dict(
                    ModelFile(path),
                    {.strict = strict, .prefix = prefix, .rename = std::move(rename), .cast = cast});
            },
            "path"_a, "strict"_a = true, nb::kw_only(), "prefix"_a = "", "rename"_a = nb::none(),
            "cast"_a = false, "The same from a safetensors or GGUF file, tensor by tensor.");
}

void bind_tree(Class& module)
{
    module
        .def("children",
             [](nb::handle self) {
                 nb::list out;
                 for (const nn::ModulePointer& m : nb::cast<nn::Module&>(self).children())
                     out.append(object_of(m, self));
                 return out;
             })
        .def("named_children",
             [](nb::handle self) {
                 nb::list out;
                 for (const auto& [name, m] : nb::cast<nn::Module&>(self).named_children())
                     out.append(nb::make_tuple(name, object_of(m, self)));
                 return out;
             })
        .def(
            "modules",
            [](nb::handle self, bool include_self) {
                nb::list out;
                for (const nn::ModulePointer& m : nb::cast<nn::Module&>(self).modules(include_self))
                    out.append(object_of(m, self));
                return out;
            },
            "include_self"_a = true)
        .def("named_modules",
             [](nb::handle self) {
                 nb::list out;
                 for (const auto& [name, m] : nb::cast<nn::Module&>(self).named_modules())
                     out.append(nb::make_tuple(name, object_of(m, self)));
                 return out;
             })
        .def(
            "apply",
            [](nb::handle self, const nb::callable& f) {
                auto& root = nb::cast<nn::Module&>(self);
                std::map<const nn::Module*, nb::object> objects; // which keep the modules alive
                for (const nn::ModulePointer& m : root.modules())
                    objects.emplace(m.get(), object_of(m, self));
                root.apply([&](nn::Module& m) { f(objects.at(&m)); });
                return nb::borrow<nb::any>(self);
            },
            "f"_a, "Calls f for each module, children before the modules that contain them.");
}

void bind_modes(Class& module)
{
    const auto change = [](nb::handle self, const auto& f) {
        auto& m = nb::cast<nn::Module&>(self);
        {
            const Unlocked unlocked;
            f(m);
        }
        return nb::borrow<nb::any>(self); // of its own class, for type checkers
    };
    module.def_prop_ro("training", &nn::Module::is_training, "Whether it is in training mode.")
        .def(
            "train",
            [change](nb::handle self, bool mode) {
                return change(self, [=](nn::Module& m) { m.train(mode); });
            },
            "mode"_a = true, "Sets training mode for this module and all below it.")
        .def(
            "eval", [change](nb::handle self) { return change(self, [](nn::Module& m) { m.eval(); }); },
            "Sets evaluation mode.")
        .def(
            "to",
            [change](nb::handle self, DType dtype) {
                return change(self, [=](nn::Module& m) { m.to(dtype); });
            },
            "dtype"_a, "Casts floating parameters and buffers, in place.")
        .def(
            "to",
            [change](nb::handle self, const DeviceName& device, std::optional<DType> dtype) {
                return change(self, [&](nn::Module& m) {
                    if (dtype) m.to(device.device(), *dtype);
                    else m.to(device.device());
                });
            },
            "device"_a, "dtype"_a = nb::none(), "Moves parameters and buffers, in place.")
        .def(
            "float", [change](nb::handle self) { return change(self, [](nn::Module& m) { m.to(f32); }); },
            "Casts floating parameters and buffers to float32.")
        .def("double", [change](nb::handle self) { return change(self, [](nn::Module& m) { m.to(f64); }); })
        .def("bfloat16",
             [change](nb::handle self) { return change(self, [](nn::Module& m) { m.to(bf16); }); })
        .def(
            "cuda",
            [change](nb::handle self) { return change(self, [](nn::Module& m) { m.to(Device("cuda:0")); }); },
            "Moves parameters and buffers to the device \"cuda:0\".")
        .def("half", [change](nb::handle self) { return change(self, [](nn::Module& m) { m.half(); }); })
        .def("cpu", [change](nb::handle self) { return change(self, [](nn::Module& m) { m.cpu(); }); })
        .def(
            "set_checkpoint",
            [](nn::Module& m, bool on, const std::string& policy, const std::string& layer) {
                using Policy = CheckpointOptions::Policy;
                const CheckpointOptions options{.policy = choice<Policy>(policy), .layer = layer};
                m.set_checkpoint(on ? std::optional(options) : std::nullopt);
            },
            "on"_a = true, nb::kw_only(), "policy"_a = "everything", "layer"_a = "",
            "Turns this module's calls into checkpoints from now on, or no longer.");
}

} // namespace

void bind_modules(nb::module_& m)
{
    nb::class_<nn::LoadResult>(m, "LoadResult", "The names that load_state_dict() did not use.")
        .def_ro("missing_keys", &nn::LoadResult::missing_keys)
        .def_ro("unexpected_keys", &nn::LoadResult::unexpected_keys)
        .def_ro("dropped_keys", &nn::LoadResult::dropped_keys);
    Class module(m, "Module", nb::dynamic_attr(), nb::is_weak_referenceable(),
                 "The base class of layers and networks, as torch.nn.Module: attributes that are parameters "
                 "or modules "
                 "are registered.");
    module.def(nb::init<>())
        .def("__setattr__", &set_attribute, "name"_a, "value"_a.none())
        .def("__delattr__", &delete_attribute, "name"_a)
        .def("__call__", &call)
        .def("forward", &forward, "Computes the result, without hooks.  Classes override it.")
        .def("extra_repr",
             [](const nn::Module& self) {
                 const auto* const side = dynamic_cast<const PythonSide*>(&self);
                 return side ? side->base_extra_repr() : self.extra_repr();
             })
        .def("__repr__",
             [](const nn::Module& self) {
                 std::ostringstream text;
                 text << self;
                 return text.str();
             })
        .def("register_buffer", &register_buffer, "name"_a, "value"_a,
             "Registers a tensor without gradient that state_dict() and to() include.")
        .def("register_parameter", &register_parameter, "name"_a, "value"_a.none())
        .def("register_module", &register_module, "name"_a, "module"_a.none())
        .def("add_module", &register_module, "name"_a, "module"_a.none())
        .def("_registered",
             [](const nn::Module& self) -> std::optional<std::vector<std::string>> {
                 const auto* const side = dynamic_cast<const PythonSide*>(&self);
                 return side ? std::optional(side->registered()) : std::nullopt;
             })
        .def(
            "__reduce_ex__",
            [](nb::handle self, nb::handle) { return nb::borrow<nb::tuple>(pickling("reduced")(self)); },
            "protocol"_a)
        .def(
            "__getstate__", [](nb::handle self) { return pickling("state_of")(self); },
            "What copies and pickles hold: the attributes, and how they are registered.")
        .def(
            "__setstate__", [](nb::handle self, nb::handle state) { pickling("set_state")(self, state); },
            "state"_a)
        .def(
            "register_forward_pre_hook",
            [](nn::Module& self, const nb::callable& hook) {
                return self.register_forward_pre_hook(hook_of<std::vector<Tensor>>(hook));
            },
            "hook"_a, "hook(module, inputs) runs before each forward().")
        .def(
            "register_forward_hook",
            [](nn::Module& self, const nb::callable& hook) {
                return self.register_forward_hook(hook_of<std::vector<Tensor>, std::vector<Tensor>>(hook));
            },
            "hook"_a, "hook(module, inputs, outputs) runs after each forward().")
        .def(
            "register_full_backward_hook",
            [](nn::Module& self, const nb::callable& hook) {
                return self.register_full_backward_hook(
                    hook_of<std::vector<Tensor>, std::vector<Tensor>>(hook));
            },
            "hook"_a, "hook(module, grad_inputs, grad_outputs) runs in backward passes.");
    bind_parameters(module);
    bind_tree(module);
    bind_modes(module);
}

} // namespace reprise::python
