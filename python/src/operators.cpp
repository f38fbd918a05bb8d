// The operators of Tensor: with tensors, numbers, sizes and arrays on either side.
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>

#include "arrays.hpp"
#include "binding.hpp"

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
template <class Number, class F> void with_number(Class& tensor, const char* name, F f)
{
    tensor.def(
        name,
        [f](const Tensor& a, Number b) -> Tensor {
            const Unlocked unlocked;
            return f(a, b);
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
    with_number<double>(tensor, name, f);
    with_size(tensor, name, f);
    with_array(tensor, name, f);
    with_number<double>(tensor, reflected, other_way);
    with_size(tensor, reflected, other_way);
    with_array(tensor, reflected, other_way);
}
template <class F> void comparison(Class& tensor, const char* name, F f)
{
    with_tensor(tensor, name, f);
    with_number<double>(tensor, name, f);
    with_size(tensor, name, f);
    with_array(tensor, name, f);
}
template <class F> void of_integers(Class& tensor, const char* name, const char* reflected, F f)
{
    const auto other_way = [f](const Tensor& a, std::int64_t b) {
        return f(full_like(a, static_cast<double>(b)), a);
    };
    with_tensor(tensor, name, f);
    with_number<std::int64_t>(tensor, name, f);
    with_array(tensor, name, f);
    with_number<std::int64_t>(tensor, reflected, other_way);
}

// An operator that writes into the tensor and returns the same object of Python.
template <class Operand, class F> void in_place_with(Class& tensor, const char* name, F f)
{
    tensor.def(
        name,
        [f](nb::handle_t<Tensor> self, const Operand& b) {
            auto& a = nb::cast<Tensor&>(self);
            {
                const Unlocked unlocked;
                f(a, b);
            }
            return nb::borrow<nb::typed<nb::object, Tensor>>(self);
        },
        nb::is_operator());
}
template <class F> void in_place(Class& tensor, const char* name, F f)
{
    in_place_with<Tensor>(tensor, name, f);
    in_place_with<double>(tensor, name, f);
}

// Ops for which a size has no overload take it as a tensor of one element.
Tensor as_tensor(const Tensor& like, const Dim& size) { return full_like(like, 1) * size; }

} // namespace

void bind_operators(Class& tensor)
{
    arithmetic(tensor, "__add__", "__radd__", [](const auto& a, const auto& b) { return a + b; });
    arithmetic(tensor, "__sub__", "__rsub__", [](const auto& a, const auto& b) { return a - b; });
    arithmetic(tensor, "__mul__", "__rmul__", [](const auto& a, const auto& b) { return a * b; });
    arithmetic(tensor, "__truediv__", "__rtruediv__", [](const auto& a, const auto& b) { return a / b; });
    with_tensor(tensor, "__floordiv__", [](const Tensor& a, const Tensor& b) { return floor_divide(a, b); });
    with_number<double>(tensor, "__floordiv__", [](const Tensor& a, double b) { return floor_divide(a, b); });
    with_array(tensor, "__floordiv__", [](const Tensor& a, const Tensor& b) { return floor_divide(a, b); });
    with_size(tensor, "__floordiv__",
              [](const Tensor& a, const Dim& b) { return floor_divide(a, as_tensor(a, b)); });
    with_number<double>(tensor, "__rfloordiv__",
                        [](const Tensor& a, double b) { return floor_divide(full_like(a, b), a); });
    with_tensor(tensor, "__mod__", [](const Tensor& a, const Tensor& b) { return a % b; });
    with_number<double>(tensor, "__mod__", [](const Tensor& a, double b) { return a % b; });
    with_array(tensor, "__mod__", [](const Tensor& a, const Tensor& b) { return a % b; });
    with_size(tensor, "__mod__", [](const Tensor& a, const Dim& b) { return a % as_tensor(a, b); });
    with_number<double>(tensor, "__rmod__", [](const Tensor& a, double b) { return full_like(a, b) % a; });
    with_tensor(tensor, "__pow__", [](const Tensor& a, const Tensor& b) { return reprise::pow(a, b); });
    with_number<double>(tensor, "__pow__", [](const Tensor& a, double b) { return reprise::pow(a, b); });
    with_array(tensor, "__pow__", [](const Tensor& a, const Tensor& b) { return reprise::pow(a, b); });
    with_number<double>(tensor, "__rpow__", [](const Tensor& a, double b) { return reprise::pow(b, a); });
    with_tensor(tensor, "__matmul__", [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    with_array(tensor, "__matmul__", [](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    with_array(tensor, "__rmatmul__", [](const Tensor& a, const Tensor& b) { return matmul(b, a); });

    comparison(tensor, "__eq__", [](const auto& a, const auto& b) { return a == b; });
    comparison(tensor, "__ne__", [](const auto& a, const auto& b) { return a != b; });
    comparison(tensor, "__lt__", [](const auto& a, const auto& b) { return a < b; });
    comparison(tensor, "__le__", [](const auto& a, const auto& b) { return a <= b; });
    comparison(tensor, "__gt__", [](const auto& a, const auto& b) { return a > b; });
    comparison(tensor, "__ge__", [](const auto& a, const auto& b) { return a >= b; });

    of_integers(tensor, "__and__", "__rand__", [](const Tensor& a, const auto& b) { return a & b; });
    of_integers(tensor, "__or__", "__ror__", [](const Tensor& a, const auto& b) { return a | b; });
    of_integers(tensor, "__xor__", "__rxor__", [](const Tensor& a, const auto& b) { return a ^ b; });
    of_integers(tensor, "__lshift__", "__rlshift__", [](const Tensor& a, const auto& b) { return a << b; });
    of_integers(tensor, "__rshift__", "__rrshift__", [](const Tensor& a, const auto& b) { return a >> b; });

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
    in_place(tensor, "__iadd__", [](Tensor& a, const auto& b) { a += b; });
    in_place(tensor, "__isub__", [](Tensor& a, const auto& b) { a -= b; });
    in_place(tensor, "__imul__", [](Tensor& a, const auto& b) { a *= b; });
    in_place(tensor, "__itruediv__", [](Tensor& a, const auto& b) { a /= b; });
}

} // namespace reprise::python
