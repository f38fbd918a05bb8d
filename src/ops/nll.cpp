// nll: minus the element of each row at the index `target`, and its gradient.  Attribute "ignore": the target whose
// rows give 0.
#include <limits>
#include <string>

#include <reprise/ops/creation.hpp>

#include "ops/indices.hpp"
#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"

namespace reprise {
namespace ops {
namespace {

// Infers the type for log-probabilities [R, C], target [R] -> [R].
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    require_indices(op.name, "target", in[1].dtype);
    if (in[0].shape.size() != 2 || in[1].shape.size() != 1)
        detail::fail(ErrorKind::shape, op.name, "The shapes (", to_string(in[0].shape), " and ",
                     to_string(in[1].shape), ") are not those of rows of classes and a target for each.");
    shape::require_equal(op.name, in[0].shape[0], in[1].shape[0], [&] {
        return "There are (" + in[0].shape[0].text() + ") rows but (" + in[1].shape[0].text() +
               ") targets: give one for each row.";
    });
    return {{in[0].dtype, {in[0].shape[0]}}};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    return {graph::apply1(nll_vjp_op, {a.cotangents[0], a.inputs[1]},
                          {{"classes", a.node.inputs[0].type().shape[1]},
                           {"ignore", a.node.attributes.integer("ignore")}}),
            {}};
}

void lower(Lowering& l, const Node& n)
{
    const View x = l.input(0), target = l.indices(1), to = l.output();
    require_floating_kernel(n.op->name, x.dtype);
    const Dim& rows = x.sizes()[0];
    const records::nll record{.x = x,
                              .target = target,
                              .y = to,
                              .rows = rows,
                              .classes = x.sizes()[1],
                              .row_stride = x.layout.strides[0],
                              .class_stride = x.layout.strides[1],
                              .target_stride = target.layout.strides[0],
                              .ignored = n.attributes.integer("ignore")};
    l.launch(record.launch({.groups = ceil_div(rows, 64)}));
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &target = a.inputs[1], &y = a.outputs[0];
    for (std::int64_t row = 0; row < x.sizes[0]; ++row) {
        const auto t = static_cast<std::int64_t>(target.at(row));
        if (t == a.attributes.integer("ignore")) y.put(row, 0);
        else if (t < 0 || t >= x.sizes[1]) y.put(row, std::numeric_limits<double>::quiet_NaN());
        else y.put(row, -x.get(row * x.strides[0] + t * x.strides[1]));
    }
}

// -- nll_vjp: dy [R], target [R] -> [R, C]; linear in dy, and nll is its transpose --
TensorTypes infer_vjp(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    require_indices(op.name, "target", in[1].dtype);
    return {{in[0].dtype, {in[0].shape[0], a.get<Dim>("classes")}}};
}

std::vector<Tensor> vjp_vjp(const VjpArguments& a)
{
    return {graph::apply1(nll_op, {a.cotangents[0], a.inputs[1]},
                          {{"ignore", a.node.attributes.integer("ignore")}}),
            {}};
}

void lower_vjp(Lowering& l, const Node& n)
{
    const View dy = l.input(0), target = l.indices(1), to = l.output();
    require_floating_kernel(n.op->name, dy.dtype);
    const Dim &rows = to.sizes()[0], &classes = to.sizes()[1];
    const records::nll_vjp record{.dy = dy,
                                  .target = target,
                                  .dx = to,
                                  .count = rows * classes,
                                  .classes = classes,
                                  .dy_stride = dy.layout.strides[0],
                                  .target_stride = target.layout.strides[0],
                                  .ignored = n.attributes.integer("ignore")};
    launch_with_texels(l, 1,
                       record.launch({.constants = {classes.divisible_by(4) ? 1u : 0u},
                                      .groups = ceil_div(rows * classes, 256)}));
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &target = a.inputs[1], &dx = a.outputs[0];
    const std::int64_t classes = dx.sizes[1];
    for (std::int64_t i = 0, count = dx.count(); i < count; ++i) {
        const auto t = static_cast<std::int64_t>(target.at(i / classes));
        const bool in_range = t >= 0 && t < classes;
        if (t == a.attributes.integer("ignore")) dx.put(i, 0);
        else if (!in_range) dx.put(i, std::numeric_limits<double>::quiet_NaN());
        else dx.put(i, t == i % classes ? -dy.at(i / classes) : 0);
    }
}

} // namespace

const Op nll_op{
    .name = "nll", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference, .doubles = true};
const Op nll_vjp_op{.name = "nll_vjp",
                    .infer = infer_vjp,
                    .vjp = vjp_vjp,
                    .lower = lower_vjp,
                    .reference = reference_vjp,
                    .doubles = true};

} // namespace ops
} // namespace reprise
