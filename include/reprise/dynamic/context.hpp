// One forward and its backward of a training system of one's own.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// Keeps shapes and saved tensors from a forward to its backward, and checks every gradient.  Contexts know
// nothing of each other: several may be alive, and one may be used inside of another's functions.  It closes,
// which lets go of the saved tensors, at its end and where a function throws; the exception goes on.  Used by
// one thread at a time.
class DynamicAutogradContext {
public:
    using Tensors = std::vector<Tensor>;
    using Function = std::function<Tensors(DynamicAutogradContext&, const Tensors&)>;

    DynamicAutogradContext() = default;
    DynamicAutogradContext(const DynamicAutogradContext&) = delete;
    DynamicAutogradContext& operator=(const DynamicAutogradContext&) = delete;

    // f(*this, inputs), once: its ops are on the tape or not as elsewhere.  Error(state) at a second one and
    // where the context is closed, Error(argument) for an undefined tensor or a null function.
    Tensors forward(const Function& f, const Tensors& inputs);
    // f(*this, gradients) of a gradient for each output, which must have its shape, to one for each input,
    // which validate_gradient() would take; undefined: none.  As often as is wanted.  Error(state) before
    // forward() has returned and where the context is closed, Error(argument) for another number of tensors or
    // a null function.
    Tensors backward(const Function& f, const Tensors& gradients);

    // In forward: the present values, which later assignments do not change, with their tape; undefined ones
    // stay so.  What was saved before is let go of.  Error(state) where the context is closed.
    void save_for_backward(const Tensors&);
    // Error(argument) for an index that is not below their number, Error(state) where the context is closed.
    Tensor get_saved_tensor(std::size_t index) const;
    // All of them, in the order in which they were saved.  Error(state) where the context is closed.
    const Tensors& get_saved_tensors() const;

    // Those of the forward: empty before it.
    const std::vector<SymbolicShape>& input_shapes() const noexcept { return inputs_; }
    const std::vector<SymbolicShape>& output_shapes() const noexcept { return outputs_; }
    // One for each input: that of the gradient that was validated last.  Where backward() finds one that does
    // not fit it notes none.
    const std::vector<std::optional<SymbolicShape>>& gradient_shapes() const noexcept { return gradients_; }
    // Notes the shape of the gradient by an input.  Error(shape) with both unless it is that of the input,
    // symbol for symbol; Error(argument) for an index that is not below the number of inputs.
    void validate_gradient(std::size_t index, const SymbolicShape& shape);

    bool is_open() const noexcept { return open_; }
    void close() noexcept; // more than once does nothing more; the shapes stay

private:
    void require_open(const char* op) const;
    SymbolicShape checked(const char* op, std::size_t input, SymbolicShape gradient) const;

    bool open_ = true, called_ = false, done_ = false; // the forward
    Tensors saved_;
    std::vector<SymbolicShape> inputs_, outputs_;
    std::vector<std::optional<SymbolicShape>> gradients_;
};

} // namespace reprise
