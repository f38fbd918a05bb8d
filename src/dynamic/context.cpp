#include <reprise/dynamic/context.hpp>

#include <utility>

namespace reprise {

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

void check_shape(const char* op, const char* of, std::size_t i, const SymbolicShape& gradient,
                 const SymbolicShape& shape)
{
    if (gradient != shape)
        detail::fail(ErrorKind::shape, op, "The gradient has the shape (", gradient, ") but ", of, " (", i,
                     ") has (", shape, "): both must be the same, symbol for symbol.");
}

} // namespace

Tensors DynamicAutogradContext::forward(const Function& f, const Tensors& inputs)
{
    require_open("forward");
    if (called_)
        detail::fail(ErrorKind::state, "forward", "The context has a forward of (", inputs_.size(),
                     ") inputs already: make one for each.");
    std::vector<SymbolicShape> shapes = shapes_of(inputs);
    called_ = true;
    inputs_ = std::move(shapes);
    gradients_.resize(inputs_.size());
    try {
        Tensors outputs = f(*this, inputs);
        outputs_ = shapes_of(outputs);
        return outputs;
    } catch (...) {
        close();
        throw;
    }
}

Tensors DynamicAutogradContext::backward(const Function& f, const Tensors& gradients)
{
    require_open("backward");
    if (!called_) detail::fail(ErrorKind::state, "backward", "The context has no forward: call that first.");
    check_count("gradients", gradients.size(), "outputs", outputs_.size());
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (gradients[i].defined()) check_shape("backward", "output", i, gradients[i].shape(), outputs_[i]);
    try {
        Tensors given = f(*this, gradients);
        check_count("gradients given", given.size(), "inputs", inputs_.size());
        for (std::size_t i = 0; i < given.size(); ++i)
            if (given[i].defined()) validate_gradient(i, given[i].shape());
        return given;
    } catch (...) {
        close();
        throw;
    }
}

void DynamicAutogradContext::save_for_backward(const Tensors& tensors)
{
    require_open("save_for_backward");
    saved_ = tensors;
}

const Tensor& DynamicAutogradContext::get_saved_tensor(std::size_t index) const
{
    require_open("get_saved_tensor");
    if (index >= saved_.size())
        detail::fail(ErrorKind::argument, "get_saved_tensor", "There is no saved tensor (", index, ") of (",
                     saved_.size(), "): save it in forward.");
    return saved_[index];
}

void DynamicAutogradContext::validate_gradient(std::size_t index, const SymbolicShape& shape)
{
    if (index >= inputs_.size())
        detail::fail(ErrorKind::argument, "validate_gradient", "There is no input (", index, ") of (",
                     inputs_.size(), "): use an index below their number.");
    check_shape("validate_gradient", "input", index, shape, inputs_[index]);
    gradients_[index] = shape;
}

void DynamicAutogradContext::close() noexcept
{
    open_ = false;
    saved_.clear();
}

void DynamicAutogradContext::require_open(const char* op) const
{
    if (!open_)
        detail::fail(ErrorKind::state, op, "The context of (", inputs_.size(),
                     ") inputs is closed: make one for each forward and backward.");
}

} // namespace reprise
