#include <reprise/dynamic/context.hpp>

#include <utility>

#include "dynamic/check.hpp"

namespace reprise {

using dynamic::check_shape;
using Tensors = DynamicAutogradContext::Tensors;

namespace {

std::vector<SymbolicShape> shapes_of(const Tensors& tensors)
{
    std::vector<SymbolicShape> shapes;
    for (const Tensor& t : tensors) shapes.emplace_back(t.shape());
    return shapes;
}

void check_count(const char* what, std::size_t given, const char* of, std::size_t wanted)
{
    if (given != wanted)
        detail::fail(ErrorKind::argument, "backward", "There are (", given, ") ", what, " for (", wanted,
                     ") ", of, ": give one for each, undefined where there is none.");
}

void check_function(const char* op, const DynamicAutogradContext::Function& f)
{
    if (!f) detail::fail(ErrorKind::argument, op, "The function is (null): give one.");
}

} // namespace

Tensors DynamicAutogradContext::forward(const Function& f, const Tensors& inputs)
{
    require_open("forward");
    if (called_)
        detail::fail(ErrorKind::state, "forward", "The context has a forward of (", inputs_.size(),
                     ") inputs already: make one for each.");
    check_function("forward", f);
    std::vector<SymbolicShape> shapes = shapes_of(inputs);
    called_ = true;
    inputs_ = std::move(shapes);
    gradients_.resize(inputs_.size());
    try {
        Tensors outputs = f(*this, inputs);
        outputs_ = shapes_of(outputs);
        done_ = true;
        return outputs;
    } catch (...) {
        close();
        throw;
    }
}

Tensors DynamicAutogradContext::backward(const Function& f, const Tensors& gradients)
{
    require_open("backward");
    if (!done_)
        detail::fail(ErrorKind::state, "backward",
                     called_ ? "forward() has not returned yet: call backward() after it."
                             : "The context has no outputs: call forward() first.");
    check_function("backward", f);
    check_count("gradients", gradients.size(), "outputs", outputs_.size());
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (gradients[i].defined())
            check_shape("backward", "gradient", gradients[i].shape(), outputs_[i], "output (", i, ") has");
    try {
        Tensors given = f(*this, gradients);
        check_count("gradients given", given.size(), "inputs", inputs_.size());
        auto shapes = gradients_;
        for (std::size_t i = 0; i < given.size(); ++i)
            if (given[i].defined()) shapes[i] = checked("backward", i, given[i].shape());
        gradients_ = std::move(shapes);
        return given;
    } catch (...) {
        close();
        throw;
    }
}

void DynamicAutogradContext::save_for_backward(const Tensors& tensors)
{
    require_open("save_for_backward");
    Tensors saved;
    for (const Tensor& t : tensors) saved.push_back(t.defined() ? t.snapshot() : t);
    saved_ = std::move(saved);
}

Tensor DynamicAutogradContext::get_saved_tensor(std::size_t index) const
{
    require_open("get_saved_tensor");
    if (index >= saved_.size())
        detail::fail(ErrorKind::argument, "get_saved_tensor", "There is no saved tensor (", index, ") of (",
                     saved_.size(), "): save it in forward.");
    return saved_[index];
}

const std::vector<Tensor>& DynamicAutogradContext::get_saved_tensors() const
{
    require_open("get_saved_tensors");
    return saved_;
}

void DynamicAutogradContext::validate_gradient(std::size_t index, const SymbolicShape& shape)
{
    if (index >= inputs_.size())
        detail::fail(ErrorKind::argument, "validate_gradient", "There is no input (", index, ") of (",
                     inputs_.size(), "): use an index below their number.");
    gradients_[index] = checked("validate_gradient", index, shape);
}

void DynamicAutogradContext::close() noexcept
{
    open_ = false;
    saved_.clear();
}

SymbolicShape DynamicAutogradContext::checked(const char* op, std::size_t input, SymbolicShape gradient) const
{
    check_shape(op, "gradient", gradient, inputs_[input], "input (", input, ") has");
    return gradient;
}

void DynamicAutogradContext::require_open(const char* op) const
{
    if (!open_)
        detail::fail(ErrorKind::state, op, "The context of (", inputs_.size(),
                     ") inputs is closed: make one for each forward and backward.");
}

} // namespace reprise
