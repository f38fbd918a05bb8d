// Loads and stores of the optimizer steps' parameters and moments.  Where `skip`, the last number of a step, is
// nonzero, the step writes the values that it has read.  The last two operands are the parameter in 16 bits before and
// after the step, where LOW is set.  Needs step.glsl.
#include "ops/dynamic8.inc"

bool skips(Part p) { return number(p, FLOATS - 1u) != 0.0; }

// A round is a texel of each invocation; a block of moments is a round of a workgroup.
uint texel_of(Part p, uint round) { return p.first + round * gl_WorkGroupSize.x; }
// Returns whether there are no more elements: for the workgroup where it computes blocks, as its invocations then wait
// for each other, else for the invocation.
bool is_past(Part p, uint round)
{
    const uint from = MOMENTS == DTYPE_U8 ? texel_of(p, round) - gl_LocalInvocationID.x : texel_of(p, round);
    return 4u * from >= p.count;
}
// Loads a texel of a round, for invocations without elements the last one.
REAL4 load_round(Part p, Operand from, uint round, uint dtype)
{
    uint at = texel_of(p, round);
    if (MOMENTS == DTYPE_U8) at = min(at, (p.count - 1u) >> 2);
    return load(from, at, dtype);
}

#ifndef DOUBLE
// Rounds to bf16: up with the probability that is the distance from the lower neighbour.  Infinite and NaN stay so.
uvec4 stochastic_bf16(vec4 v, rp_words random)
{
    const uvec4 bits = floatBitsToUint(v), noise = uvec4(random.x, random.y, random.z, random.w) >> 16;
    uvec4 rounded;
    for (uint j = 0u; j < 4u; ++j)
        rounded[j] = rp_is_nan(v[j]) || rp_is_inf(v[j]) ? rp_to_bf16(v[j]) : (bits[j] + noise[j]) >> 16;
    return rounded;
}
// The random words of a texel of the parameter (slot 0) or of a moment (from 1 on).
rp_words random_of(Part p, uint at, uint slot)
{
    rp_words counter;
    counter.x = at;
    counter.y = slot;
    counter.z = member_int(p.member, MAIN_INTS + 2u);
    counter.w = member_int(p.member, MAIN_INTS + 3u);
    return rp_philox(counter, member_int(p.member, MAIN_INTS), member_int(p.member, MAIN_INTS + 1u));
}
#endif

void store_round(Part p, Operand to, uint round, uint dtype, uint slot, REAL4 v)
{
    const uint at = texel_of(p, round);
    if (4u * at >= p.count)
        return;
#ifdef DOUBLE
    store(to, at, dtype, v);
#else
    uvec4 bits = bits_of(v, dtype);
    if (STOCHASTIC != 0u && dtype == DTYPE_BF16)
        bits = stochastic_bf16(v, random_of(p, at, slot));
    store_bits(to, at, dtype, bits);
#endif
}

// Loads the parameter: the master copy, but the parameter in 16 bits where that has been assigned since the last step.
REAL4 load_param(Part p, Operand from, uint round)
{
    REAL4 v = load_round(p, from, round, PARAM);
#ifndef DOUBLE
    if (LOW != 0u) {
        const vec4 low = load_round(p, operand(p, OPERANDS - 2u), round, LOW);
        const vec4 expected = floats_of(bits_of(v, LOW), LOW);
        for (uint j = 0u; j < 4u; ++j)
            v[j] = expected[j] == low[j] ? v[j] : low[j];
    }
#endif
    return v;
}
void store_param(Part p, Operand from, Operand to, uint round, bool skip, REAL4 before, REAL4 after)
{
    REAL4 v = skip ? before : after;
#ifndef DOUBLE
    if (LOW != 0u) {
        const uint at = texel_of(p, round);
        const vec4 low = load_round(p, operand(p, OPERANDS - 2u), round, LOW), master = load_round(p, from, round, PARAM);
        v = skip ? master : v; // not what load_param() took over
        if (4u * at < p.count)
            store(operand(p, OPERANDS - 1u), at, LOW, skip ? low : v);
    }
#endif
    store_round(p, to, round, PARAM, 0u, v);
}

// -- moments: slot 1 + i is the i-th of those that the optimizer keeps --

#ifndef DOUBLE
// A block (ops/dynamic8.inc) is 65 words: the scale, then a byte for each of 256 elements.
const uint BLOCK_WORDS = 65u;
uint word_of(uint at) { return (at >> 6) * BLOCK_WORDS + 1u + (at & 63u); }

bool is_signed(uint slot) { return (NON_NEGATIVE >> slot & 1u) == 0u; }

vec4 load_block(Operand from, uint at, uint slot)
{
    Words words = Words(from.address);
    const uint codes = words.v[word_of(at)];
    const float scale = uintBitsToFloat(words.v[(at >> 6) * BLOCK_WORDS]);
    vec4 v;
    for (uint j = 0u; j < 4u; ++j)
        v[j] = rp_dynamic8_value(codes >> (8u * j) & 255u, scale, is_signed(slot));
    return v;
}

shared uint largest_of[gl_WorkGroupSize.x];

// Returns the largest of the magnitudes of the workgroup's 8 x 8 invocations, NaN where one is.
float largest_of_block(vec4 v)
{
    const uvec4 bits = floatBitsToUint(v) & 0x7FFFFFFFu; // ordered as the magnitudes, NaN last
    const uint lane = gl_LocalInvocationID.x;
    barrier(); // until all have read the result of the last call
    largest_of[lane] = max(max(bits.x, bits.y), max(bits.z, bits.w));
    barrier();
    uint largest = 0u;
    if (lane < 8u)
        for (uint i = 0u; i < 8u; ++i)
            largest = max(largest, largest_of[8u * lane + i]);
    barrier();
    if (lane < 8u)
        largest_of[lane] = largest;
    barrier();
    for (uint i = 0u; i < 8u; ++i)
        largest = max(largest, largest_of[i]);
    return uintBitsToFloat(largest);
}

// All invocations of a workgroup call it together.
void store_block(Part p, Operand from, Operand to, uint round, uint slot, bool skip, vec4 v)
{
    const uint at = texel_of(p, round);
    const int inside = int(p.count) - int(4u * at); // elements from this texel on
    const vec4 kept = vec4(inside > 0 ? v.x : 0.0, inside > 1 ? v.y : 0.0, inside > 2 ? v.z : 0.0,
                           inside > 3 ? v.w : 0.0);
    const float scale = largest_of_block(kept);
    uint codes = 0u;
    for (uint j = 0u; j < 4u; ++j)
        codes |= rp_dynamic8_code(kept[j], scale, is_signed(slot)) << (8u * j);
    Words before = Words(from.address), after = Words(to.address);
    const uint block = (at >> 6) * BLOCK_WORDS;
    const uint old_codes = before.v[word_of(at)];
    after.v[word_of(at)] = skip ? old_codes : codes;
    if (gl_LocalInvocationID.x == 0u) {
        const uint old_scale = before.v[block];
        after.v[block] = skip ? old_scale : floatBitsToUint(scale);
    }
}
#endif

REAL4 load_moment(Part p, Operand from, uint round, uint slot)
{
    REAL4 v;
#ifndef DOUBLE
    if (MOMENTS == DTYPE_U8) v = load_block(from, texel_of(p, round), slot);
    else
#endif
        v = load(from, texel_of(p, round), MOMENTS);
    return v;
}
void store_moment(Part p, Operand from, Operand to, uint round, uint slot, bool skip, REAL4 before, REAL4 after)
{
#ifndef DOUBLE
    if (MOMENTS == DTYPE_U8) store_block(p, from, to, round, slot, skip, after);
    else
#endif
        store_round(p, to, round, MOMENTS, slot, skip ? before : after);
}
