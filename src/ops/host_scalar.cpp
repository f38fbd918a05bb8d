// host_scalar: a number that a program queries from the host at each call.
#include <reprise/ops/creation.hpp>

#include "ops/full.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::HostScalar;

TensorTypes infer(const Op&, const InputTypes&, const Attributes&) { return {{f32, {}}}; }

bool number(const Node& n, Scalar& s)
{
    s = Scalar(1);
    s.source = n.attributes.get<std::shared_ptr<const HostScalar>>("value");
    return true;
}

void lower(Lowering& l, const Node& n)
{
    Scalar s;
    number(n, s);
    launch_full(l, l.output(), s);
}

void reference(const ReferenceArguments& a) { a.outputs[0].put(0, a.scalars[0]); }

} // namespace

const Op host_scalar_op{
    .name = "host_scalar", .infer = infer, .number = number, .lower = lower, .reference = reference};

} // namespace ops

Tensor host_scalar(std::function<double()> value)
{
    const auto evaluator = ops::evaluator_for({}); // that of the recording, if there is one
    if (!graph::current_tracer()) return ops::full_on(evaluator, {}, value(), f32);
    std::shared_ptr<const graph::HostScalar> source =
        std::make_shared<graph::HostScalar>(graph::HostScalar{std::move(value)});
    return graph::create(ops::host_scalar_op, evaluator, {{"value", std::move(source)}});
}

} // namespace reprise
