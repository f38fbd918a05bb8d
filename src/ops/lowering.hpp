// How ops become launches.  An op names kernels, sizes and operands here; it sees no device.  Sizes are Dims,
// so one lowering serves every call of a recorded program.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/node.hpp"

namespace reprise::ops {

// A float of a launch: a constant times a size, or a host scalar, which is queried at each call.
struct Scalar {
    double constant = 0;
    Dim factor = 1;
    std::shared_ptr<const graph::HostScalar> source;
    Scalar() = default;
    Scalar(double c) : constant(c) {}
};

// Elements of one of the plan's values.
struct View {
    std::uint32_t value = 0; // of the plan
    DType dtype = DType::f32;
    graph::Strided layout;
    std::optional<Scalar> number{}; // the host knows it: one value everywhere, no memory

    const Shape& sizes() const { return layout.sizes; }
    bool contiguous() const; // provably row-major without gaps; the offset may be anything
};

// How many elements there are around one dimension: sizes as [outer, size, inner].
struct AroundDim {
    Dim outer = 1, inner = 1;
    AroundDim(const Shape& sizes, std::size_t dim)
    {
        for (std::size_t d = 0; d < sizes.size(); ++d)
            if (d != dim) (d < dim ? outer : inner) *= sizes[d];
    }
};

// Whole texels along the last dimension, in all places of the others.
bool has_texel_rows(const graph::Strided&);

enum class Use : std::uint8_t { read, write, update }; // update: reads and writes the same elements

// A tensor argument of a launch.  How its elements are walked is for the kernel's ints and constants to say.
struct LaunchOperand {
    LaunchOperand(std::uint32_t v, Dim o, DType t, Use u) : value(v), offset(std::move(o)), dtype(t), use(u)
    {}
    LaunchOperand(const View& v, Use u, bool is_absent = false)
        : LaunchOperand(v.value, v.layout.offset, v.dtype, u)
    {
        absent = is_absent;
    }

    std::uint32_t value; // of the plan
    Dim offset;          // elements
    DType dtype;
    Use use;
    bool absent = false; // a place in the record that this variant does not touch
};

struct LaunchSpec {
    std::string kernel;                                       // name of the embedded code, or of `code`
    std::shared_ptr<const std::vector<std::uint32_t>> code{}; // SPIR-V that was made at run time
    std::vector<std::uint32_t> constants;                     // specialization constants
    std::vector<LaunchOperand> operands;
    std::vector<Scalar> floats;
    DimVector ints;
    Dim groups;         // workgroups, counted flat
    bool words = false; // ints may be unsigned 32-bit words (seeds, counters), not only sizes below 2^31
    bool in_place =
        false; // an element is read only by the invocation that writes the same index of the output
    // The kernel serves several launches at once (shaders/common/step.glsl): constant 0 is their number, which is 1
    // here, and the first int a launch's first workgroup, here 0.
    bool batches = false;
    bool reduces =
        false; // a first level of shaders/common/reduce.glsl: the fuser may compute its elements in it
    bool moves = false;   // copies elements: its form for 64 bits (common/abi.glsl: WIDE) serves f64 and i64
    Dim flops = 0;        // multiplications and additions, where they are what takes the time
    bool texels = false;  // needs its operands in the slab, 16-byte aligned, none across a window's edge
    bool doubles = false; // its floats have 64 bits
};

// A product of matrices, batched: C[b] = A[b] B[b].  Strides in elements; the innermost two dimensions are
// the matrix.
struct GemmProblem {
    View a, b, c; // c is contiguous in its columns; all of rank 3 or 4: [batch, (batch,) rows, columns]
};

// A convolution, of which one of the three tensors is made of the others; all are contiguous.
struct ConvProblem {
    enum class Wanted : std::uint8_t { y, x, weight } wanted; // x and weight: the gradient
    View x, weight, y;          // [N, Ci, D, H, W], [Co, Ci / groups, kd, kh, kw], [N, Co, OD, OH, OW]
    std::optional<View> bias{}; // [Co], of y
    std::array<std::int64_t, 3> stride, padding, dilation; // depth, height, width
    std::int64_t groups = 1;
};

// What an op's `lower` builds its launches with.
class Lowering {
public:
    virtual ~Lowering() = default;
    virtual View input(std::size_t i) = 0;
    // Input i, which names rows, classes or places, as i32: what i32 does not hold is outside there, too.
    virtual View indices(std::size_t i) = 0;
    virtual View output(std::size_t i = 0) = 0;
    // Nothing writes it any more: of many outputs those that kernels write in a wider dtype are narrowed one by one.
    virtual void written(std::size_t i) = 0;
    // The number, where input i is one value that the host knows (full, host_scalar): it needs no memory
    // then.
    virtual bool scalar(std::size_t i, Scalar& out) = 0;
    virtual View temporary(DType, const Shape&) = 0; // contiguous
    virtual View contiguous(const View&) = 0; // the same elements, row-major and aligned: a copy if need be
    virtual void launch(LaunchSpec) = 0;
    // `fallback` runs instead at calls where `preferred` (with texels) can't: same numeric class.
    virtual void launch(LaunchSpec preferred, LaunchSpec fallback) = 0;
    // What `emit` launches runs only at calls where the condition, a Dim, is 1; elsewhere it is 0.  Conditions nest.
    virtual void when(const Dim& condition, const std::function<void()>& emit) = 0;
    // Problems that have lists of variants (src/kernels/).
    virtual void elementwise(const graph::Op&, const std::vector<View>& inputs, const View& output) = 0;
    virtual void copy(const View& from, const View& to) = 0; // converts the dtype; `to` is contiguous
    virtual void gemm(const GemmProblem&) = 0;
    virtual void conv(const ConvProblem&) = 0;
    // A copy of a [batch, (batch,) rows, columns] view with any strides, zero beyond them: [batch, (batch,)
    // rows_padded, columns_padded].
    virtual View packed(const View&, const Dim& rows_padded, const Dim& columns_padded) = 0;
    virtual bool texels() const = 0;             // whether texel variants are worth recording
    virtual bool launches_are_cheap() const = 0; // beside their work, also those without groups: on CPUs
};

// Appends a number of 64 bits as ints of a launch with `words`: the low one, the high one.
void add_words(DimVector& ints, const Dim&);

// Kernels compute in f32 and f64, around which f16 and bf16 are widened, but for Op::half_products.  Throws Error(unsupported) for other dtypes.
void require_floating_kernel(const char* op, DType);

} // namespace reprise::ops
