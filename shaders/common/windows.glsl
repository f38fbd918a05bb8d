// Windows along one dimension with n inputs and m outputs; output o reads the inputs first, first + dilation, ...
// Needs index.glsl.
#ifndef COMMON_WINDOWS
#define COMMON_WINDOWS

// Along depth, height and width.
struct Windows {
    int in_size[3], out_size[3], kernel[3], stride[3], padding[3], dilation[3];
};
#define THREE(list) ivec3(list[0], list[1], list[2])
#define XYZ(list) ivec3(list[2], list[1], list[0])

struct Range {
    int first, count;
};

// Returns part o of n elements divided into m equal parts, rounded outward so that they may overlap; n * m < 2^31.
Range part(int o, int n, int m)
{
    const int first = int(quotient(uint(o * n), uint(m)));
    const int end = int(quotient(uint((o + 1) * n + m - 1), uint(m)));
    return Range(first, end - first);
}

// Returns the existing inputs of output o.
Range window_inputs(int o, int n, int kernel, int stride, int padding, int dilation)
{
    const int start = o * stride - padding;
    const int skipped = start < 0 ? int(quotient(uint(dilation - 1 - start), uint(dilation))) : 0;
    const int first = start + skipped * dilation;
    const int left = first < n ? int(quotient(uint(n - first + dilation - 1), uint(dilation))) : 0;
    return Range(first, clamp(left, 0, max(kernel - skipped, 0)));
}

// Returns the outputs whose windows may contain input i.
Range window_outputs(int i, int m, int kernel, int stride, int padding, int dilation)
{
    const int behind = i + padding - (kernel - 1) * dilation; // the first one starts here or later
    const int first = behind > 0 ? int(quotient(uint(behind + stride - 1), uint(stride))) : 0;
    const int last = min(int(quotient(uint(i + padding), uint(stride))), m - 1);
    return Range(first, max(last - first + 1, 0));
}
#endif
