// Computes the same bits as shaders/batch_norm_vjp_sums.comp, with the threads of common/batch_norm.cuh.
#include "common/batch_norm.cuh"

namespace rp {

struct BatchNormVjpSums : ChannelSums<4> { // dy, x, mean, partials
    using ChannelSums::ChannelSums;

    RP_DEVICE float mean_of(uint channel) const { return floats(2)[channel / uint(ints[4])]; }
    RP_DEVICE void by_warp(uint channel, uint partial) const
    {
        const float mean = mean_of(channel);
        float sum = 0.0f, product_sum = 0.0f;
        for (uint block = partial * block_elements; block < n; block += partials * block_elements) {
            const LaneOfBlock lane(*this, channel, block);
            float g[block_chunks], x[block_chunks];
            lane.load(g, floats(0));
            lane.load(x, floats(1));
            float sums = 0.0f, product_sums = 0.0f;
#pragma unroll
            for (uint c = 0; c < block_chunks; ++c) {
                if (block + c * chunk_elements >= n) break;
                sums += tree_of_fours(g[c]);
                product_sums += tree_of_fours(g[c] * (x[c] - mean));
            }
            sum += sum_of_four(sums);
            product_sum += sum_of_four(product_sums);
        }
        if (lane_of_warp() == 0) put(3, channel, partial, {sum, product_sum, 0.0f, 0.0f});
    }
    RP_DEVICE void by_thread(uint channel, uint partial) const
    {
        const float mean = mean_of(channel);
        float sum = 0.0f, product_sum = 0.0f;
        for (uint block = partial * block_elements; block < n; block += partials * block_elements) {
            const uint end = min(block + block_elements, n);
            vec4 sums(0.0f), product_sums(0.0f), half(0.0f), product_half(0.0f);
#pragma unroll 1
            for (uint first = block, second = 0; first < end || second != 0; first += chunk_elements / 2) {
                vec4 g[4], x[4];
                load_fours(g, floats(0) + channel, first, end, channels);
                load_fours(x, floats(1) + channel, first, end, channels);
#pragma unroll
                for (uint f = 0; f < 4; ++f) x[f] = g[f] * (x[f] - mean);
                const vec4 tree = tree_of_fours(g), product_tree = tree_of_fours(x);
                if (second != 0) {
                    sums += half + tree;
                    product_sums += product_half + product_tree;
                }
                half = tree;
                product_half = product_tree;
                second ^= 1;
            }
            sum += sum_of_four(sums);
            product_sum += sum_of_four(product_sums);
        }
        put(3, channel, partial, {sum, product_sum, 0.0f, 0.0f});
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(batch_norm_vjp_sums, rp::sums_threads, rp::sums_blocks)
{
    rp::make_sums(rp::BatchNormVjpSums(rp_record));
}
