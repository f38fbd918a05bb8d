// Shared by the texel kernels of convolutions.

// Returns four neighbouring elements of `low` and `high`, starting at element `by` (0 to 3) of low.
vec4 shifted(vec4 low, vec4 high, uint by)
{
    const bool two = (by & 2u) != 0u, one = (by & 1u) != 0u;
    const float a = two ? low.z : low.x, b = two ? low.w : low.y, c = two ? high.x : low.z,
                d = two ? high.y : low.w, e = two ? high.z : high.x;
    return vec4(one ? b : a, one ? c : b, one ? d : c, one ? e : d);
}

// The rows and columns of four neighbouring elements of a flat plane with rows of `width` (at least 4).
struct Four {
    ivec4 row, column;
};

// Wraps columns, which start at -padding, to the next row; `right` = width - padding is the end of a row.
void wrap(inout Four f, int right, int width)
{
    const bvec4 over = greaterThanEqual(f.column, ivec4(right));
    f.column -= ivec4(over) * width;
    f.row += ivec4(over);
}
