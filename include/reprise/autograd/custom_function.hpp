// Functions with custom gradients, and custom gradients of the library's ops.
#pragma once
#include <any>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

namespace autograd {
struct Saved; // src/autograd/custom_function.cpp
}
namespace detail {
std::string name_of_type(const std::type_info&); // the type's name in C++, without namespaces
}

// The data that the forward of one call of a CustomFunction saves for its backward, as PyTorch's
// AutogradContext.
class FunctionContext {
public:
    // Saves tensors for backward; called in forward, where a second call replaces the first.  Gradients of
    // the gradient flow through saved inputs and outputs of the function; any other saved tensor is a
    // constant.
    void save_for_backward(const std::vector<Tensor>& tensors) { saved_ = tensors; }
    // The saved tensors, in the order in which they were saved.
    const std::vector<Tensor>& saved() const noexcept { return saved_; }
    // Returns saved(), by PyTorch's name.
    const std::vector<Tensor>& get_saved_variables() const noexcept { return saved_; }
    // Returns one saved tensor; Error(argument) where there is no such index.
    const Tensor& saved(std::size_t i) const;
    // Whether the gradient of input `i` is needed.  Gradients that backward returns for other inputs are ignored.
    // Error(argument) where there is no such input.
    bool needs_input_grad(std::size_t i) const;
    std::any data; // anything else that backward needs

private:
    friend class CustomFunction;
    friend struct autograd::Saved;
    std::vector<Tensor> saved_;
    std::vector<bool> needs_;
};

// A function of tensors with a custom gradient, which need not be the true derivative, as PyTorch's
// autograd.Function.  Copies share the functions.
//
//     CustomFunction my_exp(
//         "my_exp",
//         [](FunctionContext& c, const std::vector<Tensor>& in) {
//             Tensor y = exp(in[0]);
//             c.save_for_backward({y});
//             return std::vector{y};
//         },
//         [](const FunctionContext& c, const std::vector<Tensor>& dy) {
//             return std::vector{dy[0] * c.saved(0)};
//         });
//     Tensor y = my_exp(x);
//
// Both functions use ops, Kernels, or both; where backward uses ops, gradients of all orders exist.  The
// forward runs when the function is called, without recording gradients, and the backward in backward
// passes.  For a program they run only while it is recorded, where no value can be read.  The library holds
// no lock while they run.
class CustomFunction {
public:
    // Computes the outputs, at least one, from the inputs.
    using Forward = std::function<std::vector<Tensor>(FunctionContext&, const std::vector<Tensor>& inputs)>;
    // Computes the gradient of each input, of its shape, or undefined for none, from the gradients of the outputs; a
    // floating gradient is cast to the input's dtype.  The gradient of an output is zeros where none arrives, and
    // undefined for outputs that are not floating.  Runs in the state of autocast in which the function was called.
    using Backward =
        std::function<std::vector<Tensor>(const FunctionContext&, const std::vector<Tensor>& cotangents)>;

    // `name` is the op's name in errors and in TapeNode::operation().  Error(argument) for a null function.
    CustomFunction(std::string name, Forward forward, Backward backward);
    virtual ~CustomFunction() = default;
    CustomFunction(const CustomFunction&) = default;            // shares the functions
    CustomFunction(CustomFunction&&) = default;                 // takes the functions over
    CustomFunction& operator=(const CustomFunction&) = default; // shares the functions
    CustomFunction& operator=(CustomFunction&&) = default;      // takes the functions over

    // Calls the function and returns all outputs.  Errors: argument where the forward returns no tensor,
    // device where an output is on another device than the inputs.  A backward pass throws Error(argument)
    // where the backward returns another number of gradients than inputs, and Error(shape) for a gradient of
    // another shape than its input, or one that is not floating.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs) const;
    // Calls the function and returns the first output.
    template <class... Inputs> Tensor operator()(const Inputs&... inputs) const
    {
        return call({inputs...}).at(0);
    }
    const std::string& name() const noexcept { return *name_; } // the name given to the constructor

private:
    std::shared_ptr<const std::string> name_;
    Forward forward_;
    std::shared_ptr<const Backward> backward_;
};

// One call of an op whose gradient is overridden.
struct OverriddenOp {
    const std::vector<Tensor>&inputs, // the op's inputs
        &outputs,                     // the op's outputs
        &cotangents;                  // the gradients of the outputs, as for CustomFunction::Backward
};
// While this object exists, ops of the given name that this thread calls get another gradient, also those
// that have none.  Ops that backward passes call are not affected.  Of several overrides of one op, the
// innermost applies.
//
//     override_gradient straight("round", [](const OverriddenOp& op) { return op.cotangents; });
class override_gradient {
public:
    // Computes a gradient for each input, as CustomFunction::Backward, but without autocast, as the op's own.
    using Gradient = std::function<std::vector<Tensor>(const OverriddenOp&)>;
    // `op` is the name that TapeNode::operation() returns, such as "relu", "gelu_erf" or "round";
    // Error(argument) where there is no such op, and for a null function.
    override_gradient(const std::string& op, Gradient gradient);
    ~override_gradient(); // ops called afterwards have their original gradient
    override_gradient(const override_gradient&) = delete;
    override_gradient& operator=(const override_gradient&) = delete;

private:
    struct Override;
    std::unique_ptr<Override> override_;
};

} // namespace reprise
