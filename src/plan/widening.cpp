#include "plan/widening.hpp"

#include "graph/op.hpp"
#include "kernels/variants.hpp"

namespace reprise::plan {

DType wide_dtype(DType t) { return size_of(t) >= 4 ? t : is_floating(t) ? f32 : i32; }

Widened widened_operands(const device::Capabilities& caps, const graph::Node& n)
{
    const graph::Op& op = *n.op;
    const graph::TensorType& result = n.outputs[0];
    if (op.row || op.narrow ||
        ((op.half_products || op.half_convolutions) && kernels::multiplies_halves(caps, result.dtype)))
        return {false, false};
    const bool direct = op.half_convolutions && kernels::direct_reads_and_writes(caps, result.dtype);
    const bool read = (op.half_products && kernels::products_read_halves(caps)) ||
                      (op.half_convolutions && kernels::tiles_read_halves(caps)) || direct;
    const bool written =
        (op.half_products && kernels::products_write_halves(caps, result.dtype, result.shape)) || direct;
    return {!read, !written};
}

} // namespace reprise::plan
