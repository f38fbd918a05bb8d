// A forward and its backward, for training systems with a custom backward pass.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// Stores shapes and saved tensors from a forward to its backward, and checks the shape of every gradient. Contexts are
// independent of each other and may be nested. A context closes, which frees the saved tensors, when it is destroyed
// and when a function throws; the exception is rethrown. Only one thread at a time may use it.
class DynamicAutogradContext {
public:
    using Tensors = std::vector<Tensor>; // a list of tensors
    // A forward or a backward function.
    using Function = std::function<Tensors(DynamicAutogradContext&, const Tensors&)>;

    DynamicAutogradContext() = default; // open, without a forward
    DynamicAutogradContext(const DynamicAutogradContext&) = delete;
    DynamicAutogradContext& operator=(const DynamicAutogradContext&) = delete;

    // Calls f(*this, inputs), returns its outputs and stores all shapes. Its ops are recorded for gradients as usual.
    // Errors: state for a second call and if the context is closed; argument for an undefined tensor or a null
    // function.
    Tensors forward(const Function& f, const Tensors& inputs);
    // Calls f(*this, gradients) with a gradient for each output and returns its gradients of the inputs, one for each.
    // Undefined tensors mean no gradient. May be called several times. Errors: shape if a gradient's shape is not that
    // of its output or input, symbol for symbol; state before forward() has returned and if the context is closed;
    // argument for another number of tensors or a null function.
    Tensors backward(const Function& f, const Tensors& gradients);

    // Saves the current values of tensors, in place of those saved before; later assignments do not change them, and
    // gradients flow through them. Undefined tensors stay undefined. Error(state) if the context is closed.
    void save_for_backward(const Tensors&);
    // One saved tensor. Error(argument) if the index is out of range, Error(state) if the context is closed.
    Tensor get_saved_tensor(std::size_t index) const;
    // All saved tensors, in the order in which they were saved. Error(state) if the context is closed.
    const Tensors& get_saved_tensors() const;

    // The shapes of the forward's inputs; empty before it.
    const std::vector<SymbolicShape>& input_shapes() const noexcept { return inputs_; }
    // The shapes of the forward's outputs; empty before it.
    const std::vector<SymbolicShape>& output_shapes() const noexcept { return outputs_; }
    // For each input, the shape of its gradient that was checked last; no value if there was none. A backward() that
    // fails stores none.
    const std::vector<std::optional<SymbolicShape>>& gradient_shapes() const noexcept { return gradients_; }
    // Checks and stores the shape of the gradient of an input. Error(shape), with both shapes, unless it is that of the
    // input, symbol for symbol; Error(argument) if there is no such input.
    void validate_gradient(std::size_t index, const SymbolicShape& shape);

    bool is_open() const noexcept { return open_; } // whether the context is not closed
    void close() noexcept;                          // frees the saved tensors but not the shapes; idempotent

private:
    void require_open(const char* op) const;
    SymbolicShape checked(const char* op, std::size_t input, SymbolicShape gradient) const;

    bool open_ = true, called_ = false, done_ = false; // called_, done_: forward() was called, has returned
    Tensors saved_;
    std::vector<SymbolicShape> inputs_, outputs_;
    std::vector<std::optional<SymbolicShape>> gradients_;
};

} // namespace reprise
