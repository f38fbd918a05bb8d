// Reductions over a channel of x [N, C, image], with the same bits as shaders/common/batch_norm.glsl.  A warp computes
// a partial, with one element of each chunk per lane; if channels are contiguous and numerous, one thread computes it.
#pragma once
#include "common/block.cuh"

namespace rp {

constexpr uint chunk_elements = 32, block_chunks = 8, block_elements = 256;
constexpr uint sums_threads = 256, sums_blocks = 8; // per block; per group of 64 partials

// Adds the fours of a chunk as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)); lanes 4n + e get element e of the result.
RP_DEVICE float tree_of_fours(float v)
{
    v += shuffle_xor(v, 4);
    v += shuffle_xor(v, 8);
    return v + shuffle_xor(v, 16);
}
// (0 + 1) + (2 + 3)
RP_DEVICE float sum_of_four(float v)
{
    v += shuffle_xor(v, 1);
    return v + shuffle_xor(v, 2);
}
RP_DEVICE vec4 tree_of_fours(const vec4 (&v)[4]) { return (v[0] + v[1]) + (v[2] + v[3]); }
RP_DEVICE vec4 tree_of_fours(const vec4 (&v)[8])
{
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}
RP_DEVICE float sum_of_four(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

// The common part of shaders/batch_norm_sums.comp and batch_norm_vjp_sums.comp.
template <uint operands> struct ChannelSums {
    const Operand* operand;
    const int* ints;
    uint channels, image, partials, n;

    RP_DEVICE explicit ChannelSums(const void* record)
        : operand(static_cast<const Operand*>(record)), ints(reinterpret_cast<const int*>(operand + operands)),
          channels(uint(ints[1])), image(uint(ints[2])), partials(uint(ints[3])), n(uint(ints[0]) * image)
    {}
    RP_DEVICE bool by_threads() const { return image == 1 && channels * partials >= 1u << 15; }
    RP_DEVICE const float* floats(uint k) const { return Floats(operand[k].address).v; }
    RP_DEVICE void put(uint k, uint channel, uint partial, vec4 v) const
    {
        Vec4s(operand[k].address).v[partial * channels + channel] = v;
    }
};

// A lane's elements in the chunks of a block.
struct LaneOfBlock {
    uint at[block_chunks]; // index in the tensor
    uint count;            // number of elements that exist

    template <class Sums> RP_DEVICE LaneOfBlock(const Sums& s, uint channel, uint block)
    {
        const uint element = block + lane_of_warp(), end = min(block + block_elements, s.n);
        const uint outer = element / s.image, skip = (s.channels - 1) * s.image;
        uint i = element - outer * s.image, place = (outer * s.channels + channel) * s.image + i;
        count = element < end ? (end - element + chunk_elements - 1) / chunk_elements : 0;
#pragma unroll
        for (uint c = 0; c < block_chunks; ++c) {
            at[c] = place;
            i += chunk_elements;
            place += chunk_elements;
            const uint images = s.image >= chunk_elements ? uint(i >= s.image) : i / s.image;
            i -= images * s.image;
            place += images * skip;
        }
    }
    RP_DEVICE void load(float (&v)[block_chunks], const float* from) const
    {
#pragma unroll
        for (uint c = 0; c < block_chunks; ++c) v[c] = c < count ? from[at[c]] : 0.0f;
    }
};

// Loads fours from `element` on of a channel with a stride of `channels` between elements; 0 from `end` on.
template <uint fours>
RP_DEVICE void load_fours(vec4 (&v)[fours], const float* from, uint element, uint end, uint channels)
{
#pragma unroll
    for (uint f = 0; f < fours; ++f, element += 4) {
        v[f].x = element < end ? from[element * channels] : 0.0f;
        v[f].y = element + 1 < end ? from[(element + 1) * channels] : 0.0f;
        v[f].z = element + 2 < end ? from[(element + 2) * channels] : 0.0f;
        v[f].w = element + 3 < end ? from[(element + 3) * channels] : 0.0f;
    }
}

// Computes all partials of all channels: neighbouring threads or warps take neighbouring partials, or neighbouring
// channels if these are contiguous.
template <class Kernel> RP_DEVICE void make_sums(const Kernel& kernel)
{
    const uint channels = kernel.channels, partials = kernel.partials;
    if (kernel.by_threads()) {
        if (blockIdx.x > channels * partials / sums_threads) return; // the product below might wrap
        const uint share = blockIdx.x * sums_threads + threadIdx.x, partial = share / channels;
        if (partial < partials) kernel.by_thread(share - partial * channels, partial);
        return;
    }
    const uint share = blockIdx.x * (sums_threads / warp_lanes) + warp_of_block();
    if (share >= channels * partials) return;
    const uint inner = kernel.image == 1 ? channels : partials, major = share / inner, minor = share - major * inner;
    if (kernel.image == 1) kernel.by_warp(minor, major);
    else kernel.by_warp(major, minor);
}

} // namespace rp
