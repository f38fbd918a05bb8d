// A function with a gradient of its own that says what shape it gives, and whose shapes are checked in both
// directions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <reprise/autograd/custom_function.hpp>
#include <reprise/dynamic/symbolic_shape.hpp>

namespace reprise {

// A CustomFunction of one output, made of an implementation that it shares with its copies and with the
// tape: it may die before backward() runs.
//
//     struct Twice : DynamicGradientFunction::Implementation {
//         using Tensors = std::vector<Tensor>;
//         SymbolicShape get_output_shape(const std::vector<SymbolicShape>& in) const override { return in[0]; }
//         Tensor forward(FunctionContext&, const Tensors& in) const override { return in[0] * 2; }
//         Tensors backward(const FunctionContext&, const Tensor& dy) const override { return {dy * 2}; }
//     };
//     const DynamicGradientFunction twice("twice", std::make_shared<Twice>());
//     Tensor y = twice(x);
//
// A call checks what forward gives against get_output_shape of the inputs; a backward pass checks what
// arrives by validate_gradient_shape, and each gradient that backward gives against its input's
// shape.  Shapes must be equal symbol for symbol, else Error(shape) has both.
class DynamicGradientFunction : public CustomFunction {
public:
    // Its members run as the functions of a CustomFunction do, several at once where threads share it.
    class Implementation {
    public:
        Implementation() = default;
        virtual ~Implementation() = default;
        Implementation(const Implementation&) = delete;
        Implementation& operator=(const Implementation&) = delete;

        // Throws where inputs of these shapes do not fit.  Runs before forward.
        virtual SymbolicShape get_output_shape(const std::vector<SymbolicShape>& inputs) const = 0;
        virtual Tensor forward(FunctionContext&, const std::vector<Tensor>& inputs) const = 0;
        // One for each input, of its shape and dtype; undefined: none.
        virtual std::vector<Tensor> backward(const FunctionContext&, const Tensor& gradient) const = 0;
        // Throws where this is no shape of a gradient by an output of that shape: Error(shape) unless they
        // are equal.  In a backward pass they are, as what arrives was checked before: an override may ask
        // for more, and the function's name is put before what its Error says.
        virtual void validate_gradient_shape(const SymbolicShape& gradient,
                                             const SymbolicShape& output) const;
    };

    // Error(argument) for a null implementation.
    DynamicGradientFunction(std::string name, std::shared_ptr<const Implementation>);

    // Those of the implementation.
    SymbolicShape get_output_shape(const std::vector<SymbolicShape>& inputs) const
    {
        return implementation_->get_output_shape(inputs);
    }
    void validate_gradient_shape(const SymbolicShape& gradient, const SymbolicShape& output) const
    {
        implementation_->validate_gradient_shape(gradient, output);
    }

protected:
    // Where get_output_shape() is the rule of the op that forward calls, which checks what it is given by
    // itself, `checks_output` is false: a call does not ask for it.
    DynamicGradientFunction(std::string name, std::shared_ptr<const Implementation>, bool checks_output);

private:
    std::shared_ptr<const Implementation> implementation_;
};

} // namespace reprise
