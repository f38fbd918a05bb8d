// Running statistics of batch_norm: running + momentum of what was found; n elements a channel.
//   mean' = mean * (1 - momentum) + found mean * momentum
//   var'  = var * (1 - momentum) + found variance * n / (n - 1) * momentum
// Nothing changes where n is 0.
//
//   operands  mean [C], var [C], found mean [C], found variance [C] (biased), mean', var'
//   floats    1 - momentum, momentum
//   ints      C, n
//   groups    ceil(C / 64)
// variants: batch_norm_update: ; batch_norm_update_f64: -DDOUBLE
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 6
#define FLOATS 2
#include "common/abi.glsl"
layout(local_size_x = 64) in;

void main()
{
    const uint channels = record.n[0], n = record.n[1];
    const REAL keep = record.f[0], momentum = record.f[1];
    const uint c = flat_group() * 64u + gl_LocalInvocationID.x;
    if (c >= channels)
        return;
    const REAL mean_before = Reals(record.operand[0].address).v[c];
    const REAL var_before = Reals(record.operand[1].address).v[c];
    precise REAL found = Reals(record.operand[2].address).v[c];
    precise REAL unbiased = Reals(record.operand[3].address).v[c] * (REAL(n) / (REAL(n) - 1.0));
    precise REAL mean = mean_before * keep + found * momentum, var = var_before * keep + unbiased * momentum;
    Reals(record.operand[4].address).v[c] = n == 0u ? mean_before : mean;
    Reals(record.operand[5].address).v[c] = n == 0u ? var_before : var;
}
