// CustomFunction: functions of Python with a gradient of Python.
#include <string>
#include <vector>

#include <reprise/autograd/custom_function.hpp>

#include "binding.hpp"

namespace reprise::python {
namespace {

// The context of one call, which Python may keep longer than the library does.
struct CallContext {
    FunctionContext* context; // null after the call

    FunctionContext& get() const
    {
        if (!context) nb::raise("The context of a custom function can be used during its call only.");
        return *context;
    }
};

std::vector<Tensor> tensors_of(nb::handle returned)
{
    std::vector<Tensor> out;
    const auto add = [&](nb::handle item) {
        out.push_back(item.is_none() ? Tensor() : nb::cast<const Tensor&>(item));
    };
    if (returned.is_none() || nb::isinstance<Tensor>(returned)) add(returned);
    else
        for (nb::handle item : returned) add(item);
    return out;
}

// Calls function(context, *tensors); None stands for an undefined tensor, in both directions.
std::vector<Tensor> call(const Shared& function, FunctionContext& context, const std::vector<Tensor>& tensors)
{
    const nb::gil_scoped_acquire locked;
    const nb::object given = nb::cast(CallContext{&context});
    nb::list arguments;
    arguments.append(given);
    for (const Tensor& t : tensors) arguments.append(defined_ones(t));
    struct Ended {
        CallContext& call;
        ~Ended() { call.context = nullptr; }
    } const ended{nb::cast<CallContext&>(given)};
    return tensors_of(function->get()(*nb::borrow<nb::args>(nb::tuple(arguments))));
}

} // namespace

void bind_custom_functions(nb::module_& m)
{
    nb::class_<CallContext>(m, "FunctionContext",
                            "What the forward of a custom function keeps for its backward.")
        .def(
            "save_for_backward",
            [](const CallContext& c, const nb::args& tensors) {
                c.get().save_for_backward(tensors_of(tensors));
            },
            "tensors"_a, "Saves tensors; called in forward.")
        .def_prop_ro(
            "saved_tensors", [](const CallContext& c) { return c.get().saved(); },
            "The saved tensors, in their order.")
        .def(
            "needs_input_grad",
            [](const CallContext& c, std::size_t i) { return c.get().needs_input_grad(i); }, "i"_a,
            "Whether the gradient of an input is needed.");
    nb::class_<CustomFunction>(
        m, "CustomFunction",
        "A function of tensors with a gradient of its own.  forward(context, *inputs) returns a "
        "tensor or several; backward(context, *gradients) the gradient of each input, or None.")
        .def(
            "__init__",
            [](CustomFunction* self, const std::string& name, const nb::callable& forward,
               const nb::callable& backward) {
                new (self) CustomFunction(
                    name,
                    [f = share(forward)](FunctionContext& c, const std::vector<Tensor>& in) {
                        return call(f, c, in);
                    },
                    [f = share(backward)](const FunctionContext& c, const std::vector<Tensor>& gradients) {
                        FunctionContext of_call = c; // backward only reads it
                        return call(f, of_call, gradients);
                    });
            },
            "name"_a, "forward"_a, "backward"_a)
        .def(
            "__call__",
            [](const CustomFunction& f, const nb::args& inputs) -> nb::object {
                const std::vector<Tensor> in = tensors_of(inputs);
                std::vector<Tensor> out;
                {
                    const Unlocked unlocked;
                    out = f.call(in);
                }
                return out.size() == 1 ? nb::cast(out[0]) : nb::object(nb::tuple(nb::cast(out)));
            },
            "inputs"_a);
}

} // namespace reprise::python
