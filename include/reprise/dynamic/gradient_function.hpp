// A custom function whose shapes are checked in the forward and the backward pass.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <reprise/autograd/custom_function.hpp>
#include <reprise/dynamic/symbolic_shape.hpp>

namespace reprise {

// A CustomFunction with one output, defined by an implementation.  Copies and the graph share the
// implementation, so the function may be destroyed before backward() runs.
//
//     struct Twice : DynamicGradientFunction::Implementation {
//         using Tensors = std::vector<Tensor>;
//         using Shapes = std::vector<SymbolicShape>;
//         SymbolicShape get_output_shape(const Shapes& in) const override { return in[0]; }
//         Tensor forward(FunctionContext&, const Tensors& in) const override { return in[0] * 2; }
//         Tensors backward(const FunctionContext&, const Tensor& dy) const override { return {dy * 2}; }
//     };
//     const DynamicGradientFunction twice("twice", std::make_shared<Twice>());
//     Tensor y = twice(x);
//
// A call checks that the result of forward has the shape that get_output_shape returns for the inputs.  A
// backward pass checks the gradient of the output by validate_gradient_shape, and that each gradient from
// backward has its input's shape.  Shapes must be equal symbol for symbol; otherwise Error(shape) names both.
class DynamicGradientFunction : public CustomFunction {
public:
    // The functions of a DynamicGradientFunction. They run when those of a CustomFunction do, and concurrently if
    // several threads use the function.
    class Implementation {
    public:
        Implementation() = default; // for classes that derive from it
        virtual ~Implementation() = default;
        Implementation(const Implementation&) = delete;
        Implementation& operator=(const Implementation&) = delete;

        // The shape of the output for inputs of these shapes; throws if they do not fit. Runs before forward.
        virtual SymbolicShape get_output_shape(const std::vector<SymbolicShape>& inputs) const = 0;
        // Computes the output, and may save tensors for backward.
        virtual Tensor forward(FunctionContext&, const std::vector<Tensor>& inputs) const = 0;
        // Computes from the gradient of the output a gradient for each input, of the input's shape and dtype, or
        // undefined for none.
        virtual std::vector<Tensor> backward(const FunctionContext&, const Tensor& gradient) const = 0;
        // Throws if `gradient` cannot be the shape of the gradient of an output of the shape `output`: by default
        // Error(shape) unless they are equal. In a backward pass they are equal already; an override may check more,
        // and its Error is prefixed with the function's name.
        virtual void validate_gradient_shape(const SymbolicShape& gradient,
                                             const SymbolicShape& output) const;
    };

    // `name` is the op's name, as for a CustomFunction. Error(argument) for a null implementation.
    DynamicGradientFunction(std::string name, std::shared_ptr<const Implementation>);

    // Calls the implementation's get_output_shape().
    SymbolicShape get_output_shape(const std::vector<SymbolicShape>& inputs) const
    {
        return implementation_->get_output_shape(inputs);
    }
    // Calls the implementation's validate_gradient_shape().
    void validate_gradient_shape(const SymbolicShape& gradient, const SymbolicShape& output) const
    {
        implementation_->validate_gradient_shape(gradient, output);
    }

protected:
    // With `checks_output` false, calls do not use get_output_shape(), for implementations whose forward is one op that
    // checks its inputs itself.
    DynamicGradientFunction(std::string name, std::shared_ptr<const Implementation>, bool checks_output);

private:
    std::shared_ptr<const Implementation> implementation_;
};

} // namespace reprise
