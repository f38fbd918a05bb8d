// reprise.Error, the exception of the library, with its kind.
#include <exception>
#include <typeinfo>

#include <reprise/error.hpp>

#include "binding.hpp"

namespace reprise::python {
namespace {

PyObject* error_class = nullptr; // never released: exceptions may be raised until the interpreter ends

void translate(const std::exception_ptr& thrown, void*)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& e) {
        nb::object made = nb::handle(error_class)(e.what());
        made.attr("kind") = nb::cast(e.kind());
        PyErr_SetObject(error_class, made.ptr());
    } catch (const std::bad_cast&) { // of nb::cast(), which says no more
        PyErr_SetString(PyExc_TypeError, "An object has another type than the one that is needed.");
    }
}

} // namespace

void bind_errors(nb::module_& m)
{
    error_class = PyErr_NewExceptionWithDoc(
        "reprise.Error", "The exception that the library raises; `kind` says what went wrong.",
        PyExc_RuntimeError, nullptr);
    if (!error_class) nb::raise_python_error();
    m.attr("Error") = nb::borrow(error_class);
    nb::register_exception_translator(translate);
}

} // namespace reprise::python
