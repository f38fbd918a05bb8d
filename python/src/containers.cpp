// Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict.
#include <memory>
#include <string>
#include <vector>

#include <reprise/nn/containers.hpp>
#include <reprise/nn/parameters.hpp>

#include "modules.hpp"

namespace reprise::python {
namespace {

using Pointer = std::shared_ptr<nn::Module>;

// Shows Python's garbage collector the modules of a container that are objects of Python: their classes refer to the
// globals of the file in which they are written, and so perhaps to the container.
int traverse(PyObject* self, visitproc visit, void* arg)
{
    const auto type = reinterpret_cast<PyTypeObject*>(nb::type<nn::Module>().ptr());
    const auto of_base = reinterpret_cast<traverseproc>(PyType_GetSlot(type, Py_tp_traverse));
    if (const int failed = of_base(self, visit, arg)) return failed;
    if (!nb::inst_ready(self)) return 0;
    for (const nn::ModulePointer& module : nb::inst_ptr<nn::Module>(self)->children()) {
        if (!std::get_deleter<nb::detail::py_deleter>(module.ptr())) continue; // made by C++
        Py_VISIT(nb::find(module.get()).ptr());
    }
    return 0;
}
int clear(PyObject* self)
{
    const auto type = reinterpret_cast<PyTypeObject*>(nb::type<nn::Module>().ptr());
    return reinterpret_cast<inquiry>(PyType_GetSlot(type, Py_tp_clear))(self);
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                       {0, nullptr}};

std::size_t position(std::int64_t index, std::size_t size)
{
    const auto count = static_cast<std::int64_t>(size);
    if (index < -count || index >= count) throw nb::index_error("The index is out of range.");
    return static_cast<std::size_t>(index < 0 ? index + count : index);
}

template <class List> nb::list objects_of(const List& list)
{
    nb::list out;
    for (const auto& item : list) out.append(nb::cast(Pointer(item)));
    return out;
}

using Modules = nb::typed<nb::iterable, nn::Module>;
std::vector<Pointer> pointers_of(const Modules& modules)
{
    std::vector<Pointer> out;
    for (nb::handle module : modules) out.push_back(nb::cast<Pointer>(module));
    return out;
}

void bind_sequential(nb::module_& m)
{
    nb::class_<nn::Sequential, nn::Module, PythonModule<nn::Sequential>>(
        m, "Sequential", nb::type_slots(slots),
        "A chain of modules: each takes the result of the one before.")
        .def(nb::init<>())
        .def("__init__",
             [](nb::handle_t<nn::Sequential> self, const nb::args& modules) {
                 nb::handle type = nb::type<nn::Sequential>();
                 type.attr("__init__")(self);
                 auto& made = nb::cast<nn::Sequential&>(self);
                 if (modules.size() == 1 && PyDict_Check(nb::object(modules[0]).ptr())) {
                     for (auto [name, module] : nb::borrow<nb::dict>(modules[0]))
                         made.push_back(nb::cast<std::string>(name), nb::cast<Pointer>(module));
                     return;
                 }
                 for (nb::handle module : modules) made.push_back(nb::cast<Pointer>(module));
             })
        .def(
            "append",
            [](nb::handle_t<nn::Sequential> self, const Pointer& module) {
                nb::cast<nn::Sequential&>(self).push_back(module);
                return nb::borrow(self);
            },
            "module"_a)
        .def(
            "add_module",
            [](nn::Sequential& s, const std::string& name, const Pointer& module) {
                s.push_back(name, module);
            },
            "name"_a, "module"_a, "Appends a module under a name.")
        .def("__len__", &nn::Sequential::size)
        .def(
            "__getitem__",
            [](const nn::Sequential& s, std::int64_t index) { return s.ptr(position(index, s.size())); },
            "index"_a)
        .def(
            "__getitem__",
            [](const nn::Sequential& s, const nb::slice& range) {
                const nb::object part = objects_of(s).attr("__getitem__")(range);
                return nb::type<nn::Sequential>()(*nb::borrow<nb::args>(nb::tuple(part)));
            },
            "index"_a, "Another chain of the modules in the range.")
        .def("__iter__", [](const nn::Sequential& s) { return nb::iter(objects_of(s)); });
}

void bind_lists(nb::module_& m)
{
    nb::class_<nn::ModuleList, nn::Module>(m, "ModuleList", nb::is_final(), nb::type_slots(slots),
                                           "A list of modules.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](nn::ModuleList* self, const Modules& modules) {
                new (self) nn::ModuleList(pointers_of(modules));
            },
            "modules"_a)
        .def(
            "append",
            [](nb::handle_t<nn::ModuleList> self, const Pointer& module) {
                nb::cast<nn::ModuleList&>(self).append(module);
                return nb::borrow<nb::typed<nb::object, nn::ModuleList>>(self);
            },
            "module"_a)
        .def(
            "extend",
            [](nb::handle_t<nn::ModuleList> self, const Modules& modules) {
                nb::cast<nn::ModuleList&>(self).extend(pointers_of(modules));
                return nb::borrow<nb::typed<nb::object, nn::ModuleList>>(self);
            },
            "modules"_a)
        .def(
            "insert",
            [](nn::ModuleList& s, std::int64_t index, const Pointer& module) { s.insert(index, module); },
            "index"_a, "module"_a)
        .def(
            "pop", [](nn::ModuleList& s, std::int64_t index) { return s.pop(index); }, "index"_a = -1)
        .def("__len__", &nn::ModuleList::size)
        .def(
            "__getitem__",
            [](const nn::ModuleList& s, std::int64_t index) {
                return s.ptr(static_cast<std::int64_t>(position(index, s.size())));
            },
            "index"_a)
        .def(
            "__getitem__",
            [](const nn::ModuleList& s, const nb::slice& range) {
                const nb::object part = objects_of(s).attr("__getitem__")(range);
                return nn::ModuleList(pointers_of(nb::borrow<Modules>(part)));
            },
            "index"_a, "Another list of the modules in the range.")
        .def(
            "__setitem__",
            [](nn::ModuleList& s, std::int64_t index, const Pointer& module) { s.set(index, module); },
            "index"_a, "module"_a)
        .def("__iter__", [](const nn::ModuleList& s) { return nb::iter(objects_of(s)); });
    nb::class_<nn::ParameterList, nn::Module>(m, "ParameterList", nb::is_final(), "A list of parameters.")
        .def(
            "__init__",
            [](nn::ParameterList* self, const Parameters& parameters) {
                new (self) nn::ParameterList();
                self->extend(parameters);
            },
            "parameters"_a = nb::tuple())
        .def(
            "append", [](nn::ParameterList& s, const Variable& p) { s.append(p); }, "parameter"_a)
        .def("__len__", &nn::ParameterList::size)
        .def(
            "__getitem__",
            [](const nn::ParameterList& s, std::int64_t index) {
                return s[static_cast<std::int64_t>(position(index, s.size()))];
            },
            "index"_a);
}

nn::ModuleDict::Items items_of(const nb::dict& modules)
{
    nn::ModuleDict::Items items;
    for (auto [name, module] : modules)
        items.emplace_back(nb::cast<std::string>(name), nb::cast<Pointer>(module));
    return items;
}

void bind_dictionaries(nb::module_& m)
{
    nb::class_<nn::ModuleDict, nn::Module>(m, "ModuleDict", nb::is_final(), nb::type_slots(slots),
                                           "Modules by name.")
        .def(
            "__init__",
            [](nn::ModuleDict* self, const nb::dict& modules) {
                new (self) nn::ModuleDict(items_of(modules));
            },
            "modules"_a = nb::dict())
        .def(
            "update", [](nn::ModuleDict& s, const nb::dict& modules) { s.update(items_of(modules)); },
            "modules"_a)
        .def(
            "pop", [](nn::ModuleDict& s, const std::string& name) { return s.pop(name); }, "name"_a)
        .def("clear", &nn::ModuleDict::clear)
        .def("keys", &nn::ModuleDict::keys)
        .def("values", [](const nn::ModuleDict& s) { return objects_of(s.values()); })
        .def("items",
             [](const nn::ModuleDict& s) {
                 nb::list out;
                 for (const auto& [name, module] : s.items()) out.append(nb::make_tuple(name, module));
                 return out;
             })
        .def("__len__", &nn::ModuleDict::size)
        .def("__contains__", &nn::ModuleDict::contains, "name"_a)
        .def(
            "__getitem__",
            [](const nn::ModuleDict& s, const std::string& name) {
                for (const auto& [key, module] : s.items())
                    if (key == name) return module;
                throw nb::key_error(name.c_str());
            },
            "name"_a)
        .def(
            "__setitem__",
            [](nn::ModuleDict& s, const std::string& name, const Pointer& module) { s.insert(name, module); },
            "name"_a, "module"_a)
        .def("__iter__", [](const nn::ModuleDict& s) { return nb::iter(nb::cast(s.keys())); });
    nb::class_<nn::ParameterDict, nn::Module>(m, "ParameterDict", nb::is_final(), "Parameters by name.")
        .def(nb::init<>())
        .def(
            "__setitem__",
            [](nn::ParameterDict& s, const std::string& name, const Variable& p) { s.insert(name, p); },
            "name"_a, "parameter"_a)
        .def(
            "__getitem__", [](const nn::ParameterDict& s, const std::string& name) { return s[name]; },
            "name"_a)
        .def("__contains__", &nn::ParameterDict::contains, "name"_a)
        .def("keys", &nn::ParameterDict::keys)
        .def("values", &nn::ParameterDict::values)
        .def("__len__", &nn::ParameterDict::size);
}

} // namespace

void bind_containers(nb::module_& m)
{
    bind_sequential(m);
    bind_lists(m);
    bind_dictionaries(m);
}

} // namespace reprise::python
