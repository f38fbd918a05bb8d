// Updates the running statistics of batch_norm by those of a batch with `count` elements per channel:
//   new_mean     = mean * keep + found_mean * momentum, keep = 1 - momentum
//   new_variance = variance * keep + found_variance * count / (count - 1) * momentum
// If count is 0, nothing changes.
//
//   all operands are [channels]; found_variance is biased
//   groups    ceil(channels / 64)
// variants: batch_norm_update: ; batch_norm_update_f64: -DDOUBLE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
layout(local_size_x = 64) in;

RECORD(batch_norm_update)
INPUT(mean) INPUT(variance) INPUT(found_mean) INPUT(found_variance) OUTPUT(new_mean) OUTPUT(new_variance)
FLOAT(keep) FLOAT(momentum)
INT(channels) INT(count)
END_RECORD

void main()
{
    const uint channels = record.channels, n = record.count;
    const REAL keep = record.keep, momentum = record.momentum;
    const uint c = flat_group() * 64u + gl_LocalInvocationID.x;
    if (c >= channels)
        return;
    const REAL mean_before = Reals(record.mean.address).v[c];
    const REAL var_before = Reals(record.variance.address).v[c];
    precise REAL found = Reals(record.found_mean.address).v[c];
    precise REAL unbiased = Reals(record.found_variance.address).v[c] * (REAL(n) / (REAL(n) - 1.0));
    precise REAL mean = mean_before * keep + found * momentum, var = var_before * keep + unbiased * momentum;
    Reals(record.new_mean.address).v[c] = n == 0u ? mean_before : mean;
    Reals(record.new_variance.address).v[c] = n == 0u ? var_before : var;
}
