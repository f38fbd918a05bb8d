// Shared by the attention kernels that store no matrix of weights: sizes, masks and dropout.
//
// `kept_scale` multiplies the weights that dropout retains.  A mask has queries as rows and keys as columns.
// Needs vocabulary.glsl and philox.glsl.
#include "common/index.glsl"

struct AttentionSizes {
    int queries, keys;
    int heads;    // of queries
    int key_heads;
    int features; // of a query and of a key
    int value_features;
    int all_heads; // of all batches, of the side whose rows are computed
};
struct Strides {
    int batch, head, row, column;
};
struct RowStrides {
    int batch, head, row;
};
#define UVEC4(s) uvec4(s.batch, s.head, s.row, s.column)
#define UVEC3(s) uvec3(s.batch, s.head, s.row)

layout(constant_id = 0) const uint CAUSAL = 0;  // key s takes part for queries t >= s
layout(constant_id = 1) const uint MASK = 0;    // 1: truth (i32), 2: numbers
layout(constant_id = 2) const uint DROPOUT = 0;

// Returns the offset of a row.
uint row_at(uint batch, uint head, uint row, uvec3 stride)
{
    return batch * stride.x + head * stride.y + row * stride.z;
}
uint row_at(uint batch, uint head, uint row, uvec4 stride)
{
    return row_at(batch, head, row, uvec3(stride.x, stride.y, stride.z));
}

float lanes(vec4 v)
{
    precise float sum = (v.x + v.y) + (v.z + v.w);
    return sum;
}

float masked(float score, uvec2 mask, uint at)
{
    precise float s = score;
    if (MASK == 1u) {
        s = Ints(mask).v[at] != 0 ? s : -rp_inf();
    } else if (MASK == 2u) {
        s += Floats(mask).v[at];
    }
    return s;
}
vec4 exponential(vec4 v) { return vec4(rp_exp(v.x), rp_exp(v.y), rp_exp(v.z), rp_exp(v.w)); }

// Whether dropout removes the weight of query t and key s in head h of all batches is decided by word s % 4
// of the counter (h * queries + t) * ceil(keys / 4) + s / 4.
struct Dropout {
    uint threshold;
    RandomState random;
};
Dropout dropout_of(int threshold, RandomState random) { return Dropout(uint(threshold), random); }
rp_words draw(Dropout d, uint counter) { return draw_group(d.random, counter); }
// Returns whether the weights of the counter's four keys are dropped.
bvec4 dropped_keys(Dropout d, uint counter)
{
    const rp_words w = draw(d, counter);
    return bvec4(rp_dropped(w.x, d.threshold), rp_dropped(w.y, d.threshold), rp_dropped(w.z, d.threshold),
                 rp_dropped(w.w, d.threshold));
}
vec4 after_dropout(vec4 v, float kept_scale, bvec4 dropped)
{
    precise vec4 kept = v * kept_scale;
    return mix(kept, vec4(0.0), dropped);
}
