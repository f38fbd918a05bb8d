// Recursion through containers of Python, which may contain themselves.
#pragma once
#include <nanobind/nanobind.h>

namespace reprise::python {

// One level of recursion; RecursionError where there are too many.
class Nesting {
public:
    Nesting()
    {
        if (Py_EnterRecursiveCall(" in nested lists, tuples and dictionaries") != 0)
            nanobind::raise_python_error();
    }
    ~Nesting() { Py_LeaveRecursiveCall(); }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
};

} // namespace reprise::python
