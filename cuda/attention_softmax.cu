// The kernel of shaders/attention_softmax.comp, with the order of summation of common/rows.cuh.
#include "common/rows.cuh"

namespace rp {

struct AttentionSoftmax {
    RowsRecord<2, 1, 2> record; // x, y; they may be the same
    bool causal;

    template <class Way> RP_DEVICE void make(const Row (&row)[2], uint number, uint n) const
    {
        const float scale = record.f[0];
        const uint queries = uint(record.behind()[0]), length = uint(record.behind()[1]);
        const uint count = min(n, causal ? min(length, number % queries + 1) : length);
        Part<Way> x(row[0], count);

        vec4 m(-rp_inf());
        Way::each(count, [&](uint i, uint e) {
            const vec4 scaled = x.get(i, e) * scale;
            m = larger(m, first(scaled, e, count, -rp_inf()));
        });
        const float largest = Way::largest(m);

        vec4 sum(0.0f);
        Way::each(count, [&](uint i, uint e) {
            const vec4 grown = first(exponential(x.get(i, e) * scale - largest), e, count, 0.0f);
            x.keep(i, grown);
            sum += grown;
        });
        const float total = Way::sum(sum);

        Way::each(n, [&](uint i, uint e) {
            vec4 v(0.0f);
            if (e < count) {
                v = x.get(i, e);
                if (!x.kept) v = exponential(v * scale - largest);
                v = first(v / total, e, count, 0.0f);
            }
            Way::store(row[1], e, n, v);
        });
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(attention_softmax, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::AttentionSoftmax{{rp_record, rp_constants}, rp_constants.v[1] != 0});
}
