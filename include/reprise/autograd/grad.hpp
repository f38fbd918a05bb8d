// Gradients of given tensors with respect to others.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include <reprise/grad_mode.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// Options of grad().
struct GradOptions {
    bool create_graph = false; // the gradients can be differentiated again
    bool retain_graph = false; // retains the graph for another backward pass; create_graph implies it
    bool allow_unused = false; // returns an undefined tensor for an input that no output depends on
    // The gradient of each output; undefined or left out: 1, for an output of one element.
    std::vector<Tensor> cotangents{};
};
// Returns the gradients of the sum of all outputs, each times its cotangent, with respect to the inputs.  No
// grad() changes.  Outputs without a cotangent are computed together with the gradients if a handle to them
// still exists.  Errors: state where an input or output requires no gradient; argument for an input that no output
// depends on, unless `allow_unused`, and unless there are as many cotangents as outputs; shape for an output
// of several elements without a cotangent.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& = {});
// Returns the gradients of one output: grad(loss, {a, b}), grad(loss, net.parameters()).
std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& = {});
// Returns the gradient of one output with respect to one input, also in braces: grad(loss, x), grad(loss, {x}).
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& = {});

namespace autograd {
// Runs backward() for several tensors in one pass.  `grad_tensors` are their gradients, none or one for each
// tensor; undefined: 1, for a tensor of one element.  The default of `retain_graph` is `create_graph`.  Errors
// are those of Tensor::backward(); argument for another number of gradients.
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false);
// Calls grad() with PyTorch's arguments.  `grad_outputs` are the cotangents, none or one for each output; the
// default of `retain_graph` is `create_graph`.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {},
                         std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                         bool allow_unused = false);
// Calls the function once when the backward pass in progress on this thread has stored all gradients.  It is
// for hooks of tensors (Tensor::register_hook), as PyTorch's Engine::queue_callback().  Functions run in the
// order of the calls, and an exception leaves backward().  Error(state) outside of a backward pass that stores
// gradients.
void queue_callback(std::function<void()> function);
} // namespace autograd

namespace detail {
// Replaces the value of a leaf by one of the same shape, of any dtype and device.  Its gradient does not change.
// A program that uses the leaf refuses calls if the dtype or the device has changed.
void replace_value(const Tensor& leaf, const Tensor& value);
} // namespace detail

} // namespace reprise
