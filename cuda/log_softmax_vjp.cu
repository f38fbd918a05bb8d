// The kernel of shaders/log_softmax_vjp.comp, with the order of summation of common/rows.cuh.
#include "common/rows.cuh"

namespace rp {

template <bool logarithm> struct SoftmaxVjp {
    RowsRecord<3, 0, 3> record; // dy, y, dx

    template <class Way> RP_DEVICE void make(const Row (&row)[3], uint, uint n) const
    {
        const Part<Way> dy(row[0], n);
        const Part<typename Way::Second> y(row[1], n);

        vec4 sum(0.0f);
        Way::each(n, [&](uint i, uint e) {
            const vec4 g = dy.get(i, e);
            sum += Way::inside(logarithm ? g : g * y.get(i, e), e, n);
        });
        const float total = Way::sum(sum);

        Way::each(n, [&](uint i, uint e) {
            const vec4 g = dy.get(i, e), v = y.get(i, e);
            Way::store(row[2], e, n, logarithm ? g - exponential(v) * total : (g - total) * v);
        });
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(log_softmax_vjp, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::SoftmaxVjp<true>{{rp_record, rp_constants}});
}
RP_KERNEL_OF_BLOCK(softmax_vjp, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::SoftmaxVjp<false>{{rp_record, rp_constants}});
}
