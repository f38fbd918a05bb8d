// Gradients of tensors that were computed already.
#pragma once
#include <optional>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// d(sum of outputs . cotangents)/d(inputs).  An input that no output depends on gives an undefined tensor
// where `allow_unused`, else Error(argument).  An output without a cotangent must have one element; while somebody holds
// it, it is computed with the gradients.
struct GradOptions {
    bool create_graph = false;
    bool retain_graph = false; // create_graph implies it
    bool allow_unused = false;
    std::vector<Tensor> cotangents{};
};
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& = {});
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& = {});

bool grad_enabled();
// While it lives, ops on this thread record no gradients.
class no_grad {
public:
    no_grad();
    ~no_grad();
    no_grad(const no_grad&) = delete;
    no_grad& operator=(const no_grad&) = delete;

private:
    bool before_;
};
// While it lives, they do, be it within a no_grad.
class enable_grad {
public:
    enable_grad();
    ~enable_grad();
    enable_grad(const enable_grad&) = delete;
    enable_grad& operator=(const enable_grad&) = delete;

private:
    bool before_;
};
// While it lives, they do or do not, as `enabled` says.
class AutoGradMode {
public:
    explicit AutoGradMode(bool enabled);
    ~AutoGradMode();
    AutoGradMode(const AutoGradMode&) = delete;
    AutoGradMode& operator=(const AutoGradMode&) = delete;

private:
    bool before_;
};
using NoGradGuard = no_grad;

namespace autograd {
// grad() with PyTorch's arguments: `grad_outputs` are the cotangents, none or one for each output; without
// `retain_graph` it is what `create_graph` is.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {},
                         std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                         bool allow_unused = false);
} // namespace autograd

namespace detail {
// Gives a leaf another value of the same shape, of any dtype and device.  Its gradient is left alone; a program that
// uses the leaf refuses its calls unless dtype and device are as they were.
void replace_value(const Tensor& leaf, const Tensor& value);
} // namespace detail

} // namespace reprise
