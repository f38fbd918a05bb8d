#include <reprise/dynamic/gradient_function.hpp>

#include <any>
#include <utility>

#include "dynamic/check.hpp"

namespace reprise {

namespace {

using Implementation = DynamicGradientFunction::Implementation;
using Tensors = std::vector<Tensor>;

// Data that a call saves for its backward pass, in addition to the user's.
struct Call {
    std::vector<SymbolicShape> inputs;
    SymbolicShape output;
    std::any data; // the user's
};
using SharedCall = std::shared_ptr<const Call>; // shared, since FunctionContext::data is copied

Tensor forward(const std::string& name, const Implementation& f, bool checks_output, FunctionContext& context,
               const Tensors& inputs)
{
    auto call = std::make_shared<Call>();
    for (const Tensor& t : inputs) call->inputs.emplace_back(t.shape());
    if (checks_output) call->output = f.get_output_shape(call->inputs);
    const Tensor y = f.forward(context, inputs);
    if (!y.defined()) detail::fail(ErrorKind::argument, name.c_str(), "The forward gave no tensor.");
    if (checks_output)
        dynamic::check_shape(name.c_str(), "result of forward", y.shape(), call->output,
                             "get_output_shape() is");
    else call->output = y.shape();
    call->data = std::exchange(context.data, {});
    context.data = SharedCall(std::move(call));
    return y;
}

void validate(const std::string& name, const Implementation& f, const SymbolicShape& gradient,
              const SymbolicShape& output)
{
    try {
        f.validate_gradient_shape(gradient, output);
    } catch (const Error& e) {
        throw Error(e.kind(), "[" + name + "] " + e.what());
    }
}

Tensors backward(const std::string& name, const Implementation& f, const FunctionContext& given,
                 const Tensor& gradient)
{
    const auto& call = *std::any_cast<const SharedCall&>(given.data);
    validate(name, f, gradient.shape(), call.output);
    FunctionContext context = given;
    context.data = call.data;
    Tensors gradients = f.backward(context, gradient);
    if (gradients.size() != call.inputs.size()) return gradients; // CustomFunction throws the error
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (context.needs_input_grad(i) && gradients[i].defined())
            dynamic::check_shape(name.c_str(), "result of backward", gradients[i].shape(), call.inputs[i],
                                 "input (", i, ") has");
    return gradients;
}

} // namespace

void DynamicGradientFunction::Implementation::validate_gradient_shape(const SymbolicShape& gradient,
                                                                      const SymbolicShape& output) const
{
    dynamic::check_shape("validate_gradient_shape", "gradient", gradient, output, "the output has");
}

DynamicGradientFunction::DynamicGradientFunction(std::string name, std::shared_ptr<const Implementation> f)
    : DynamicGradientFunction(std::move(name), std::move(f), true)
{}

DynamicGradientFunction::DynamicGradientFunction(std::string name, std::shared_ptr<const Implementation> f,
                                                 bool checks_output)
    : CustomFunction(
          name,
          [name, f, checks_output](FunctionContext& c, const Tensors& in) {
              return Tensors{forward(name, *f, checks_output, c, in)};
          },
          [name, f](const FunctionContext& c, const Tensors& dy) { return backward(name, *f, c, dy.at(0)); }),
      implementation_(std::move(f))
{
    if (!implementation_)
        detail::fail(ErrorKind::argument, "DynamicGradientFunction", "The function (", this->name(),
                     ") has no implementation: give one.");
}

} // namespace reprise
