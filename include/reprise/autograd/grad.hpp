// Gradients of tensors that are computed already.
#pragma once
#include <optional>
#include <vector>

#include <reprise/grad_mode.hpp>
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
