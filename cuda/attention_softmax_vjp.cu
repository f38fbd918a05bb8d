// The kernel of shaders/attention_softmax_vjp.comp, with the order of summation of common/rows.cuh.
#include "common/rows.cuh"

namespace rp {

struct AttentionSoftmaxVjp {
    RowsRecord<3, 1, 3> record; // dy, y, dx; dx may be dy
    bool causal;

    template <class Way> RP_DEVICE void make(const Row (&row)[3], uint number, uint n) const
    {
        const float scale = record.f[0];
        const uint queries = uint(record.behind()[0]), length = uint(record.behind()[1]);
        const uint count = min(n, causal ? min(length, number % queries + 1) : length);
        const Part<Way> dy(row[0], count);
        const Part<typename Way::Second> y(row[1], count);

        vec4 sum(0.0f);
        Way::each(
            count, [&](uint i, uint e) { sum += first(dy.get(i, e) * y.get(i, e), e, count, 0.0f); });
        const float total = Way::sum(sum);

        Way::each(n, [&](uint i, uint e) {
            vec4 v(0.0f);
            if (e < count) v = first((dy.get(i, e) - total) * y.get(i, e) * scale, e, count, 0.0f);
            Way::store(row[2], e, n, v);
        });
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(attention_softmax_vjp, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::AttentionSoftmaxVjp{{rp_record, rp_constants}, rp_constants.v[1] != 0});
}
