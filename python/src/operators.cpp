// The operators of Tensor: with tensors, numbers, sizes and arrays on either side.
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>

#include "arrays.hpp"
#include "binding.hpp"
#include "numbers.hpp"

namespace reprise::python {
namespace {

using Class = nb::class_<Tensor>;

template <class F> void with_tensor(Class& tensor, const char* name, F f)
{
    tensor.def(
        name,
        [f](const Tensor& a, const Tensor& b) -> Tensor {
            const Unlocked unlocked;
            return f(a, b);
        },
        nb::is_operator());
}
template <class F> void with_array(Class& tensor, const char* name, F f)
{
    tensor.def(
        name,
        [f](const Tensor& a, const Array& b) -> Tensor {
            const Tensor other = tensor_of(b, {.device = a.device()});
            const Unlocked unlocked;
            return f(a, other);
        },
        nb::is_operator());
}
// f takes a tensor and a double or a tensor of no dimensions.
template <class Operand, class F> void with_python_number(Class& tensor, const char* name, F f)
{
    tensor.def(
        name,
        [f](const Tensor& a, const Operand& b) -> Tensor {
            const Unlocked unlocked;
            return with_number(a, b, f);
        },
        nb::is_operator());
}
// f takes a tensor and the number as a tensor of the same shape.
template <class Operand, class F> void with_filled(Class& tensor, const char* name, F f)
{
    tensor.def(
        name,
        [f](const Tensor& a, const Operand& b) -> Tensor {
            const Unlocked unlocked;
            const Tensor t = beside(a, b);
            return f(t, filled_like(t, b));
        },
        nb::is_operator());
}
template <class F> void with_size(Class& tensor, const char* name, F f)
{
    tensor.def(
        name,
        [f](const Tensor& a, const SymbolicDim& b) -> Tensor {
            const Unlocked unlocked;
            return f(a, b.dim);
        },
        nb::is_operator());
}

// `f` for both orders of a tensor and another operand.
template <class F> void arithmetic(Class& tensor, const char* name, const char* reflected, F f)
{
    const auto other_way = [f](const auto& a, const auto& b) { return f(b, a); };
    with_tensor(tensor, name, f);
    with_python_number<Number>(tensor, name, f);
    with_size(tensor, name, f);
    with_array(tensor, name, f);
    with_python_number<Number>(tensor, reflected, other_way);
    with_size(tensor, reflected, other_way);
    with_array(tensor, reflected, other_way);
}
template <class F> void comparison(Class& tensor, const char* name, F f)
{
    with_tensor(tensor, name, f);
    with_python_number<Number>(tensor, name, f);
    with_size(tensor, name, f);
    with_array(tensor, name, f);
}
template <class F> void of_integers(Class& tensor, const char* name, const char* reflected, F f)
{
    with_tensor(tensor, name, f);
    with_filled<WholeNumber>(tensor, name, f);
    with_array(tensor, name, f);
    const auto other_way = [f](const Tensor& a, const Tensor& b) { return f(b, a); };
    with_filled<WholeNumber>(tensor, reflected, other_way);
    with_array(tensor, reflected, other_way);
}

// An operator that writes into the tensor and returns the same object of Python.  A number that is no integer has no
// place in a tensor of integers, which the library says of a tensor with it.
template <class F> void in_place(Class& tensor, const char* name, F f)
{
    using Self = nb::typed<nb::object, Tensor>;
    tensor
        .def(
            name,
            [f](nb::handle_t<Tensor> self, const Tensor& b) {
                auto& a = nb::cast<Tensor&>(self);
                {
                    const Unlocked unlocked;
                    f(a, b);
                }
                return nb::borrow<Self>(self);
            },
            nb::is_operator())
        .def(
            name,
            [f](nb::handle_t<Tensor> self, const Number& b) {
                auto& a = nb::cast<Tensor&>(self);
                {
                    const Unlocked unlocked;
                    const bool fits = b.is_whole || a.is_floating_point();
                    if (fits && (b.is_exact() || a.dtype() != i64)) f(a, b.number);
                    else f(a, tensor_of_number(b, a.device()));
                }
                return nb::borrow<Self>(self);
            },
            nb::is_operator())
        .def(
            name,
            [f](nb::handle_t<Tensor> self, const Array& b) {
                auto& a = nb::cast<Tensor&>(self);
                const Tensor other = tensor_of(b, {.device = a.device()});
                {
                    const Unlocked unlocked;
                    f(a, other);
                }
                return nb::borrow<Self>(self);
            },
            nb::is_operator());
}
// The same for an op of integers and bools.
template <class F> void in_place_of_integers(Class& tensor, const char* name, F f)
{
    in_place(tensor, name, [f](Tensor& a, const auto& b) {
        if constexpr (std::is_same_v<decltype(b), const double&>) f(a, full_like(a, b));
        else f(a, b);
    });
}

// Ops for which a size has no overload take it as a tensor of one element.
Tensor as_tensor(const Tensor& like, const Dim& size) { return full_like(like, 1) * size; }

void bind_arithmetic(Class& tensor)
{
    arithmetic(tensor, "__add__", "__radd__", [](const auto& a, const auto& b) { return a + b; });
    arithmetic(tensor, "__sub__", "__rsub__", [](const auto& a, const auto& b) { return a - b; });
    arithmetic(tensor, "__mul__", "__rmul__", [](const auto& a, const auto& b) { return a * b; });
    arithmetic(tensor, "__truediv__", "__rtruediv__", [](const auto& a, const auto& b) { return a / b; });
    with_tensor(tensor, "__floordiv__", [](const Tensor& a, const Tensor& b) { return floor_divide(a, b); });
    with_python_number<Number>(tensor, "__floordiv__",
                               [](const Tensor& a, const auto& b) { return floor_divide(a, b); });
    with_array(tensor, "__floordiv__", [](const Tensor& a, const Tensor& b) { return floor_divide(a, b); });
    with_size(tensor, "__floordiv__",
              [](const Tensor& a, const Dim& b) { return floor_divide(a, as_tensor(a, b)); });
    with_filled<Number>(tensor, "__rfloordiv__",
                        [](const Tensor& a, const Tensor& b) { return floor_divide(b, a); });
    with_array(tensor, "__rfloordiv__", [](const Tensor& a, const Tensor& b) { return floor_divide(b, a); });
    with_tensor(tensor, "__mod__", [](const Tensor& a, const Tensor& b) { return a % b; });
    with_python_number<Number>(tensor, "__mod__", [](const Tensor& a, const auto& b) { return a % b; });
    with_array(tensor, "__mod__", [](const Tensor& a, const Tensor& b) { return a % b; });
    with_size(tensor, "__mod__", [](const Tensor& a, const Dim& b) { return a % as_tensor(a, b); });
    with_filled<Number>(tensor, "__rmod__", [](const Tensor& a, const Tensor& b) { return b % a; });
    with_array(tensor, "__rmod__", [](const Tensor& a, const Tensor& b) { return b % a; });
    with_tensor(tensor, "__pow__", [](const Tensor& a, const Tensor& b) { return reprise::pow(a, b); });
    with_python_number<Number>(tensor, "__pow__",
                               [](const Tensor& a, const auto& b) { return reprise::pow(a, b); });
    with_array(tensor, "__pow__", [](const Tensor& a, const Tensor& b) { return reprise::pow(a, b); });
    with_python_number<Number>(tensor, "__rpow__",
                               [](const Tensor& a, const auto& b) { return reprise::pow(b, a); });
    with_array(tensor, "__rpow__", [](const Tensor& a, const Tensor& b) { return reprise::pow(b, a); });
    with_tensor(tensor, "__matmul__", [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    with_array(tensor, "__matmul__", [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    with_array(tensor, "__rmatmul__", [](const Tensor& a, const Tensor& b) { return matmul(b, a); });

    comparison(tensor, "__eq__", [](const auto& a, const auto& b) { return a == b; });
    comparison(tensor, "__ne__", [](const auto& a, const auto& b) { return a != b; });
    comparison(tensor, "__lt__", [](const auto& a, const auto& b) { return a < b; });
    comparison(tensor, "__le__", [](const auto& a, const auto& b) { return a <= b; });
    comparison(tensor, "__gt__", [](const auto& a, const auto& b) { return a > b; });
    comparison(tensor, "__ge__", [](const auto& a, const auto& b) { return a >= b; });
}

void bind_integer_operators(Class& tensor)
{
    of_integers(tensor, "__and__", "__rand__", [](const Tensor& a, const Tensor& b) { return a & b; });
    of_integers(tensor, "__or__", "__ror__", [](const Tensor& a, const Tensor& b) { return a | b; });
    of_integers(tensor, "__xor__", "__rxor__", [](const Tensor& a, const Tensor& b) { return a ^ b; });
    of_integers(tensor, "__lshift__", "__rlshift__", [](const Tensor& a, const Tensor& b) { return a << b; });
    of_integers(tensor, "__rshift__", "__rrshift__", [](const Tensor& a, const Tensor& b) { return a >> b; });
}

void bind_in_place_operators(Class& tensor)
{
    in_place(tensor, "__iadd__", [](Tensor& a, const auto& b) { a += b; });
    in_place(tensor, "__isub__", [](Tensor& a, const auto& b) { a -= b; });
    in_place(tensor, "__imul__", [](Tensor& a, const auto& b) { a *= b; });
    in_place(tensor, "__itruediv__", [](Tensor& a, const auto& b) { a /= b; });
    in_place(tensor, "__ifloordiv__", [](Tensor& a, const auto& b) { a.floor_divide_(b); });
    in_place(tensor, "__imod__", [](Tensor& a, const auto& b) { a.remainder_(b); });
    in_place(tensor, "__ipow__", [](Tensor& a, const auto& b) { a.pow_(b); });
    in_place_of_integers(tensor, "__iand__", [](Tensor& a, const Tensor& b) { a.bitwise_and_(b); });
    in_place_of_integers(tensor, "__ior__", [](Tensor& a, const Tensor& b) { a.bitwise_or_(b); });
    in_place_of_integers(tensor, "__ixor__", [](Tensor& a, const Tensor& b) { a.bitwise_xor_(b); });
    in_place_of_integers(tensor, "__ilshift__", [](Tensor& a, const Tensor& b) { a.copy_(a << b); });
    in_place_of_integers(tensor, "__irshift__", [](Tensor& a, const Tensor& b) { a.copy_(a >> b); });
}

} // namespace

void bind_operators(Class& tensor)
{
    bind_arithmetic(tensor);
    bind_integer_operators(tensor);
    bind_in_place_operators(tensor);
    tensor
        .def("__neg__",
             [](const Tensor& a) {
                 const Unlocked unlocked;
                 return -a;
             })
        .def("__pos__", [](const Tensor& a) { return a; })
        .def("__invert__",
             [](const Tensor& a) {
                 const Unlocked unlocked;
                 return ~a;
             })
        .def("__abs__", [](const Tensor& a) {
            const Unlocked unlocked;
            return reprise::abs(a);
        });
}

} // namespace reprise::python
