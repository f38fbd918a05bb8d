// What the convolution's texel kernels share.

// four neighbours of `low` and `high`, from element `by` (0 to 3) of low on
vec4 shifted(vec4 low, vec4 high, uint by)
{
    const bool two = (by & 2u) != 0u, one = (by & 1u) != 0u;
    const float a = two ? low.z : low.x, b = two ? low.w : low.y, c = two ? high.x : low.z,
                d = two ? high.y : low.w, e = two ? high.z : high.x;
    return vec4(one ? b : a, one ? c : b, one ? d : c, one ? e : d);
}

// Four neighbours of a flat plane of rows of `width` (at least 4): their rows and columns.
struct Four {
    ivec4 row, column;
};

// columns of the first one from -padding on: `right` = width - padding ends the row
void wrap(inout Four f, int right, int width)
{
    const bvec4 over = greaterThanEqual(f.column, ivec4(right));
    f.column -= ivec4(over) * width;
    f.row += ivec4(over);
}
