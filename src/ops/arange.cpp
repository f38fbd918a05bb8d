// arange: 0, 1, ..., end - 1.
#include <reprise/ops/creation.hpp>

#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op& op, const InputTypes&, const Attributes& a)
{
    const DType dtype = a.get<DType>("dtype");
    const Dim& end = a.get<Dim>("end");
    if (dtype == boolean) wrong_dtype(op.name, dtype, "a dtype of numbers");
    if (end.is_constant() && end.value() < 0)
        detail::fail(ErrorKind::argument, op.name, "The end (", end,
                     ") is below 0, where the numbers start.");
    return {{dtype, {end}}};
}

void lower(Lowering& l, const Node&)
{
    const View to = l.output();
    const Dim& count = to.sizes()[0];
    const records::arange record{.y = to, .count = count};
    l.launch(
        record.launch({.constants = {static_cast<std::uint32_t>(to.dtype)}, .groups = ceil_div(count, 256)}));
}

void reference(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    for (std::int64_t i = 0, count = out.count(); i < count; ++i) out.put(i, static_cast<double>(i));
}

} // namespace

const Op arange_op{.name = "arange",
                   .infer = infer,
                   .lower = lower,
                   .reference = reference,
                   .narrow = true,
                   .doubles = true};

} // namespace ops

Tensor arange(const Dim& end, const CreationOptions& options)
{
    return ops::with_grad(graph::create(ops::arange_op, ops::evaluator_for(options),
                                        {{"end", end}, {"dtype", options.dtype_or(i32)}}),
                          options);
}

} // namespace reprise
