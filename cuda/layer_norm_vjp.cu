// The kernel of shaders/layer_norm_vjp.comp, with the order of summation of common/rows.cuh.
#include "common/rows.cuh"

namespace rp {

struct LayerNormVjp {
    RowsRecord<6, 0, 4> record; // dy, x, weight, dx, followed by mean, rstd
    bool weighted, centered;

    template <class Way> RP_DEVICE void make(const Row (&row)[4], uint number, uint n) const
    {
        const uint column = min(number, record.rows() - 1);
        const float mean = Floats(record.operand[4].address).v[column];
        const float rstd = Floats(record.operand[5].address).v[column];
        Part<Way> dy(row[0], n);
        Part<typename Way::Second> x(row[1], n);
        const auto g_of = [&](vec4 v, uint e) { return weighted ? v * Way::load(row[2], e, n) : v; };

        vec4 sum_g(0.0f), sum_gz(0.0f);
        Way::each(n, [&](uint i, uint e) {
            const vec4 g = g_of(dy.get(i, e), e), z = (x.get(i, e) - mean) * rstd;
            dy.keep(i, g);
            x.keep(i, z);
            sum_g += Way::inside(g, e, n);
            sum_gz += Way::inside(g * z, e, n);
        });
        const float mean_g = centered ? Way::sum(sum_g) / float(n) : 0.0f;
        const float mean_gz = Way::sum(sum_gz) / float(n);

        Way::each(n, [&](uint i, uint e) {
            vec4 g = dy.get(i, e), z = x.get(i, e);
            if (!dy.kept) g = g_of(g, e);
            if (!x.kept) z = (z - mean) * rstd;
            Way::store(row[3], e, n, ((g - mean_g) - z * mean_gz) * rstd);
        });
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(layer_norm_vjp, rp::row_threads, rp::row_blocks)
{
    rp::make_rows(rp::LayerNormVjp{{rp_record, rp_constants}, rp_constants.v[1] != 0, rp_constants.v[2] != 0});
}
