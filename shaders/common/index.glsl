// Logical indices of strided tensors.  Sizes and strides are listed outermost first.  `rank` is a constant (or a
// specialization constant), so that drivers unroll the loops and hold the arrays in registers.  The loops count upward,
// as lavapipe unrolls no others.
#ifndef COMMON_INDEX
#define COMMON_INDEX
const uint MAX_RANK = 6;

// Returns n / d for n < 2^31 without the integer division, which lavapipe computes lane by lane (measured for a
// permuted copy: 1.2 ns per element, 1.6 with integer division).
uint quotient(uint n, uint d)
{
    precise float inverse = 1.0 / float(d);
    precise float first = float(n) * inverse;
    uint q = uint(first);
    int rest = int(n - q * d);
    precise float second = float(rest) * inverse;
    int more = int(second); // corrects the first guess, which is wrong by up to 2^9 / d + 1
    rest -= more * int(d);
    q += uint(more);
    return rest < 0 ? q - 1u : (rest >= int(d) ? q + 1u : q);
}

void coordinates(uint element, uint rank, uint size[MAX_RANK], out uint c[MAX_RANK])
{
    for (uint k = 1u; k < rank; ++k) {
        uint d = rank - k;
        uint outer = quotient(element, size[d]);
        c[d] = element - outer * size[d];
        element = outer;
    }
    c[0] = element;
}
// Advances to the next element if `by` is 1; does nothing if it is 0.
void advance(uint by, uint rank, uint size[MAX_RANK], inout uint c[MAX_RANK])
{
    for (uint k = 1u; k < rank; ++k) {
        uint d = rank - k;
        c[d] += by;
        bool over = c[d] >= size[d];
        c[d] = over ? 0u : c[d];
        by = over ? 1u : 0u;
    }
    c[0] += by;
}
uint offset(uint rank, uint c[MAX_RANK], int stride[MAX_RANK])
{
    int sum = 0;
    for (uint d = 0u; d < rank; ++d) sum += int(c[d]) * stride[d];
    return uint(sum);
}
#endif
