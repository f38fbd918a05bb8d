// The interface with which ops describe their launches: kernels, sizes and operands, without access to a device.
// Sizes are Dims, so that one lowering serves every call of a recorded program.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/node.hpp"

namespace reprise::device {
struct LaunchArguments;
}

namespace reprise::ops {

// A float argument of a launch: a constant times a size, or a host scalar, which is queried at each call.
struct Scalar {
    double constant = 0;
    Dim factor = 1;
    std::shared_ptr<const graph::HostScalar> source;
    Scalar() = default;
    Scalar(double c) : constant(c) {}
};

// A strided view of a plan value.
struct View {
    std::uint32_t value = 0; // index of the plan value
    DType dtype = DType::f32;
    graph::Strided layout;
    std::optional<Scalar> number{}; // set if all elements are this number: then there is no memory

    const Shape& sizes() const { return layout.sizes; }
    bool contiguous() const; // provably row-major without gaps, at any offset
};

// Returns a view of elements of 8 or 16 bits as one of i32, whose last dimension is a half or a quarter as long, for
// kernels that copy words; of words the view itself; nullopt unless the rows consist of whole words.
std::optional<View> as_words(View);

// Returns LaunchSpec::result_columns for a result: 0 unless it is contiguous, from the start of its value.
Dim columns_if_whole(const View&);

// Returns what `copy`, a function of a view, makes of v with its first `dims` dimensions once where they are repeated
// (stride 0); these dimensions of the copy are repeated, too.
template <class Copy> View copied_once(const View& v, std::size_t dims, const Copy& copy)
{
    View once = v;
    for (std::size_t d = 0; d < dims; ++d)
        if (same(v.layout.strides[d], 0)) once.layout.sizes[d] = 1;
    View to = copy(once);
    for (std::size_t d = 0; d < dims; ++d)
        if (same(v.layout.strides[d], 0)) {
            to.layout.sizes[d] = v.layout.sizes[d];
            to.layout.strides[d] = 0;
        }
    return to;
}

// The numbers of elements before and after one dimension: the sizes as [outer, size, inner].
struct AroundDim {
    Dim outer = 1, inner = 1;
    AroundDim(const Shape& sizes, std::size_t dim)
    {
        for (std::size_t d = 0; d < sizes.size(); ++d)
            if (d != dim) (d < dim ? outer : inner) *= sizes[d];
    }
};

// Returns whether each row along the last dimension consists of whole texels.
bool has_texel_rows(const graph::Strided&);

enum class Use : std::uint8_t { read, write, update }; // update: reads and writes the same elements

// A tensor argument of a launch. The kernel's ints and constants define which elements it accesses.
struct LaunchOperand {
    LaunchOperand(std::uint32_t v, Dim o, DType t, Use u) : value(v), offset(std::move(o)), dtype(t), use(u)
    {}
    LaunchOperand(const View& v, Use u, bool is_absent = false)
        : LaunchOperand(v.value, v.layout.offset, v.dtype, u)
    {
        absent = is_absent;
    }

    std::uint32_t value; // index of the plan value
    Dim offset;          // in elements
    DType dtype;
    Use use;
    bool absent = false; // an operand of the record that this variant does not access
};

struct LaunchSpec {
    std::string kernel;                                       // name of an embedded kernel, or of `code`
    std::shared_ptr<const std::vector<std::uint32_t>> code{}; // SPIR-V generated at run time
    std::vector<std::uint32_t> constants;                     // specialization constants
    std::vector<LaunchOperand> operands;
    std::vector<Scalar> floats;
    DimVector ints;
    Dim groups;         // total number of workgroups
    bool words = false; // ints may be unsigned 32-bit words (seeds, counters), not only sizes below 2^31
    // An output may overwrite an input that the kernel reads at the index that it writes, in the same invocation, and
    // nowhere else.
    bool in_place = false;
    // The kernel can serve several launches in one (shaders/common/step.glsl): constant 0 is their number, which is 1
    // here, and the first int is the first workgroup of each launch, which is 0 here.
    bool batches = false;
    // A reduction (shaders/common/reduce.glsl), with GROUP also its second level: the fuser may inline its input.
    bool reduces = false;
    // The launches of its node that have groups write different elements of their output, and may share an epoch.
    bool disjoint = false;
    // Operands of f32 that the kernel also reads or writes in f16 and bf16: their dtype is a constant.
    // Inputs may begin at any multiple of 4 elements, results are whole values.  An absent operand with `copies` is a
    // second output: the kernel can write the elements of that operand there, too.  The plan lets them take the place
    // of casts (plan/fold_casts.cpp).
    struct Conversion {
        std::uint32_t operand, constant; // indices
        std::optional<std::uint32_t> copies{};
    };
    std::vector<Conversion> converts{};
    std::string converting_kernel{}; // the variant that reads these constants; empty: the kernel itself does
    bool moves = false; // copies elements: its 64-bit form (common/abi.glsl: WIDE) serves f64 and i64
    Dim flops = 0;      // multiplications and additions, if the kernel is compute-bound
    // Of a product or a kernel of rows: the columns of its result, which it writes whole and row-major, of a
    // convolution the elements; the fuser may let it compute an elementwise chain of the result. 0: it can't.
    Dim result_columns = 0;
    bool texels = false;  // needs its operands in the slab, 16-byte aligned, each within one window
    bool doubles = false; // the floats have 64 bits
    // Native code that the host runs in place of a kernel (Capabilities::native_from).  Launches that compute the same
    // have the same function.
    std::shared_ptr<const std::function<void(const device::LaunchArguments&)>> native{};
};

// A batched matrix product: C[b] = A[b] B[b]. Strides are in elements; the last two dimensions are those of the
// matrix.
struct GemmProblem {
    // All of rank 3 or 4: [batch, (batch,) rows, columns].  c is contiguous in its columns; it has the dtype of a and
    // b, or is f32 where they are f16 or bf16 (kernels::products_read_halves, products_write_halves).  Where
    // Lowering::products_mix_dtypes(), one of a and b may be f32 and the other f16 or bf16, and c either.
    View a, b, c;
    // Set if b is a matrix of shaders/common/quantized.glsl: the constant FORMAT.  b is then u8, contiguous from a
    // multiple of 16 bytes on, while its sizes and strides are those of the elements; a and c are f32 or f64, or a is
    // f16 or bf16 and c f32 (kernels::products_read_halves).
    std::optional<std::uint32_t> format{};
    // [columns], contiguous and aligned, f16 or bf16 as c is: is added to each row of the sums before they are rounded.
    // Only if Lowering::products_write(c).
    std::optional<View> bias{};
};

// A convolution or one of its gradients: computes one of the three tensors from the others. All are contiguous. Dtypes
// as in GemmProblem; where products are of f32, the bias is so, too.
struct ConvProblem {
    enum class Wanted : std::uint8_t { y, x, weight } wanted; // x, weight: the gradient by it
    View x, weight, y;          // [N, Ci, D, H, W], [Co, Ci / groups, kd, kh, kw], [N, Co, OD, OH, OW]
    std::optional<View> bias{}; // [Co], added to y
    std::array<std::int64_t, 3> stride, padding, dilation; // depth, height, width
    std::int64_t groups = 1;
};

// The interface with which an op's `lower` builds its launches.
class Lowering {
public:
    virtual ~Lowering() = default;
    virtual View input(std::size_t i) = 0;
    // Input i as it lies in memory, also within widened(), if products read f16 and bf16
    // (kernels::products_read_halves).
    virtual View factor(std::size_t i) = 0;
    // Input i, which holds indices of rows, classes or positions, as i32. An i64 index out of range of i32 stays out of
    // bounds after the conversion.
    virtual View indices(std::size_t i) = 0;
    virtual View output(std::size_t i = 0) = 0;
    // States that no further launch writes output i. An op with many outputs calls this for each, so that outputs that
    // were computed in a wider dtype are narrowed one at a time.
    virtual void written(std::size_t i) = 0;
    // If input i is a number known to the host (full, host_scalar), stores it in `out` and returns true: the input
    // then needs no memory.
    virtual bool scalar(std::size_t i, Scalar& out) = 0;
    virtual View temporary(DType, const Shape&) = 0; // contiguous
    virtual View contiguous(const View&) = 0; // the same elements, row-major and aligned; copies if needed
    virtual void launch(LaunchSpec) = 0;
    // `fallback` runs instead at calls where `preferred` (with texels) can't. Both have the same numeric class.
    virtual void launch(LaunchSpec preferred, LaunchSpec fallback) = 0;
    // The launches that `emit` adds run only at calls where the condition is 1; it must be 1 or 0. Conditions nest.
    virtual void when(const Dim& condition, const std::function<void()>& emit) = 0;
    // Within `emit`, inputs and outputs of f16 and bf16 are f32, and bools and narrow integers i32: copies, from which
    // the outputs are rounded afterwards.  For a way to compute an op of which another way takes narrow dtypes
    // (Op::narrow).
    virtual void widened(const std::function<void()>& emit) = 0;
    // Problems with lists of kernel variants (src/kernels/).
    virtual void elementwise(const graph::Op&, const std::vector<View>& inputs, const View& output) = 0;
    virtual void copy(const View& from, const View& to) = 0; // converts the dtype; `to` is contiguous
    virtual void gemm(const GemmProblem&) = 0;
    virtual void conv(const ConvProblem&) = 0;
    // Copies a view [batch, (batch,) rows, columns] with any strides to [batch, (batch,) rows_padded, columns_padded],
    // padded with zeros.
    virtual View packed(const View&, const Dim& rows_padded, const Dim& columns_padded) = 0;
    virtual bool texels() const = 0; // whether texel variants are worth recording
    // Whether launches, even those without groups, are cheap compared with their work: on CPUs.
    virtual bool launches_are_cheap() const = 0;
    // Bytes of shared memory that the kernels of GPUs may use, for a workgroup of 256 invocations; 0 on other devices,
    // where such kernels are not chosen.
    virtual std::uint32_t group_memory() const = 0;
    virtual bool fuses() const = 0;               // whether elementwise launches join those next to them
    virtual bool half_access() const = 0;         // Capabilities::half_access
    virtual bool products_mix_dtypes() const = 0; // whether one operand may be f32 and the other f16 or bf16
    // Whether the kernels store this result, if it is f16 or bf16; they add a bias then, too.
    virtual bool products_write(const View& c) const = 0;
    // The constant WIDENING of kernels that read f16 or bf16 as they are (shaders/common/widening.glsl).
    virtual std::uint32_t widening(DType) const = 0;
    // Whether the invocations of a workgroup compute a row or a sum together.
    bool groups_share_rows() const { return group_memory() > 0; }
};

// Appends a 64-bit number as two ints of a launch with `words`: first the low half, then the high one.
void add_words(DimVector& ints, const Dim&);

// Returns the view, or an f32 copy if it has another dtype.
View as_f32(Lowering&, const View&);

// Throws Error(unsupported) if the dtype is not floating. Kernels compute in f32 and f64; f16 and bf16 are widened to
// f32 for them, except for Op::half_products.
void require_floating_kernel(const char* op, DType);

} // namespace reprise::ops
