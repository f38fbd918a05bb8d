// Dim, a size that is not known before a call, and the functions that make and combine sizes.
#include <functional>
#include <optional>
#include <string>

#include <reprise/dim.hpp>

#include "binding.hpp"

namespace reprise::python {
namespace {

template <class F> void arithmetic(nb::class_<SymbolicDim>& dim, const char* name, const char* reflected, F f)
{
    dim.def(
        name, [f](const SymbolicDim& a, const Dim& b) { return f(a.dim, b); }, nb::is_operator());
    dim.def(
        reflected, [f](const SymbolicDim& a, const Dim& b) { return f(b, a.dim); }, nb::is_operator());
}
template <class F> void comparison(nb::class_<SymbolicDim>& dim, const char* name, F f)
{
    dim.def(
        name, [f](const SymbolicDim& a, const Dim& b) { return f(a.dim, b); }, nb::is_operator());
}

} // namespace

void bind_dims(nb::module_& m)
{
    nb::class_<SymbolicDim> dim(
        m, "Dim",
        "A size that is known only at each call of a program: a symbol or an expression of "
        "symbols.  Sizes that are known are int.");
    arithmetic(dim, "__add__", "__radd__", [](const Dim& a, const Dim& b) { return a + b; });
    arithmetic(dim, "__sub__", "__rsub__", [](const Dim& a, const Dim& b) { return a - b; });
    arithmetic(dim, "__mul__", "__rmul__", [](const Dim& a, const Dim& b) { return a * b; });
    arithmetic(dim, "__floordiv__", "__rfloordiv__",
               [](const Dim& a, const Dim& b) { return floor_div(a, b); });
    arithmetic(dim, "__mod__", "__rmod__", [](const Dim& a, const Dim& b) { return mod(a, b); });
    comparison(dim, "__eq__", [](const Dim& a, const Dim& b) { return a == b; });
    comparison(dim, "__ne__", [](const Dim& a, const Dim& b) { return !(a == b); });
    comparison(dim, "__lt__", [](const Dim& a, const Dim& b) { return a < b; });
    comparison(dim, "__le__", [](const Dim& a, const Dim& b) { return a <= b; });
    comparison(dim, "__gt__", [](const Dim& a, const Dim& b) { return a > b; });
    comparison(dim, "__ge__", [](const Dim& a, const Dim& b) { return a >= b; });
    dim.def("__neg__", [](const SymbolicDim& a) { return -a.dim; })
        .def("__hash__", [](const SymbolicDim& a) { return a.dim.hash(); })
        .def("__repr__", [](const SymbolicDim& a) { return a.dim.text(); })
        .def("__index__", [](const SymbolicDim& a) { return a.dim.value(); })
        .def("__bool__", [](const SymbolicDim& a) { return !(a.dim == Dim(0)); })
        .def(
            "at_least", [](const SymbolicDim& a, std::int64_t n) { return a.dim.at_least(n); }, "n"_a,
            "Whether it is provably at least n for all values of its symbols.")
        .def(
            "at_most", [](const SymbolicDim& a, std::int64_t n) { return a.dim.at_most(n); }, "n"_a,
            "Whether it is provably at most n for all values of its symbols.")
        .def(
            "divisible_by", [](const SymbolicDim& a, std::int64_t n) { return a.dim.divisible_by(n); }, "n"_a,
            "Whether it is provably a multiple of n for all values of its symbols.");

    m.def(
        "symbol",
        [](const std::string& name, std::int64_t min, std::optional<std::int64_t> max,
           std::int64_t multiple_of) {
            SymbolOptions options{.min = min, .multiple_of = multiple_of};
            if (max) options.max = *max;
            return symbol(name, options);
        },
        "name"_a, nb::kw_only(), "min"_a = 0, "max"_a = nb::none(), "multiple_of"_a = 1,
        "Returns a new symbol: a size that is known only at each call of a program.");
    m.def(
        "same", [](const Dim& a, const Dim& b) { return same(a, b); }, "a"_a, "b"_a,
        "Whether both sizes are the same expression.");
    m.def("ceil_div", &ceil_div, "a"_a, "b"_a, "The quotient of two sizes, rounded up.");
    m.def("round_up", &round_up, "a"_a, "n"_a, "The next multiple of n.");
}

} // namespace reprise::python
