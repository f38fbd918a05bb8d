// Computes the same bits as shaders/layer_norm_weight_vjp.comp without GROUP, with one thread per column of a partial.
#include "common/kernel.cuh"

namespace rp {

RP_DEVICE void layer_norm_weight_vjp(const void* record)
{
    constexpr uint block_rows = 64;
    const auto* operand = static_cast<const Operand*>(record);
    const auto* ints = reinterpret_cast<const int*>(operand + 6);
    const uint rows = uint(ints[0]), length = uint(ints[1]), partials = uint(ints[2]);
    const float *dy = Floats(operand[0].address).v, *x = Floats(operand[1].address).v;
    const float *means = Floats(operand[2].address).v, *rstds = Floats(operand[3].address).v;

    const uint columns = (length + 3) / 4 * 4; // columns that the number of groups covers
    const uint thread = blockIdx.x * 256 + threadIdx.x, partial = thread / columns;
    const uint column = thread - partial * columns;
    if (partial >= partials || column >= length) return;
    const auto at = [column](uint row, const int* strides) {
        return int(row * uint(strides[0]) + column * uint(strides[1]));
    };

    float weight_total = 0.0f, bias_total = 0.0f;
    for (uint block = partial * block_rows; block < rows; block += partials * block_rows) {
        float weight_sum = 0.0f, bias_sum = 0.0f;
        const uint end = min(block + block_rows, rows);
#pragma unroll 8
        for (uint row = block; row < end; ++row) {
            const float g = dy[at(row, ints + 3)], z = (x[at(row, ints + 5)] - means[row]) * rstds[row];
            weight_sum += g * z;
            bias_sum += g;
        }
        weight_total += weight_sum;
        bias_total += bias_sum;
    }
    Floats(operand[4].address).v[partial * length + column] = weight_total;
    Floats(operand[5].address).v[partial * length + column] = bias_total;
}

} // namespace rp

RP_KERNEL(layer_norm_weight_vjp, 256, 1)
{
    rp::layer_norm_weight_vjp(rp_record);
}
