// Operands: the op's inputs, then its outputs.  Ints: sizes and strides of each operand, then the Dim attributes and
// the sizes of Shape attributes as low and high words.  Floats: the host scalars.
#include "plan/host_launch.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <reprise/error.hpp>

#include "graph/host_call.hpp"
#include "ops/reference.hpp"

namespace reprise::plan {

namespace {

struct HostOperand {
    std::size_t rank;
    DType dtype;
};

using HostOperands = std::vector<HostOperand>;

// Returns the operands as tensors, and moves `ints` behind their sizes and strides.
std::vector<ops::HostTensor> tensors_of(const HostOperands& operands, const device::LaunchArguments& a,
                                        const std::int32_t*& ints)
{
    std::vector<ops::HostTensor> tensors;
    ints = a.ints.data();
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::size_t rank = operands[i].rank;
        tensors.push_back({operands[i].dtype,
                           reinterpret_cast<std::byte*>(a.operands[i].address),
                           {ints, ints + rank},
                           {ints + rank, ints + 2 * rank}});
        ints += 2 * rank;
    }
    return tensors;
}

HostOperands operands_of(const std::vector<ops::View>& in, const std::vector<ops::View>& out)
{
    HostOperands operands;
    for (const auto* views : {&in, &out})
        for (const ops::View& v : *views) operands.push_back({v.sizes().size(), v.dtype});
    return operands;
}

const std::shared_ptr<const graph::HostCall>& call_of(const graph::Attributes& attributes)
{
    return attributes.get<std::shared_ptr<const graph::HostCall>>("call");
}

std::shared_ptr<const device::StreamCall> stream_call(const std::shared_ptr<const graph::HostCall>& call,
                                                      const HostOperands& operands, std::size_t inputs)
{
    const auto tensors = [operands](const device::LaunchArguments& a) {
        const std::int32_t* ints = nullptr;
        return tensors_of(operands, a, ints);
    };
    return std::make_shared<const device::StreamCall>(device::StreamCall{
        .enqueue =
            [=](void* stream, const device::LaunchArguments& a) {
                const std::vector<ops::HostTensor> all = tensors(a);
                call->enqueue(stream, std::span(all).first(inputs), std::span(all).subspan(inputs));
            },
        .supervise =
            [=](const device::LaunchArguments& a, const std::function<void()>& await_begin,
                const std::function<bool()>& has_ended) {
                const std::vector<ops::HostTensor> all = tensors(a);
                call->supervise(std::span(all).first(inputs), await_begin, has_ended);
            }});
}

void run_reference(const graph::Op& op, const graph::Attributes& attributes, const HostOperands& operands,
                   std::size_t inputs, const device::LaunchArguments& a)
{
    const std::int32_t* ints = nullptr;
    const std::vector<ops::HostTensor> tensors = tensors_of(operands, a, ints);
    std::vector<std::int64_t> dims;
    for (; ints < a.ints.data() + a.ints.size(); ints += 2)
        dims.push_back(std::int64_t{ints[1]} << 32 | static_cast<std::uint32_t>(ints[0]));
    const std::span<const ops::HostTensor> all(tensors);
    op.reference({all.first(inputs), all.subspan(inputs), attributes, a.floats, dims, &op});
}

} // namespace

PlanLaunch host_launch(const graph::Op& op, const graph::Attributes& attributes,
                       const std::vector<ops::View>& in, const std::vector<ops::View>& out)
{
    if (!op.reference) detail::fail(ErrorKind::internal, op.name, "The op has no reference function.");
    PlanLaunch l;
    l.label = op.name;
    const auto add = [&](const ops::View& v, ops::Use use) {
        l.operands.push_back({v, use});
        l.ints.insert(l.ints.end(), v.sizes().begin(), v.sizes().end());
        l.ints.insert(l.ints.end(), v.layout.strides.begin(), v.layout.strides.end());
    };
    for (const ops::View& v : in) add(v, ops::Use::read);
    for (const ops::View& v : out) add(v, ops::Use::write);
    const auto add_dim = [&](const Dim& d) { ops::add_words(l.ints, d); };
    for (const auto& [name, attribute] : attributes.all()) {
        if (const Dim* d = std::get_if<Dim>(&attribute)) add_dim(*d);
        if (const auto* s = std::get_if<std::shared_ptr<const graph::HostScalar>>(&attribute)) {
            ops::Scalar scalar(1);
            scalar.source = *s;
            l.floats.push_back(scalar);
        }
    }
    for (const auto& [name, attribute] : attributes.all())
        if (const auto* s = std::get_if<Shape>(&attribute)) std::for_each(s->begin(), s->end(), add_dim);
    l.words = true;
    l.kernel = op.name;
    l.host = std::make_shared<const device::HostFunction>(
        [&op, attributes, operands = operands_of(in, out), inputs = in.size()](
            const device::LaunchArguments& a) { run_reference(op, attributes, operands, inputs, a); });
    l.groups = 1;
    l.on_host = op.on_host;
    if (op.on_host && runs_on_stream(attributes))
        l.on_stream = stream_call(call_of(attributes), operands_of(in, out), in.size());
    return l;
}

bool runs_on_stream(const graph::Attributes& attributes) { return call_of(attributes)->is_on_stream(); }

} // namespace reprise::plan
