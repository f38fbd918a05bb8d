// Elementwise ops as data: steps over one iteration space.  An op of the table is a chain of one step;
// plan/fuse.cpp joins chains, and a chain of several steps becomes one kernel (fused_text.cpp).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "ops/lowering.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

struct Chain {
    struct Input {
        DType dtype = DType::f32;
        std::optional<ops::Scalar> number{}; // a constant of the host: uses no memory
        std::uint32_t operand = 0;           // index in the launch's operands, if it uses memory
        bool product = false; // the result of the product that the chain is fused into; it has no operand
        DimVector strides{};  // in elements, by dimension of `sizes`; 0 where broadcast
    };
    struct Source {
        enum class From : std::uint8_t { input, step } from = From::input;
        std::uint32_t index = 0;
        friend bool operator==(const Source&, const Source&) = default;
    };
    struct Step {
        const graph::Op* op = nullptr; // a row's formula, or one of its derivatives
        std::vector<Source> sources;   // the values that its formula reads, in the order x..., y, dy
        DType dtype = DType::f32;      // of the result, which is rounded to it
    };

    Shape sizes; // adjacent dimensions merged where provable; empty: one element
    std::vector<Input> inputs;
    std::vector<Step> steps;
    std::vector<std::uint32_t> results; // indices of steps; their operands follow those of the inputs

    std::size_t memory_inputs() const;
    // Whether the input is contiguous over `sizes`: element i of the results reads its element i.
    bool flat(const Input&) const;
};

constexpr std::size_t max_walk_rank = 6; // MAX_RANK of shaders/common/index.glsl

// Returns the strides of a view broadcast to the sizes `to`: 0 where it is repeated.
shape::Strides broadcast_strides(const ops::View&, const Shape& to);
// Whether a chain of these inputs, broadcast to the output's shape, has at most max_walk_rank dimensions after merging.
bool walks(std::span<const ops::View> inputs, const ops::View& output);
// Builds the chain of one op, with `inputs` (walks() must be true) broadcast to the output's shape.  Sets `operands` to
// those of the inputs that use memory, then the output's.  Throws Error(internal) for too many dimensions.
Chain chain_of(const graph::Op&, std::span<const ops::View> inputs, const ops::View& output,
               std::vector<ops::LaunchOperand>& operands);
// The same for a copy that converts to the dtype of `to`, which is contiguous.
Chain chain_of_copy(const ops::View& from, const ops::View& to, std::vector<ops::LaunchOperand>& operands);

// Whether the chain reads the operand of its launch, and each element only in the invocation that writes the result's
// element of the same index, so that a result of the same dtype may overwrite it.
bool reads_own_elements(const Chain&, std::size_t operand);
// Whether that is so for all operands, and all have elements of the same size.
bool in_place(const Chain&, std::span<const ops::LaunchOperand>);
// Whether the step computes in integers, by a separate kernel: its row supports them and its inputs are integers.
bool computes_integers(const Chain&, const Chain::Step&);
// Whether the chain uses f64; or i64 but no f64.  These have separate kernels and are not fused; only casts mix dtypes.
bool computes_doubles(const Chain&);
bool computes_longs(const Chain&);
bool serves_doubles(const graph::Op&); // whether the op has kernels for f64, or is computed by ops that have
bool has_kernel(const std::string& name);
DType dtype_of(const Chain&, const Chain::Source&);
std::string part_name(const graph::Op&);   // of a row: "tanh_d0"
std::string kernel_name(const graph::Op&); // "elementwise_tanh_d0"
std::string label_of(const Chain&);        // "mul+add+relu", without steps that only copy
Dim groups_of(const Chain&);               // workgroups of its kernels

// Returns the launches of a chain: one, or a preferred one and its fallback.
std::vector<ops::LaunchSpec> launches_of(const Chain&, std::span<const ops::LaunchOperand>,
                                         const device::Capabilities&);

// -- generated kernels --
bool can_fuse(const device::Capabilities&); // whether a compiler for the device's kernels is available
// Gives the reduction a generated kernel that reduces the chain's elements instead of a tensor.  The operands of the
// reduction must be the chain's inputs and its own outputs.
void reduce_chain(const Chain&, ops::LaunchSpec& reduction, const device::Capabilities&);
// Whether a reduction can compute the chain's elements where it would load them: the chain has one f32 result and no
// integer or 64-bit steps, and each operand is contiguous or a single element.
bool fits_reduction(const Chain&, std::span<const ops::LaunchOperand>);

// Lets the launch of a product or a convolution compute the chain of its result's elements before it stores them. The
// operands of the launch are those of its kernel, with the chain's first result in place of the product's, the chain's
// inputs, and its other results.
void finish_product(const Chain&, ops::LaunchSpec& product, const device::Capabilities&);
// Whether a product can compute the chain, of whose inputs one is its result: a row-major matrix with this many
// columns.  All results are f32, with half_access (Capabilities) also f16 and bf16; no step computes integers or 64
// bits, and each other operand is contiguous, a single element, or one row that is repeated.
bool fits_product(const Chain&, std::span<const ops::LaunchOperand>, const Dim& columns, bool half_access);

struct FusedKernel {
    std::string text; // the complete GLSL source
    DimVector ints;
    std::vector<ops::Scalar> floats;
};
FusedKernel fused_kernel(const Chain&, std::span<const ops::LaunchOperand>, const device::Capabilities&);
// `kernel` is a variant of a reduction's shader ("sum_rows_texel"); the operands are the chain's inputs and the outputs
// of the kernel.  Returns no ints: the launch keeps those of the reduction.
FusedKernel fused_reduction(const Chain&, std::span<const ops::LaunchOperand>, const std::string& kernel);
// `kernel` is a variant of a product's shader ("gemm_tile"); the operands are those of finish_product().
FusedKernel fused_product(const Chain&, std::span<const ops::LaunchOperand>, const std::string& kernel);

} // namespace reprise::kernels
