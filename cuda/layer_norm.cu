// The kernel of shaders/layer_norm.comp, with the order of summation of common/rows.cuh.
#include "common/rows.cuh"

namespace rp {

struct LayerNorm {
    RowsRecord<6, 1, 4> record; // x, weight, bias, y, followed by mean, rstd
    bool weighted, biased, centered;

    template <class Way> RP_DEVICE void make(const Row (&row)[4], uint number, uint n) const
    {
        Part<Way> x(row[0], n);
        float mean = 0.0f;
        if (centered) {
            vec4 sum(0.0f);
            Way::each(n, [&](uint i, uint e) { sum += Way::inside(x.get(i, e), e, n); });
            mean = Way::sum(sum);
        }
        mean /= float(n);

        vec4 squares(0.0f);
        Way::each(n, [&](uint i, uint e) {
            const vec4 shifted = x.get(i, e) - mean;
            x.keep(i, shifted);
            squares += Way::inside(shifted * shifted, e, n);
        });
        const float variance = Way::sum(squares) / float(n) + record.f[0], rstd = rp_rsqrt(variance);

        Way::each(n, [&](uint i, uint e) {
            vec4 y = x.get(i, e);
            if (!x.kept) y = y - mean;
            y *= rstd;
            if (weighted) y *= Way::load(row[1], e, n);
            if (biased) y += Way::load(row[2], e, n);
            Way::store(row[3], e, n, y);
        });
        if (Way::lane() == 0 && number < record.rows()) {
            Floats(record.operand[4].address).v[number] = mean;
            Floats(record.operand[5].address).v[number] = rstd;
        }
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(layer_norm, rp::row_threads, rp::row_blocks)
{
    const rp::Constants& c = rp_constants;
    rp::make_rows(rp::LayerNorm{{rp_record, c}, c.v[1] != 0, c.v[2] != 0, c.v[3] != 0});
}
