#include "identity.hpp"

#include <unordered_map>

#include "binding.hpp"

namespace reprise::python {
namespace {

// Weak references to the objects, by the cell of the Variable, which an object keeps alive.  Guarded by the GIL.
using Objects = std::unordered_map<const void*, PyObject*>;
Objects& objects() // never destroyed: no interpreter may be left then
{
    static auto* const all = new Objects;
    return *all;
}
std::size_t most_objects = 64; // beyond which entries of dead objects are removed

nb::object referred_to(PyObject* reference)
{
    const nb::object object = nb::steal(PyObject_CallNoArgs(reference)); // None for a dead one
    if (!object.is_valid()) PyErr_Clear();
    return object.is_valid() && !object.is_none() ? object : nb::object();
}

void remove_dead()
{
    for (auto entry = objects().begin(); entry != objects().end();) {
        if (referred_to(entry->second).is_valid()) {
            ++entry;
            continue;
        }
        Py_DECREF(entry->second);
        entry = objects().erase(entry);
    }
    most_objects = 2 * objects().size() + 64;
}

} // namespace

void remember_object(nb::handle object)
{
    const void* const cell = nb::inst_ptr<Variable>(object)->cell().get(); // its constructor may be running
    if (!cell) return;
    PyObject* const reference = PyWeakref_NewRef(object.ptr(), nullptr);
    if (!reference) nb::raise_python_error();
    if (objects().size() >= most_objects) remove_dead();
    PyObject*& entry = objects()[cell];
    Py_XDECREF(std::exchange(entry, reference));
}

nb::handle object_of_variable(const Variable& v, bool is_parameter) noexcept
{
    try {
        const auto found = objects().find(v.cell().get());
        if (found != objects().end())
            if (nb::object object = referred_to(found->second); object.is_valid()) return object.release();
        using Plain = nb::detail::type_caster_base<Variable>;
        nb::object made = is_parameter
                              ? nb::cast(Parameter(v))
                              : nb::steal(Plain::from_cpp(Variable(v), nb::rv_policy::move, nullptr));
        if (made.is_valid()) remember_object(made);
        return made.release();
    } catch (nb::python_error& e) {
        e.restore();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
    return {};
}

} // namespace reprise::python
