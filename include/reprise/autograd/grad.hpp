// Gradients of tensors that are computed already, and turning gradients on and off.
#pragma once
#include <optional>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// Options of grad().
struct GradOptions {
    bool create_graph = false; // the gradients can be differentiated again
    bool retain_graph = false; // keeps the graph for another backward pass; create_graph implies it
    bool allow_unused = false; // gives an undefined tensor for an input that no output depends on
    // The gradient of each output; undefined or left out: 1, for an output of one element.
    std::vector<Tensor> cotangents{};
};
// The gradients of the sum of all outputs, each times its cotangent, with respect to the inputs.  No grad()
// changes.  Outputs without a cotangent are computed together with the gradients while a handle to them
// exists.  Errors: state where an input or output requires no gradient; argument for an input that no output
// depends on, unless `allow_unused`, and for another number of cotangents than outputs; shape for an output
// of several elements without a cotangent.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& = {});
// The same for one output and several inputs: grad(loss, {a, b}), grad(loss, net.parameters()).
std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& = {});
// The same for one output and one input; also for one in braces, grad(loss, {x}).
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& = {});

// Whether ops on this thread are recorded for gradients, which is the default.
bool grad_enabled();
// While this object exists, ops on this thread are not recorded for gradients.
class no_grad {
public:
    no_grad();  // turns gradients off
    ~no_grad(); // restores the state of before
    no_grad(const no_grad&) = delete;
    no_grad& operator=(const no_grad&) = delete;

private:
    bool before_;
};
// While this object exists, ops on this thread are recorded for gradients, also within a no_grad.
class enable_grad {
public:
    enable_grad();  // turns gradients on
    ~enable_grad(); // restores the state of before
    enable_grad(const enable_grad&) = delete;
    enable_grad& operator=(const enable_grad&) = delete;

private:
    bool before_;
};
// While this object exists, ops on this thread are recorded for gradients or not.
class AutoGradMode {
public:
    explicit AutoGradMode(bool enabled); // turns gradients on or off
    ~AutoGradMode();                     // restores the state of before
    AutoGradMode(const AutoGradMode&) = delete;
    AutoGradMode& operator=(const AutoGradMode&) = delete;

private:
    bool before_;
};
using NoGradGuard = no_grad; // libtorch's name
// Whether ops on this thread are recorded for gradients, by libtorch's names.
struct GradMode {
    static bool is_enabled();         // grad_enabled()
    static void set_enabled(bool on); // turns gradients on or off until it is called again
};
// While this object exists, ops on this thread are not recorded for gradients: no_grad, by libtorch's name.
class InferenceMode : public AutoGradMode {
public:
    explicit InferenceMode(bool enabled = true) : AutoGradMode(!enabled) {} // false: they are recorded
};

namespace autograd {
// backward() of several tensors in one pass.  `grad_tensors` are their gradients, none or one for each tensor;
// undefined: 1, for a tensor of one element.  `retain_graph` is `create_graph` unless it is given.  Errors as
// for Tensor::backward(); argument for another number of gradients.
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false);
// grad() with PyTorch's arguments.  `grad_outputs` are the cotangents, none or one for each output;
// `retain_graph` is `create_graph` unless it is given.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {},
                         std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                         bool allow_unused = false);
} // namespace autograd

namespace detail {
// Gives a leaf another value of the same shape, of any dtype and device.  Its gradient is left alone; a
// program that uses the leaf refuses its calls unless dtype and device are as they were.
void replace_value(const Tensor& leaf, const Tensor& value);
} // namespace detail

} // namespace reprise
