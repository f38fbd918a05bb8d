#include <reprise/dynamic/gradient_function.hpp>

#include <any>
#include <utility>

namespace reprise {

namespace {

using Implementation = DynamicGradientFunction::Implementation;
using Tensors = std::vector<Tensor>;

// What a call leaves for its backward, beside what the user leaves.
struct Call {
    std::vector<SymbolicShape> inputs;
    SymbolicShape output;
    std::any data; // the user's
};

Tensor forward(const std::string& name, const Implementation& f, FunctionContext& context,
               const Tensors& inputs)
{
    Call call;
    for (const Tensor& t : inputs) call.inputs.emplace_back(t.shape());
    call.output = f.get_output_shape(call.inputs);
    const Tensor y = f.forward(context, inputs);
    if (!y.defined()) detail::fail(ErrorKind::argument, name.c_str(), "The forward gave no tensor.");
    if (y.shape() != call.output.dims())
        detail::fail(ErrorKind::shape, name.c_str(), "The forward gave the shape (", to_string(y.shape()),
                     ") but get_output_shape (", call.output, "): both must be the same, symbol for symbol.");
    call.data = std::exchange(context.data, {});
    context.data = std::move(call);
    return y;
}

Tensors backward(const std::string& name, const Implementation& f, const FunctionContext& given,
                 const Tensor& gradient)
{
    const auto& call = std::any_cast<const Call&>(given.data);
    f.validate_gradient_shape(gradient.shape(), call.output);
    FunctionContext context = given;
    context.data = call.data;
    Tensors gradients = f.backward(context, gradient);
    if (gradients.size() != call.inputs.size()) return gradients; // refused by the caller
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (context.needs_input_grad(i) && gradients[i].defined() &&
            gradients[i].shape() != call.inputs[i].dims())
            detail::fail(ErrorKind::shape, name.c_str(), "The gradient gave the shape (",
                         to_string(gradients[i].shape()), ") for input (", i, "), which has (",
                         call.inputs[i], "): both must be the same, symbol for symbol.");
    return gradients;
}

} // namespace

void DynamicGradientFunction::Implementation::validate_gradient_shape(const SymbolicShape& gradient,
                                                                      const SymbolicShape& output) const
{
    if (gradient != output)
        detail::fail(ErrorKind::shape, "validate_gradient_shape", "The gradient has the shape (", gradient,
                     ") but the output has (", output, "): both must be the same, symbol for symbol.");
}

DynamicGradientFunction::DynamicGradientFunction(std::string name, std::shared_ptr<const Implementation> f)
    : CustomFunction(
          name,
          [name, f](FunctionContext& c, const Tensors& in) { return Tensors{forward(name, *f, c, in)}; },
          [name, f](const FunctionContext& c, const Tensors& dy) { return backward(name, *f, c, dy.at(0)); }),
      implementation_(std::move(f))
{
    if (!implementation_)
        detail::fail(ErrorKind::argument, "DynamicGradientFunction", "The function (", this->name(),
                     ") has no implementation: give one.");
}

} // namespace reprise
