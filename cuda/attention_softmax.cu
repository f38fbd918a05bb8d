// The kernel of shaders/attention_softmax.comp, with the order of summation of common/rows.cuh.
#include "common/rows.cuh"

namespace rp {

struct AttentionSoftmax {
    RowsRecord<3, 1, 3> record; // x, mask, y; x and y may be the same
    bool causal;
    uint mask; // 0: none, 1: truth (i32), 2: numbers, which are added

    RP_DEVICE vec4 masked(vec4 score, const Row& row, uint e, uint keys) const
    {
        if (mask == 0) return score;
        const vec4 m = row.load<false>(e, keys);
        if (mask == 2) return score + m;
        return {floatBitsToInt(m.x) != 0 ? score.x : -rp_inf(), floatBitsToInt(m.y) != 0 ? score.y : -rp_inf(),
                floatBitsToInt(m.z) != 0 ? score.z : -rp_inf(), floatBitsToInt(m.w) != 0 ? score.w : -rp_inf()};
    }
    template <class Way> RP_DEVICE void make(const Row (&row)[3], uint number, uint n) const
    {
        const float scale = record.f[0];
        const uint queries = uint(record.behind()[0]), length = uint(record.behind()[1]);
        const uint count = min(n, causal ? min(length, number % queries + 1) : length);
        Part<Way> x(row[0], count);

        vec4 m(-rp_inf());
        Way::each(count, [&](uint i, uint e) {
            const vec4 score = masked(x.get(i, e) * scale, row[1], e, length);
            x.keep(i, score);
            m = larger(m, first(score, e, count, -rp_inf()));
        });
        const float largest = Way::largest(m), shift = mask != 0 && largest == -rp_inf() ? 0.0f : largest;
        const auto grown_of = [&](uint i, uint e) {
            const vec4 score = x.kept ? x.get(i, e) : masked(x.get(i, e) * scale, row[1], e, length);
            return exponential(score - shift);
        };

        vec4 sum(0.0f);
        Way::each(count, [&](uint i, uint e) {
            const vec4 grown = first(grown_of(i, e), e, count, 0.0f);
            x.keep(i, grown);
            sum += grown;
        });
        const float total = Way::sum(sum);
        const bool hidden = mask != 0 && rp_is_zero(total);

        Way::each(n, [&](uint i, uint e) {
            vec4 v(0.0f);
            if (e < count && !hidden) {
                const vec4 grown = x.kept ? x.get(i, e) : grown_of(i, e);
                v = first(grown / total, e, count, 0.0f);
            }
            Way::store(row[2], e, n, v);
        });
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(attention_softmax, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::AttentionSoftmax{{rp_record, rp_constants}, rp_constants.v[1] != 0, rp_constants.v[2]});
}
