// Tensor and Variable: properties, gradients and evaluation.  Its ops are generated, its operators in operators.cpp.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <reprise/hooks.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/linear_algebra.hpp>

#include "arrays.hpp"
#include "binding.hpp"

namespace reprise::python {
namespace {

void bind_properties(nb::class_<Tensor>& tensor)
{
    tensor.def_prop_ro("shape", &Tensor::shape, "The sizes of all dimensions: int, or Dim while recording.")
        .def_prop_ro("ndim", &Tensor::dim, "The number of dimensions.")
        .def_prop_ro("dtype", &Tensor::dtype, "The type of the elements.")
        .def_prop_ro("device", &Tensor::device, "The device that holds the tensor.")
        .def_prop_ro("is_leaf", &Tensor::is_leaf)
        .def_prop_ro("is_cpu", &Tensor::is_cpu, "Whether it is on \"reference\" or \"null\".")
        .def_prop_ro("is_cuda", &Tensor::is_cuda, "Whether it is on an NVIDIA GPU through CUDA.")
        .def_prop_ro("itemsize", &Tensor::itemsize, "The bytes of one element.")
        .def_prop_ro("nbytes", &Tensor::nbytes, "The bytes of all elements.")
        .def_prop_ro("retains_grad", &Tensor::retains_grad, "Whether retain_grad() was called.")
        .def_prop_ro("data", &Tensor::detach, "The same value, through which no gradient flows.",
                     nb::call_guard<Unlocked>())
        .def_prop_ro("T", &Tensor::T, "All dimensions in reverse order; a view.", nb::call_guard<Unlocked>())
        .def_prop_ro("mT", &Tensor::mT, "The last two dimensions swapped; a view.",
                     nb::call_guard<Unlocked>())
        .def_prop_rw("requires_grad", &Tensor::requires_grad,
                     [](Tensor& t, bool on) { t.requires_grad_(on); })
        .def_prop_rw(
            "grad", [](const Tensor& t) { return defined_ones(t.grad()); },
            [](Tensor& t, const std::optional<Tensor>& gradient) { t.set_grad(tensor_or_none(gradient)); },
            nb::for_setter(nb::arg("gradient").none()),
            "The gradient that backward passes have added up, or None.")
        .def(
            "size",
            [](const Tensor& t, std::optional<std::int64_t> dim) -> nb::object {
                return dim ? nb::cast(t.size(*dim)) : nb::cast(t.shape());
            },
            "dim"_a = nb::none(), "The size of a dimension, or all sizes.");
}

// x.float() and the like, which convert to a dtype.
void bind_conversions(nb::class_<Tensor>& tensor)
{
    const auto add = [&](const char* name, DType dtype) {
        tensor.def(
            name, [dtype](const Tensor& t) { return t.to(dtype); }, nb::call_guard<Unlocked>());
    };
    add("float", f32);
    add("double", f64);
    add("half", f16);
    add("bfloat16", bf16);
    add("long", i64);
    add("int", i32);
    add("bool", boolean);
    tensor.def(
        "cuda", [](const Tensor& t) { return t.to(Device("cuda:0")); },
        "The elements on the device \"cuda:0\".", nb::call_guard<Unlocked>());
}

void bind_gradients(nb::class_<Tensor>& tensor)
{
    tensor
        .def(
            "backward",
            [](const Tensor& t, const std::optional<Tensor>& gradient, std::optional<bool> retain_graph,
               bool create_graph) { t.backward(tensor_or_none(gradient), retain_graph, create_graph); },
            "gradient"_a = nb::none(), "retain_graph"_a = nb::none(), "create_graph"_a = false,
            "Adds the gradients of this tensor to the grad of each leaf that requires one.",
            nb::call_guard<Unlocked>())
        .def(
            "register_hook",
            [](const Tensor& t, std::function<std::optional<Tensor>(const Tensor&)> hook) {
                const Unlocked unlocked;
                return t.register_hook(std::function<Tensor(const Tensor&)>(
                    [hook = std::move(hook)](const Tensor& g) { return tensor_or_none(hook(g)); }));
            },
            "hook"_a, "Calls hook(gradient) in each backward pass; a returned tensor replaces the gradient.")
        .def("eval", &Tensor::eval, "Starts the computation without waiting for it.",
             nb::call_guard<Unlocked>());
}

// The constructor, and copies, which are of the same class.
template <class Leaf, class Class> void bind_leaf(Class& leaf)
{
    leaf.def(
            "__init__",
            [](Leaf* self, nb::handle value, bool requires_grad) {
                const Tensor given = tensor_of(value);
                {
                    const Unlocked unlocked;
                    new (self) Leaf(given, requires_grad);
                }
                if (const nb::object object = nb::find(*self); object.is_valid()) remember_object(object);
            },
            "value"_a, "requires_grad"_a = true)
        .def("__copy__",
             [](nb::handle_t<Leaf> self) { return nb::borrow<nb::typed<nb::object, Leaf>>(self); })
        .def(
            "__deepcopy__",
            [](const Leaf& v, nb::handle) {
                Leaf copy;
                {
                    const Unlocked unlocked;
                    copy = Leaf(v.detach().clone(), v.requires_grad());
                    if (const Tensor grad = v.grad(); grad.defined()) copy.set_grad(grad.clone());
                }
                return nb::steal<nb::typed<nb::object, Leaf>>(
                    object_of_variable(copy, std::is_same_v<Leaf, Parameter>));
            },
            "memo"_a = nb::none());
}

void bind_variables(nb::module_& m)
{
    nb::class_<Variable, Tensor> variable(
        m, "Variable", "A leaf that can be assigned: a running value, or a parameter.  Each has one object.");
    bind_leaf<Variable>(variable);
    nb::class_<Parameter, Variable> parameter(m, "Parameter", "A Variable that modules register.");
    bind_leaf<Parameter>(parameter);
}

// (function, arguments) that make the tensor again, for pickle.
nb::tuple reduced(nb::handle self)
{
    const auto& t = nb::cast<const Tensor&>(self);
    wait_for(t);
    std::vector<std::byte> bytes;
    {
        const Unlocked unlocked;
        bytes = to_bytes(t);
    }
    const char* kind = nb::isinstance<Parameter>(self)  ? "Parameter"
                       : nb::isinstance<Variable>(self) ? "Variable"
                                                        : "Tensor";
    return nb::make_tuple(nb::module_::import_("reprise._pickling").attr("restored"),
                          nb::make_tuple(nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                                         t.shape(), std::string(name_of(t.dtype())),
                                         t.requires_grad() && t.is_leaf(), kind));
}
Tensor restored(const nb::bytes& bytes, const Shape& shape, const std::string& dtype)
{
    for (const DType t : {f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean})
        if (dtype == name_of(t)) {
            const Unlocked unlocked;
            return from_bytes({reinterpret_cast<const std::byte*>(bytes.c_str()), bytes.size()}, shape,
                              CreationOptions{.dtype = t});
        }
    throw nb::value_error("The dtype of the pickled tensor is not known.");
}

} // namespace

nb::class_<Tensor> bind_tensor(nb::module_& m)
{
    nb::class_<HookHandle>(m, "HookHandle", "A registered hook.")
        .def("remove", &HookHandle::remove, nb::call_guard<Unlocked>());
    nb::class_<Tensor> tensor(m, "Tensor", nb::is_weak_referenceable(),
                              "An array of elements of one dtype on one device, as torch.Tensor.");
    tensor.attr("__array_ufunc__") = nb::none(); // so that NumPy leaves array + tensor to the tensor
    bind_properties(tensor);
    bind_gradients(tensor);
    bind_conversions(tensor);
    tensor.def("__hash__", [](const Tensor& t) { return std::hash<const void*>()(t.cell().get()); })
        .def(
            "__repr__",
            [](const Tensor& t) { return t.defined() ? to_string(t) : std::string("<undefined tensor>"); },
            nb::call_guard<Unlocked>())
        .def("__format__",
             [](const Tensor& t, const std::string& format) -> nb::object {
                 if (format.empty()) return nb::str(nb::cast(t));
                 return nb::handle(number_of(t)).attr("__format__")(format);
             })
        .def("__copy__", [](const Tensor& t) { return t; })
        .def(
            "__deepcopy__",
            [](const Tensor& t, nb::handle) {
                const Unlocked unlocked;
                return t.detach().clone().requires_grad_(t.requires_grad());
            },
            "memo"_a = nb::none())
        .def("__reduce__", &reduced);
    m.def("_restored", &restored, "bytes"_a, "shape"_a, "dtype"_a);
    bind_variables(m);
    m.def(
        "eval", [](const std::vector<Tensor>& tensors) { eval(tensors); }, "tensors"_a,
        "Starts the computation of several tensors together, without waiting.", nb::call_guard<Unlocked>());
    m.def(
        "to_string", [](const Tensor& t) { return to_string(t); }, "x"_a, nb::call_guard<Unlocked>());
    return tensor;
}

} // namespace reprise::python
