// Computes the same bits as shaders/batch_norm_sums.comp, with the threads of common/batch_norm.cuh.
#include "common/batch_norm.cuh"

namespace rp {

struct Statistics {
    float mean = 0.0f, squares = 0.0f, count = 0.0f;

    RP_DEVICE Statistics() {}
    // Merges the statistics of a chunk.
    RP_DEVICE void merge(float chunk, float average, float chunk_squares)
    {
        const float total = count + chunk, delta = average - mean, part = chunk / total;
        mean += delta * part;
        squares += chunk_squares + delta * delta * (count * part);
        count = total;
    }
};

struct BatchNormSums : ChannelSums<2> { // x, partials
    using ChannelSums::ChannelSums;

    RP_DEVICE void by_warp(uint channel, uint partial) const
    {
        Statistics all;
        for (uint block = partial * block_elements; block < n; block += partials * block_elements) {
            const LaneOfBlock lane(*this, channel, block);
            float v[block_chunks];
            lane.load(v, floats(0));
#pragma unroll
            for (uint c = 0; c < block_chunks; ++c) {
                const uint first = block + c * chunk_elements;
                if (first >= n) break;
                const float chunk = float(min(n - first, chunk_elements));
                const float average = sum_of_four(tree_of_fours(v[c])) / chunk;
                const float deviation = c < lane.count ? v[c] - average : 0.0f;
                all.merge(chunk, average, sum_of_four(tree_of_fours(deviation * deviation)));
            }
        }
        if (lane_of_warp() == 0) put(1, channel, partial, {all.mean, all.squares, all.count, 0.0f});
    }
    RP_DEVICE void by_thread(uint channel, uint partial) const
    {
        Statistics all;
        for (uint block = partial * block_elements; block < n; block += partials * block_elements) {
            const uint end = min(block + block_elements, n);
#pragma unroll 1
            for (uint first = block; first < end; first += chunk_elements) {
                const uint left = min(end - first, chunk_elements);
                const float chunk = float(left);
                vec4 v[8];
                load_fours(v, floats(0) + channel, first, end, channels);
                const float average = sum_of_four(tree_of_fours(v)) / chunk;
#pragma unroll
                for (uint f = 0; f < 8; ++f) {
                    const vec4 d = v[f] - average;
                    const uvec4 place(4 * f, 4 * f + 1, 4 * f + 2, 4 * f + 3);
                    v[f] = mix(vec4(0.0f), d * d, lessThan(place, uvec4(left)));
                }
                all.merge(chunk, average, sum_of_four(tree_of_fours(v)));
            }
        }
        put(1, channel, partial, {all.mean, all.squares, all.count, 0.0f});
    }
};

} // namespace rp

RP_KERNEL_OF_BLOCK(batch_norm_sums, rp::sums_threads, rp::sums_blocks)
{
    rp::make_sums(rp::BatchNormSums(rp_record));
}
