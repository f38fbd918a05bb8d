// The kernel of shaders/log_softmax.comp, with the order of summation of common/rows.cuh.
#include "common/rows.cuh"

namespace rp {

template <bool logarithm> struct Softmax {
    RowsRecord<2, 0, 2> record; // x, y

    template <class Way> RP_DEVICE void make(const Row (&row)[2], uint, uint n) const
    {
        Part<Way> x(row[0], n);

        vec4 m(-rp_inf());
        Way::each(n, [&](uint i, uint e) { m = larger(m, Way::inside(x.get(i, e), e, n, -rp_inf())); });
        const float largest = Way::largest(m);

        vec4 sum(0.0f);
        Way::each(n, [&](uint i, uint e) {
            const vec4 shifted = x.get(i, e) - largest, grown = exponential(shifted);
            x.keep(i, logarithm ? shifted : grown);
            sum += Way::inside(grown, e, n);
        });
        const float total = Way::sum(sum), log_total = logarithm ? rp_log(total) : 0.0f;

        Way::each(n, [&](uint i, uint e) {
            vec4 v = x.get(i, e);
            if (!x.kept) v = logarithm ? v - largest : exponential(v - largest);
            Way::store(row[1], e, n, logarithm ? v - log_total : v / total);
        });
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(log_softmax, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::Softmax<true>{{rp_record, rp_constants}});
}
RP_KERNEL_OF_BLOCK(softmax, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::Softmax<false>{{rp_record, rp_constants}});
}
