// A convolution of f16 or bf16 and its gradients as implicit matrix products (implicit GEMM) with sums in f32: the
// second matrix, the windows of an image, is never stored but read directly from the image. For each group of channels:
//
//                   C            A                  windows of        k
//   y               [Co, P]      weight [Co, K]     x                 in channel, tap
//   x, per phase    [Ci, P]      weight^T           dy                out channel, tap that contributes to the phase
//   weight          [Co, K]      dy [Co, P]         x, transposed     position, within a part
//
// The P positions are (image, z, y, x) of the result, or for `weight` of y. An index of a row, a column or k is split
// into digits, and the offset of an element is linear in these; so the three products differ in coefficients only
// (Problem::set).
//
// With a stride s, the gradient by the input has s phases per dimension: elements z = phase + s q get contributions
// from the taps with phase + padding - tap * dilation = s m, at q + m of y. Each phase is a separate product, without
// zeros.
//
//   operands   y: weight, x, bias (constant 0: whether there is one), y;  x: weight, dy, dx;  weight: dy, x, f32 sums
//   ints       N, Ci and Co per group, groups, then three each: D H W, OD OH OW, kd kh kw, strides, paddings,
//              dilations;  weight: parts, positions per part;  elements of x, y, weight, which are not read
//   groups     groups * tiles of 64 rows * tiles of 128 columns;  x: times the phases, min(s, size) per dimension, each
//              with the tiles of the largest;  weight: times the parts, whose sums are contiguous
//   requires   tensors below 2^31 elements
// architectures: 80
#include "common/divider.cuh"
#include "common/tile.cuh"

namespace rp::convolution {

enum class Wanted { y, x, weight };

struct Sizes { // the record's ints
    uint images, in_channels, out_channels, groups;
    int in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    uint parts, length;

    static RP_DEVICE uint volume(const int (&d)[3]) { return uint(d[0]) * uint(d[1]) * uint(d[2]); }
};

// A position in an image, or an offset to add to one. `at` counts elements; the sum is valid if z, y and x are inside.
struct alignas(16) Place {
    uint at;
    int z, y, x;
};
constexpr int outside = 1 << 30; // outside of any image, even after an addition

// A number in mixed radix: three digits, preceded by the remaining quotient.
struct Digits {
    uint front;
    int of[3];
};
struct Radix {
    Divider by[3];

    RP_DEVICE Digits digits(uint index) const
    {
        Digits d;
#pragma unroll
        for (uint i = 3; i-- > 0;) {
            const uint rest = by[i].quotient(index);
            d.of[i] = int(index - rest * by[i].by);
            index = rest;
        }
        d.front = index;
        return d;
    }
    RP_DEVICE uint volume() const { return by[0].by * by[1].by * by[2].by; }
};

// A linear map of digits to a position: digit * scale + first in each dimension of an image.
struct Linear {
    int scale[3], first[3];
    uint size[3], front; // elements from one front digit to the next

    RP_DEVICE void set(uint i, int image, int by, int from)
    {
        size[i] = uint(image);
        scale[i] = by;
        first[i] = from;
    }
    RP_DEVICE Place place(const Digits& d) const
    {
        const int z = d.of[0] * scale[0] + first[0], y = d.of[1] * scale[1] + first[1],
                  x = d.of[2] * scale[2] + first[2];
        return {d.front * front + (uint(z) * size[1] + uint(y)) * size[2] + uint(x), z, y, x};
    }
};

// The taps of one dimension that contribute to a phase: first + i * step, i < count.
struct Taps {
    int first = 0, step = 1, count = 0;
    int to = 0, by = 1; // tap i maps q to q + to - i * by

    RP_DEVICE Taps(int kernel, int stride, int padding, int dilation, int phase)
    {
        int a = stride, b = dilation; // their greatest common divisor
        while (b != 0) {
            const int rest = a % b;
            a = b;
            b = rest;
        }
        step = stride / a;
        by = dilation / a;
        for (int tap = 0; tap < kernel && tap < step; ++tap) {
            const int meets = phase + padding - tap * dilation;
            if (meets % stride != 0) continue;
            first = tap;
            to = meets / stride;
            count = (kernel - 1 - tap) / step + 1;
            return;
        }
    }
};

// The part of the result that a block computes.
struct Part {
    uint group, row, column, part; // row, column: the first ones
    int phase[3];
    bool present;

    RP_DEVICE Part(const Sizes& s, Wanted wanted, uint tile_rows, uint tile_columns)
    {
        const uint rows = wanted == Wanted::x ? s.in_channels : s.out_channels;
        const uint down = (rows + tile_rows - 1u) / tile_rows;
        uint columns = wanted == Wanted::weight ? s.in_channels : s.images, left = blockIdx.x;
        for (uint i = 0; i < 3; ++i)
            columns *= uint(wanted == Wanted::y ? s.out[i]
                            : wanted == Wanted::x ? (s.in[i] + s.stride[i] - 1) / s.stride[i]
                                                  : s.kernel[i]);
        const uint across = (columns + tile_columns - 1u) / tile_columns;
        row = take(left, down) * tile_rows;
        column = take(left, across) * tile_columns;
#pragma unroll
        for (uint i = 0; i < 3; ++i)
            phase[i] = wanted == Wanted::x ? int(take(left, uint(min(s.stride[i], s.in[i])))) : 0;
        part = wanted == Wanted::weight ? take(left, s.parts) : 0u;
        group = left;
        present = left < s.groups;
    }
    RP_DEVICE int phase_of(uint i) const { return i == 0 ? phase[0] : (i == 1 ? phase[1] : phase[2]); }
    static RP_DEVICE uint take(uint& left, uint size)
    {
        const uint above = left / size, digit = left - above * size;
        left = above;
        return digit;
    }
};

// The coefficients of a product, in shared memory; three threads compute them, one per dimension.
struct Problem {
    Radix columns, k;
    Linear window_of_column, window_of_k, a_of_k, c_of_column;
    uint limit[3]; // of the image with the windows
    uint row_of_a, row_of_c;
    // Values of the block that are stored here to save registers: its range of k, its first elements of C and bias.
    uint first_k, end_k, first_c, first_bias;

    template <Wanted wanted> RP_DEVICE void set(const Sizes& s, const Part& part, uint i)
    {
        const int in = s.in[i], out = s.out[i], kernel = s.kernel[i], stride = s.stride[i], dilation = s.dilation[i];
        const uint taps = Sizes::volume(s.kernel), x_plane = Sizes::volume(s.in), y_plane = Sizes::volume(s.out);
        const uint x_image = s.groups * s.in_channels * x_plane, y_image = s.groups * s.out_channels * y_plane;
        if constexpr (wanted == Wanted::x) {
            const int phase = part.phase_of(i);
            const Taps t(kernel, stride, s.padding[i], dilation, phase);
            columns.by[i] = Divider::of(uint((in - phase + stride - 1) / stride));
            k.by[i] = Divider::of(uint(t.count));
            window_of_column.set(i, out, 1, 0);
            window_of_k.set(i, out, -t.by, t.to);
            a_of_k.set(i, kernel, t.step, t.first);
            c_of_column.set(i, in, stride, phase);
            limit[i] = uint(out);
            set_fronts(y_image, y_plane, s.in_channels * taps, x_image, taps, x_plane);
        } else {
            Radix &positions = wanted == Wanted::y ? columns : k, &windows = wanted == Wanted::y ? k : columns;
            positions.by[i] = Divider::of(uint(out));
            windows.by[i] = Divider::of(uint(kernel));
            (wanted == Wanted::y ? window_of_column : window_of_k).set(i, in, stride, -s.padding[i]);
            (wanted == Wanted::y ? window_of_k : window_of_column).set(i, in, dilation, 0);
            (wanted == Wanted::y ? a_of_k : c_of_column).set(i, kernel, 1, 0);
            (wanted == Wanted::y ? c_of_column : a_of_k).set(i, out, 1, 0);
            limit[i] = uint(in);
            const uint row = s.in_channels * taps; // a row of the weight
            if constexpr (wanted == Wanted::y) set_fronts(x_image, x_plane, taps, y_image, row, y_plane);
            else set_fronts(x_plane, x_image, y_image, taps, y_plane, row);
        }
    }

private:
    RP_DEVICE void set_fronts(uint window_column, uint window_k, uint a_k, uint c_column, uint a_row, uint c_row)
    {
        window_of_column.front = window_column;
        window_of_k.front = window_k;
        a_of_k.front = a_k;
        c_of_column.front = c_column;
        row_of_a = a_row;
        row_of_c = c_row;
    }
};

// The positions of the elements of a block of steps of k, in shared memory, for two blocks: the one being fetched and
// the next.
template <uint steps> struct Table {
    Place window[2][steps];
    uint a[2][steps]; // `nowhere` after the last step
};
template <uint steps> struct Steps {
    Table<steps>& table;
    const Problem& problem;

    RP_DEVICE void prepare(uint i)
    {
        if (threadIdx.x >= steps) return;
        const uint k = problem.first_k + i * steps + threadIdx.x;
        Place window = {0, outside, outside, outside};
        uint a = nowhere;
        if (k < problem.end_k) {
            const Digits d = problem.k.digits(k);
            window = problem.window_of_k.place(d);
            a = problem.a_of_k.place(d).at;
        }
        table.window[i % 2][threadIdx.x] = window;
        table.a[i % 2][threadIdx.x] = a;
    }
};

template <class Tile> struct LoadOfA {
    using S = ShareOfA<Tile, true>;
    using Cell = typename Tile::Cell;
    const Table<Tile::steps>& table;
    const Cell* matrix; // its row 0
    uint rows, row_stride;
    Cell v[S::count];

    RP_DEVICE void fetch(uint i)
    {
        const uint at = table.a[i % 2][S::step(0)];
#pragma unroll
        for (uint j = 0; j < S::count; ++j) {
            v[j] = 0;
            if (at != nowhere && S::line(j) < rows) v[j] = matrix[at + S::line(j) * row_stride];
        }
    }
    template <class Side> RP_DEVICE void store(Side& side) const { store_share<S>(side, v); }
};

// Neighbouring threads read neighbours in the image: these are columns, or for `weight` steps of k.
template <class Tile, bool along_k> struct LoadOfWindows {
    using S = ShareOfB<Tile, along_k>;
    using Cell = typename Tile::Cell;
    const Table<Tile::steps>& table;
    const Place* columns; // of the tile
    const Cell* image;
    uint depth, height, width;
    Cell v[S::count];

    RP_DEVICE void fetch(uint i)
    {
        const Place* steps = table.window[i % 2];
        const Place mine = along_k ? steps[S::step(0)] : columns[S::line(0)];
#pragma unroll
        for (uint j = 0; j < S::count; ++j) {
            const Place& other = along_k ? columns[S::line(j)] : steps[S::step(j)];
            const uint z = uint(mine.z) + uint(other.z), y = uint(mine.y) + uint(other.y), x = uint(mine.x) + uint(other.x);
            v[j] = 0;
            if (z < depth && y < height && x < width) v[j] = image[mine.at + other.at];
        }
    }
    template <class Side> RP_DEVICE void store(Side& side) const { store_share<S>(side, v); }
};

RP_DEVICE void put(float* at, float v, uint) { *at = v; }
RP_DEVICE void put(unsigned short* at, float v, uint dtype) { *at = static_cast<unsigned short>(bits_of(v, dtype)); }

template <class Out> struct WriterOfC {
    const uint* columns; // offsets of the tile's columns
    Out* matrix;
    const unsigned short* bias; // or null
    uint dtype, rows, row_stride;

    RP_DEVICE uint column(uint c) const { return columns[c]; }
    RP_DEVICE void put(uint at, uint row, float sum) const
    {
        sum += bias ? float_of(bias[row], dtype) : 0.0f; // adding 0 changes no bit, as a sum is never -0
        convolution::put(matrix + (at + row * row_stride), sum, dtype);
    }
};

template <class T> RP_DEVICE T* pointer(const Operand& o) { return Elements<T>(o.address).v; }

template <bool condition, class Then, class Else> struct If {
    using type = Then;
};
template <class Then, class Else> struct If<false, Then, Else> {
    using type = Else;
};

// Out: the element type of C
template <class Half, Wanted wanted, class Out>
RP_DEVICE void convolve(const void* record, const Constants& constants)
{
    using Tile = TensorTile<Half, 128, 16>;
    using Cell = typename Tile::Cell;
    constexpr uint operands = wanted == Wanted::y ? 4 : 3;
    RP_SHARED(typename Tile::Room, room, 1);
    RP_SHARED(Table<Tile::steps>, table, 1);
    RP_SHARED(Place, places, Tile::columns);
    RP_SHARED(uint, results, Tile::columns);
    RP_SHARED(Problem, problems, 1);
    Problem& p = problems[0];
    const auto* operand = static_cast<const Operand*>(record);
    const auto& s = *reinterpret_cast<const Sizes*>(operand + operands);

    const Part part(s, wanted, Tile::rows, Tile::columns);
    if (!part.present) return;
    if (threadIdx.x < 3) p.set<wanted>(s, part, threadIdx.x);
    barrier();
    const uint all_rows = wanted == Wanted::x ? s.in_channels : s.out_channels;
    const uint columns = (wanted == Wanted::weight ? s.in_channels : s.images) * p.columns.volume();
    if (part.column >= columns) return; // the phase has fewer tiles than the largest one
    uint first = 0, end = p.k.volume();
    if (wanted == Wanted::weight) {
        first = part.part * s.length;
        end = max(first, min(end * s.images, first + s.length));
    } else {
        end *= wanted == Wanted::x ? s.out_channels : s.in_channels;
    }
    for (uint i = threadIdx.x; i < Tile::columns; i += Tile::threads) {
        Place window = {0, outside, outside, outside};
        uint result = nowhere;
        if (part.column + i < columns) {
            const Digits d = p.columns.digits(part.column + i);
            window = p.window_of_column.place(d);
            result = p.c_of_column.place(d).at;
        }
        places[i] = window;
        results[i] = result;
    }

    // The offsets of the group's first channel in x, y and weight.
    const uint in = part.group * s.in_channels * Sizes::volume(s.in);
    const uint out = part.group * s.out_channels * Sizes::volume(s.out);
    const uint weight = s.out_channels * s.in_channels * Sizes::volume(s.kernel), taps = part.group * weight;
    const uint a_at = wanted == Wanted::weight ? out : taps, image_at = wanted == Wanted::x ? out : in;
    if (threadIdx.x == 0) {
        p.first_k = first;
        p.end_k = end;
        p.first_c = wanted == Wanted::y ? out : wanted == Wanted::x ? in : part.part * s.groups * weight + taps;
        p.first_c += part.row * p.row_of_c;
        p.first_bias = part.group * s.out_channels + part.row;
    }
    barrier();

    const uint rows = all_rows - part.row;
    Tile tile(rows, columns - part.column);
    Steps<Tile::steps> steps{table[0], p};
    LoadOfA<Tile> a{table[0], pointer<const Cell>(operand[0]) + (a_at + part.row * p.row_of_a), rows, p.row_of_a};
    LoadOfWindows<Tile, wanted == Wanted::weight> b{table[0],   places,     pointer<const Cell>(operand[1]) + image_at,
                                                    p.limit[0], p.limit[1], p.limit[2]};
    multiply_all(tile, room[0], a, b, steps, end - first);
    const bool add_bias = wanted == Wanted::y && constants.v[0] != 0u;
    tile.write(WriterOfC<Out>{results, pointer<Out>(operand[operands - 1]) + p.first_c,
                              add_bias ? pointer<const Cell>(operand[2]) + p.first_bias : nullptr, Half::dtype, rows,
                              p.row_of_c});
}

template <class Half, Wanted wanted> RP_DEVICE void in_halves(const void* record, const Constants& constants)
{
    using Out = typename If<wanted == Wanted::weight, float, unsigned short>::type;
    convolve<Half, wanted, Out>(record, constants);
}

} // namespace rp::convolution

#define RP_KERNEL_OF_CONVOLUTION(name, half, wanted)                                                                   \
    RP_KERNEL_OF_BLOCK(name, 128, 1)                                                                                   \
    {                                                                                                                  \
        rp::convolution::in_halves<rp::half, rp::convolution::Wanted::wanted>(rp_record, rp_constants);                \
    }
RP_KERNEL_OF_CONVOLUTION(conv_implicit_y_f16, F16, y)
RP_KERNEL_OF_CONVOLUTION(conv_implicit_x_f16, F16, x)
RP_KERNEL_OF_CONVOLUTION(conv_implicit_weight_f16, F16, weight)
RP_KERNEL_OF_CONVOLUTION(conv_implicit_y_bf16, BF16, y)
RP_KERNEL_OF_CONVOLUTION(conv_implicit_x_bf16, BF16, x)
RP_KERNEL_OF_CONVOLUTION(conv_implicit_weight_bf16, BF16, weight)
