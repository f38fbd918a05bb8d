// Statistics of some elements: their mean, the sum of their squared deviations from it, their number.
#ifndef COMMON_STATISTICS
#define COMMON_STATISTICS

// Returns the statistics of the elements of a and b (Chan, Golub, LeVeque 1979), which avoids cancellation; a if b has
// none, also if a mean is infinite.
vec4 merged(vec4 a, vec4 b)
{
    precise float total = a.z + b.z, delta = b.x - a.x, part = b.z / max(total, 1.0);
    precise float mean = a.x + delta * part, squares = a.y + (b.y + delta * delta * (a.z * part));
    return b.z == 0.0 ? a : vec4(mean, squares, total, 0.0);
}
#endif
