// Each output is a weighted sum of inputs; a weight is the product of one weight per dimension (src/ops/resample.hpp).
// Transposed, each input gathers from the outputs that read it.  n and m are the numbers of inputs and outputs of the
// forward map along one dimension.
//
//   x         [planes, n], y [planes, m]; transposed: dy [planes, m], dx [planes, n]; all contiguous
//   divisor   for every window (0: its number of elements)
//   scale     inputs per output, as bits of floats (0: from the sizes)
//   counts_padding  whether the number of elements of a window includes padding
//   constants 0: how, 1: 1 if transposed, 2: number of dimensions (if below three, the first ones are unused),
//             3 to 5: kernel, 6 to 8: stride, of windows
//   groups    ceil(elements of the result / 64)
// Positions are computed in f32 for every dtype, and so are the weights of LINEAR.
// resample_parts: for sums of many terms.  An invocation adds `share` terms, starting at part * share; the result is
// [parts][elements], whose size replaces the number of elements in `groups`.  The index of a term is (z, y, x) in
// row-major order.  The list `parting`, empty in the other variants: share, parts.
// variants: resample: ; resample_f64: -DDOUBLE ; resample_parts: -DPARTS ; resample_parts_f64: -DPARTS -DDOUBLE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint HOW = 0;
layout(constant_id = 1) const uint TRANSPOSED = 0;
layout(constant_id = 2) const uint DIMS = 3;
// These are constants so that the loops are unrolled.
layout(constant_id = 3) const int KERNEL_Z = 1;
layout(constant_id = 4) const int KERNEL_Y = 1;
layout(constant_id = 5) const int KERNEL_X = 1;
layout(constant_id = 6) const int STRIDE_Z = 1;
layout(constant_id = 7) const int STRIDE_Y = 1;
layout(constant_id = 8) const int STRIDE_X = 1;

RECORD(resample)
INPUT(x) OUTPUT(y)
FLOAT(divisor)
INT(planes) INT(n_z) INT(n_y) INT(n_x) INT(m_z) INT(m_y) INT(m_x)
INT(before_z) INT(before_y) INT(before_x) INT(scale_z) INT(scale_y) INT(scale_x) INT(counts_padding)
LIST(parting)
END_RECORD

const uint WINDOW = 0, ADAPTIVE = 1, NEAREST = 2, NEAREST_EXACT = 3, LINEAR = 4, LINEAR_CORNERS = 5, CUBIC = 6,
           CUBIC_CORNERS = 7, REFLECT = 8, REPLICATE = 9, CIRCULAR = 10; // ops::Resampling
const bool AVERAGES = HOW <= ADAPTIVE, INTERPOLATES = HOW >= NEAREST && HOW <= CUBIC_CORNERS;
const bool CORNERS = HOW == LINEAR_CORNERS || HOW == CUBIC_CORNERS;
const bool CUBICS = HOW == CUBIC || HOW == CUBIC_CORNERS;
const bool VOLUMES = DIMS == 3u, PLANAR = DIMS >= 2u;
const bool CENTRES = HOW == NEAREST_EXACT || HOW == LINEAR || HOW == CUBIC;

struct Axis {
    int n, m, kernel, stride, before;
    float scale; // inputs per output
};

float scale_of(int n, int m, int given)
{
    float scale = 0.0;
    if (!INTERPOLATES) return scale;
    // As in PyTorch these ignore the given factor.
    const bool exact =
        (HOW == LINEAR && n == m) || (HOW == NEAREST && DIMS == 2u && (n == m || 2 * n == m));
    if (CORNERS) {
        if (m > 1) scale = rp_div(float(n - 1), float(m - 1));
    } else if (given != 0 && !exact) {
        scale = intBitsToFloat(given);
    } else {
        scale = rp_div(float(n), float(max(m, 1)));
    }
    return scale;
}

// Returns the position of output o between the inputs.
float position(Axis a, int o)
{
    precise float at = float(o);
    if (CENTRES) at = at + 0.5;
    at = at * a.scale;
    if (HOW == LINEAR || HOW == CUBIC) at = at - 0.5;
    return CUBICS || at > 0.0 ? at : 0.0;
}

// Weights of Keys' cubic convolution with a = -0.75, at distances of 0 to 1 and of 1 to 2.
REAL cubic_near(REAL x)
{
    precise REAL v = ((1.25 * x - 2.25) * x) * x + 1.0;
    return v;
}
REAL cubic_far(REAL x)
{
    precise REAL v = ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0;
    return v;
}

// Returns the input of output o, for modes in which it has exactly one.
int source(Axis a, int o)
{
    int i = o - a.before;
    if (HOW == NEAREST || HOW == NEAREST_EXACT) i = min(int(position(a, o)), a.n - 1);
    else if (HOW == REPLICATE) i = clamp(i, 0, a.n - 1);
    else if (HOW == CIRCULAR) i = i < 0 ? i + a.n : (i >= a.n ? i - a.n : i);
    else {
        i = abs(i);
        i = i >= a.n ? 2 * (a.n - 1) - i : i;
    }
    return i;
}

REAL linear_weight(Axis a, int o, int i)
{
    const float at = position(a, o);
    const int first = min(int(at), a.n - 1), second = min(first + 1, a.n - 1);
    precise float right = min(at - float(first), 1.0);
    precise float left = 1.0 - right;
    precise REAL sum = (i == first ? left : 0.0) + (i == second ? right : 0.0);
    return sum;
}

REAL cubic_weight(Axis a, int o, int i)
{
    const float at = position(a, o), whole = rp_floor(at);
    precise float rest = at - whole;
    const REAL t = rest;
    precise REAL after = t + 1.0, back = 1.0 - t, ahead = 2.0 - t;
    const int base = int(whole), last = a.n - 1;
    precise REAL sum = i == clamp(base - 1, 0, last) ? cubic_far(after) : 0.0;
    sum = sum + (i == clamp(base, 0, last) ? cubic_near(t) : 0.0);
    sum = sum + (i == clamp(base + 1, 0, last) ? cubic_near(back) : 0.0);
    sum = sum + (i == clamp(base + 2, 0, last) ? cubic_far(ahead) : 0.0);
    return sum;
}

REAL weight(Axis a, int o, int i)
{
    if (HOW == LINEAR || HOW == LINEAR_CORNERS) return linear_weight(a, o, i);
    if (CUBICS) return cubic_weight(a, o, i);
    if (HOW == NEAREST || HOW == NEAREST_EXACT) return source(a, o) == i ? 1.0 : 0.0;
    return 1.0;
}

// Returns the inputs of output o.  Those of windows may be out of range.
Range inputs(Axis a, int o)
{
    if (HOW == WINDOW) return Range(o * a.stride - a.before, a.kernel);
    if (HOW == ADAPTIVE) return part(o, a.n, a.m);
    if (HOW == LINEAR || HOW == LINEAR_CORNERS) {
        const int first = min(int(position(a, o)), a.n - 1);
        return Range(first, min(first + 1, a.n - 1) - first + 1);
    }
    if (CUBICS) {
        const int base = int(rp_floor(position(a, o))), last = a.n - 1;
        const int first = clamp(base - 1, 0, last);
        return Range(first, clamp(base + 2, 0, last) - first + 1);
    }
    return Range(source(a, o), 1);
}

// Returns the range of outputs for which interpolation read input i.
Range interpolated_outputs(Axis a, int i)
{
    if (a.scale == 0.0) return Range(0, a.m);
    const float reach = CUBICS ? 2.0 : 1.0, back = HOW == NEAREST || HOW == NEAREST_EXACT ? 0.0 : reach;
    const float shift = HOW == LINEAR || HOW == CUBIC ? 0.5 : 0.0, half_output = CENTRES ? 0.5 : 0.0;
    precise float low = (float(i) - back + shift) / a.scale - half_output;
    precise float high = (float(i) + reach + shift) / a.scale - half_output;
    // The range is extended on both sides, as low and high are rounded; the search removes outputs of weight 0.
    int first = i == 0 ? 0 : clamp(int(rp_floor(low)) - 1, 0, a.m);
    int last = i == a.n - 1 ? a.m - 1 : clamp(int(rp_floor(high)) + 2, -1, a.m - 1);
    for (int k = 0; k < 3; ++k) {
        const REAL at_first = weight(a, first, i), at_last = weight(a, last, i);
        first += int(at_first == 0.0);
        last -= int(at_last == 0.0);
    }
    return Range(first, max(last - first + 1, 0));
}

// Returns the outputs that read input i.  Windows are counted backwards from the last one that may contain it; reflect
// and circular modes have three candidates.
Range outputs(Axis a, int i)
{
    if (HOW == WINDOW) return Range(int(quotient(uint(i + a.before), uint(a.stride))), a.kernel);
    if (HOW == ADAPTIVE) return part(i, a.m, a.n);
    if (INTERPOLATES) return interpolated_outputs(a, i);
    if (HOW != REPLICATE) return Range(0, 3);
    const int first = i == 0 ? 0 : max(i + a.before, 0);
    const int last = i == a.n - 1 ? a.m - 1 : min(i + a.before, a.m - 1);
    return Range(first, max(last - first + 1, 0));
}

Range others(Axis a, int c)
{
    if (TRANSPOSED == 1u) return outputs(a, c);
    return inputs(a, c);
}

// Returns the number of calls of other(): a constant if possible, so that loops are unrolled.
int limit(Axis a, Range r)
{
    if (HOW == WINDOW) return TRANSPOSED == 1u ? (a.kernel + a.stride - 1) / a.stride : a.kernel;
    if (TRANSPOSED == 1u) return HOW == REFLECT || HOW == CIRCULAR ? 3 : r.count;
    if (HOW == LINEAR || HOW == LINEAR_CORNERS) return 2;
    if (CUBICS) return 4;
    return HOW == ADAPTIVE ? r.count : 1;
}

// Returns the t-th input or output of a range, or -1 if it does not exist.
int other(Axis a, Range r, int c, int t)
{
    int at = r.first + t;
    if (TRANSPOSED == 1u && HOW == WINDOW) {
        at = r.first - t;
        at = c + a.before - at * a.stride < a.kernel ? at : -1;
    } else if (TRANSPOSED == 1u && HOW == CIRCULAR) {
        at = c + a.before + (t - 1) * a.n;
    } else if (TRANSPOSED == 1u && HOW == REFLECT) {
        at = c + a.before;
        if (t == 1) at = c > 0 ? a.before - c : -1;
        if (t == 2) at = c < a.n - 1 ? a.before + 2 * (a.n - 1) - c : -1;
    } else {
        at = t < r.count ? at : -1;
    }
    return at >= 0 && at < (TRANSPOSED == 1u ? a.m : a.n) ? at : -1;
}

REAL weight_of(Axis a, int c, int at)
{
    return TRANSPOSED == 1u ? weight(a, at, c) : weight(a, c, at);
}

// Returns the number of elements along one dimension of which output o is the average.
int divisor(Axis a, int o, bool counts_padding)
{
    if (HOW == ADAPTIVE) return part(o, a.n, a.m).count;
    const int start = o * a.stride - a.before, end = min(start + a.kernel, a.n + a.before);
    return counts_padding ? end - start : min(end, a.n) - max(start, 0);
}

// One dimension of an element of the result: its coordinate c, and its terms along the dimension.
struct Line {
    Axis axis;
    int c;
    Range others;
    int limit; // number of calls of other()
};
// Returns a line of a dimension; one that does not exist has a single term.
Line line_of(Axis a, int c, bool exists)
{
    Line line = Line(a, c, Range(0, 1), 1);
    if (exists) {
        line.others = others(a, c);
        line.limit = limit(a, line.others);
    }
    return line;
}
int other(Line line, int t) { return other(line.axis, line.others, line.c, t); }
REAL weight_of(Line line, int at) { return weight_of(line.axis, line.c, at); }

// How averages are divided.
struct Divisors {
    REAL given; // 0: the number of elements of each window
    bool counts_padding;
};
int count_along(Line line, int o, Divisors d) { return divisor(line.axis, o, d.counts_padding); }
// Returns the number of elements of which output (z, y, x) is the average.
int count_of(Line Z, Line Y, Line X, int z, int y, int x, Divisors d)
{
    const int count_z = VOLUMES ? count_along(Z, z, d) : 1, count_y = PLANAR ? count_along(Y, y, d) : 1;
    return count_z * count_y * count_along(X, x, d);
}
REAL average(REAL sum, int count, Divisors d)
{
    const REAL by = d.given != 0.0 ? d.given : REAL(count);
    precise REAL result = rp_div(sum, by);
    return result;
}

#ifdef PARTS
// Returns the sum of `share` terms, from `first` on, of an element of a plane.
// `extent` is the operand's size.
REAL sum_of(Reals from, uint plane, ivec3 extent, Line Z, Line Y, Line X, Divisors d, uint first, uint share)
{
    const uint row_terms = uint(X.limit), slice_terms = uint(Y.limit) * row_terms;
    const uint end = min(first + share, uint(Z.limit) * slice_terms);
    precise REAL sum = 0.0;
    for (uint t = first; t < end; ++t) {
        const uint k = quotient(t, slice_terms), of_slice = t - k * slice_terms;
        const uint j = quotient(of_slice, row_terms), i = of_slice - j * row_terms;
        const int z = VOLUMES ? other(Z, int(k)) : 0, y = PLANAR ? other(Y, int(j)) : 0, x = other(X, int(i));
        if ((x | y | z) < 0) continue;
        const uint row = ((plane * uint(extent.x) + uint(z)) * uint(extent.y) + uint(y)) * uint(extent.z);
        precise REAL value = from.v[row + uint(x)];
        if (AVERAGES && TRANSPOSED == 1u) value = average(value, max(count_of(Z, Y, X, z, y, x, d), 1), d);
        if (!AVERAGES) {
            if (PLANAR) value = weight_of(Y, y) * value;
            if (VOLUMES) value = weight_of(Z, z) * value;
            value = weight_of(X, x) * value;
        }
        sum = sum + value;
    }
    return sum;
}
#else
// Returns the sum of all terms of an element of a plane: sums of lines, then of slices, then of the volume.
// `extent` is the operand's size.
REAL sum_of(Reals from, uint plane, ivec3 extent, Line Z, Line Y, Line X, Divisors d)
{
    precise REAL sum = 0.0;
    for (int k = 0; k < Z.limit; ++k) {
        const int z = VOLUMES ? other(Z, k) : 0;
        const REAL weight_z = VOLUMES ? weight_of(Z, z) : 1.0;
        const int count_z = VOLUMES && AVERAGES && TRANSPOSED == 1u ? count_along(Z, z, d) : 1;
        precise REAL slice_sum = 0.0;
        for (int j = 0; j < Y.limit; ++j) {
            const int y = PLANAR ? other(Y, j) : 0;
            const REAL weight_y = PLANAR ? weight_of(Y, y) : 1.0;
            const int count_y = PLANAR && AVERAGES && TRANSPOSED == 1u ? count_along(Y, y, d) : 1;
            const uint slice = (plane * uint(extent.x) + uint(max(z, 0))) * uint(extent.y);
            const uint row = (slice + uint(max(y, 0))) * uint(extent.z);
            precise REAL line_sum = 0.0;
            for (int i = 0; i < X.limit; ++i) {
                const int x = other(X, i);
                const REAL weight_x = weight_of(X, x);
                bool inside = (x | y | z) >= 0;
                if (TRANSPOSED == 1u && INTERPOLATES) // outputs of weight 0 do not read this input
                    inside = inside && weight_x != 0.0 && weight_y != 0.0 && weight_z != 0.0;
                precise REAL value = inside ? from.v[row + uint(x)] : 0.0;
                if (AVERAGES && TRANSPOSED == 1u)
                    value = average(value, max(count_z * count_y * count_along(X, x, d), 1), d);
                precise REAL weighted = AVERAGES ? value : weight_x * value;
                line_sum = line_sum + weighted;
            }
            precise REAL weighted = AVERAGES ? line_sum : weight_y * line_sum;
            slice_sum = slice_sum + weighted;
        }
        precise REAL weighted = AVERAGES ? slice_sum : weight_z * slice_sum;
        sum = sum + weighted;
    }
    return sum;
}
#endif

void main()
{
    const int planes = record.planes;
    const ivec3 n = ivec3(record.n_z, record.n_y, record.n_x), m = ivec3(record.m_z, record.m_y, record.m_x);
    const ivec3 before = ivec3(record.before_z, record.before_y, record.before_x);
    const ivec3 given = ivec3(record.scale_z, record.scale_y, record.scale_x);
    const Divisors divisors = Divisors(record.divisor, record.counts_padding != 0);
    Reals from = Reals(record.x.address), to = Reals(record.y.address);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    const ivec3 size = TRANSPOSED == 1u ? n : m, extent = TRANSPOSED == 1u ? m : n;
    const uint elements = uint(planes * size.x * size.y * size.z);
#ifdef PARTS
    if (elements == 0u || invocation >= elements * uint(record.lists[1])) return;
    const uint part = quotient(invocation, elements), element = invocation - part * elements;
    const uint share = uint(record.lists[0]);
#else
    if (invocation >= elements) return;
    const uint element = invocation;
#endif
    const uint line = quotient(element, uint(size.z));
    const uint slice = PLANAR ? quotient(line, uint(size.y)) : line;
    const uint plane = VOLUMES ? quotient(slice, uint(size.x)) : slice;
    const int x = int(element) - int(line) * size.z, y = int(line) - int(slice) * size.y,
              z = int(slice) - int(plane) * size.x;
    const Axis z_axis = Axis(n.x, m.x, KERNEL_Z, STRIDE_Z, before.x, scale_of(n.x, m.x, given.x));
    const Axis y_axis = Axis(n.y, m.y, KERNEL_Y, STRIDE_Y, before.y, scale_of(n.y, m.y, given.y));
    const Axis x_axis = Axis(n.z, m.z, KERNEL_X, STRIDE_X, before.z, scale_of(n.z, m.z, given.z));
    const Line Z = line_of(z_axis, z, VOLUMES), Y = line_of(y_axis, y, PLANAR), X = line_of(x_axis, x, true);
#ifdef PARTS
    precise REAL sum = sum_of(from, plane, extent, Z, Y, X, divisors, part * share, share);
#else
    precise REAL sum = sum_of(from, plane, extent, Z, Y, X, divisors);
#endif
    if (AVERAGES && TRANSPOSED == 0u) sum = average(sum, count_of(Z, Y, X, z, y, x, divisors), divisors);
    to.v[invocation] = sum;
}
