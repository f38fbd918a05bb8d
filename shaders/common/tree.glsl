// Sums and other reductions as trees.
#ifndef COMMON_TREE
#define COMMON_TREE

// Of the members of a vector, and of the variables v0 to v7.
#define SUM_OF_4(v) ((v.x + v.y) + (v.z + v.w))
#define SUM_OF_8(v) (((v##0 + v##1) + (v##2 + v##3)) + ((v##4 + v##5) + (v##6 + v##7)))

// Of the values that the lanes of a team have in shared memory, of_lanes[invocation]: those of lanes i and i + lanes /
// 2 are combined, then those of i and i + lanes / 4, ...  Lane 0 has the result.  All invocations of the workgroup take
// part, after a barrier; the lanes of a team are `apart_by` invocations apart.
#define COMBINE_LANES(combine, i, lane, lanes, apart_by)                                                   \
    for (uint apart = (lanes) / 2u; apart > 0u; apart /= 2u) {                                             \
        if ((lane) < apart) of_lanes[i] = combine(of_lanes[i], of_lanes[(i) + apart * (apart_by)]);        \
        barrier();                                                                                         \
    }
precise float added(float a, float b) { return a + b; }
precise vec4 added(vec4 a, vec4 b) { return a + b; }
#endif
