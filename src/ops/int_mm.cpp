// int_mm: exact products of matrices of i8.
#include <reprise/ops/quantization.hpp>

#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    for (const std::size_t i : {0, 1}) {
        if (in[i].dtype != i8) wrong_dtype(op.name, in[i].dtype, "i8");
        if (in[i].shape.size() != 2)
            detail::fail(ErrorKind::shape, op.name, "The op takes matrices, not (", to_string(in[i].shape),
                         ").");
    }
    return {{i32, shape::matmul(op.name, in[0].shape, in[1].shape)}};
}

void lower(Lowering& l, const Node&)
{
    const View a = l.input(0), b = l.input(1), c = l.output();
    const records::int_mm record{.a = a,
                                 .b = b,
                                 .c = c,
                                 .m = c.sizes()[0],
                                 .n = c.sizes()[1],
                                 .k = a.sizes()[1],
                                 .a_row_stride = a.layout.strides[0],
                                 .a_column_stride = a.layout.strides[1],
                                 .b_row_stride = b.layout.strides[0],
                                 .b_column_stride = b.layout.strides[1]};
    l.launch(record.launch({.groups = ceil_div(c.sizes()[0] * ceil_div(c.sizes()[1], 4), 64),
                            .flops = 2 * c.sizes()[0] * c.sizes()[1] * a.sizes()[1]}));
}

void reference(const ReferenceArguments& r)
{
    const HostTensor &a = r.inputs[0], &b = r.inputs[1], &c = r.outputs[0];
    for (std::int64_t i = 0; i < c.sizes[0]; ++i)
        for (std::int64_t j = 0; j < c.sizes[1]; ++j) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < a.sizes[1]; ++k)
                sum += a.get_whole(i * a.strides[0] + k * a.strides[1]) *
                       b.get_whole(k * b.strides[0] + j * b.strides[1]);
            c.set_whole(c.offset(i * c.sizes[1] + j), sum);
        }
}

} // namespace

const Op int_mm_op{.name = "int_mm",
                   .infer = infer,
                   .lower = lower,
                   .reference = reference,
                   .narrow = true,
                   .cost = graph::Cost::compute};

} // namespace ops

Tensor int_mm(const Tensor& a, const Tensor& b) { return graph::apply1(ops::int_mm_op, {a, b}); }

} // namespace reprise
