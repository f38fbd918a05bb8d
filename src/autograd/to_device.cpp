// Copies a tensor's elements to another device through host memory.  The node of the copy is on the new device and has
// its value from the start.  Its input is on the old device, to which the gradient is copied back.
#include <reprise/ops/elementwise.hpp>

#include "graph/notes.hpp"
#include "ops/registry.hpp"

namespace reprise {

using graph::Value;

namespace {

struct BackTo final : graph::GivenGradient {
    explicit BackTo(Device d) : source(std::move(d)) {}
    std::vector<Tensor> vjp(const graph::VjpArguments& a) const override
    {
        return {a.cotangents[0].to(source)};
    }
    graph::Reads reads(const graph::Node&) const override { return {}; }
    Device source;
};

graph::TensorTypes infer(const graph::Op&, const graph::InputTypes& in, const graph::Attributes&)
{
    return {in[0]};
}
bool view(const graph::Node&, std::size_t, graph::Strided&) { return true; } // nothing to compute
const graph::Op to_op{.name = "to", .infer = infer, .view = view};

} // namespace

Tensor Tensor::to(const Device& device) const
{
    const Device source = this->device();
    if (source == device) return *this;
    if (graph::current_tracer())
        detail::fail(ErrorKind::state, "to", "A program runs on one device (", source.name(),
                     "): bring what it needs from (", device.name(), ") there before it is recorded.");
    const Value v = graph::read(*this);
    const std::shared_ptr<graph::Evaluator> evaluator = ops::evaluator_for({.device = device});
    std::vector<std::byte> bytes(static_cast<std::size_t>(numel().value()) * size_of(v.type().dtype));
    evaluator->accept("to", nullptr, v.type().dtype);
    v.node->evaluator->read(v, bytes);
    const auto storage = evaluator->upload("to", v.type(), bytes);
    if (!requires_grad() || !graph::grad_mode())
        return graph::make_tensor(graph::leaf(v.type(), evaluator, storage, false));
    const auto node = graph::append(to_op, {v}, {}, evaluator, true, std::make_shared<BackTo>(source));
    node->storage[0] = storage; // no lock: evaluators ignore new views, and nothing refers to it yet
    node->has_storage = true;
    for (graph::Scope* s = graph::current_scope(); s; s = s->outer()) s->applied(*node);
    return graph::make_tensor({node, 0});
}

// Copies the narrower of the two dtypes.  Of two equally wide ones it copies the requested one, as the other device
// need support only that.
Tensor Tensor::to(const Device& device, DType dtype, bool) const
{
    return size_of(dtype) <= size_of(this->dtype()) ? to(dtype).to(device) : to(device).to(dtype);
}

} // namespace reprise
