// Elementwise work as data: steps over one iteration space.  An op of the table is a chain of one step;
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
        std::optional<ops::Scalar> number{}; // the host knows it: no memory
        std::uint32_t operand = 0;           // of the launch, where it has memory
        DimVector strides{};                 // elements, by dimension of `sizes`; 0 where it is repeated
    };
    struct Source {
        enum class From : std::uint8_t { input, step } from = From::input;
        std::uint32_t index = 0;
        friend bool operator==(const Source&, const Source&) = default;
    };
    struct Step {
        const graph::Op* op = nullptr; // a row's formula, or one of its derivatives
        std::vector<Source> sources;   // what its text reads, in the order x..., y, dy
        DType dtype = DType::f32;      // its result is rounded to it
    };

    Shape sizes; // merged as far as is provable; empty: one element
    std::vector<Input> inputs;
    std::vector<Step> steps;
    std::vector<std::uint32_t> results; // steps; their operands follow those of the inputs

    std::size_t memory_inputs() const;
    // The input is walked as the results are: element i for element i.
    bool flat(const Input&) const;
};

constexpr std::size_t max_walk_rank = 6; // of shaders/common/index.glsl

// The strides of a view as a result of these sizes walks it: 0 where it is repeated.
shape::Strides broadcast_strides(const ops::View&, const Shape& to);
// Whether a chain of these inputs, broadcast to the output's shape, has no more dimensions after merging than that.
bool walks(std::span<const ops::View> inputs, const ops::View& output);
// The launch of one op: `inputs`, which must be walkable, broadcast to the output's shape.  `operands` gets those of
// the inputs that have memory, and the output's.
Chain chain_of(const graph::Op&, std::span<const ops::View> inputs, const ops::View& output,
               std::vector<ops::LaunchOperand>& operands);
// The same of a copy that converts to the dtype of `to`, which is contiguous.
Chain chain_of_copy(const ops::View& from, const ops::View& to, std::vector<ops::LaunchOperand>& operands);

// An element of an operand is read only by the invocation that writes the same index of the results.
bool in_place(const Chain&, std::span<const ops::LaunchOperand>);
// What computes in the type of its inputs and has integers: a kernel of its own.
bool computes_integers(const Chain&, const Chain::Step&);
// Touches f64, or i64 and no f64: kernels of its own; it is joined with nothing.  Operands of several dtypes are a cast's.
bool computes_doubles(const Chain&);
bool computes_longs(const Chain&);
bool serves_doubles(const graph::Op&); // whether it has kernels for f64
bool has_kernel(const std::string& name);
DType dtype_of(const Chain&, const Chain::Source&);
std::string part_name(const graph::Op&);   // of a row: "tanh_d0"
std::string kernel_name(const graph::Op&); // "elementwise_tanh_d0"
std::string label_of(const Chain&);        // "mul+add+relu"
Dim groups_of(const Chain&);               // workgroups of its kernels

// The kernels of a chain: one launch, or a preferred one and its fallback.
std::vector<ops::LaunchSpec> launches_of(const Chain&, std::span<const ops::LaunchOperand>,
                                         const device::Capabilities&);

// -- chains as kernels of their own --
bool can_fuse(const device::Capabilities&); // there is a compiler for the device's kernels
// The reduction, whose operands are the chain's inputs and what it writes, gets a kernel over the chain's elements in
// place of that over a tensor.
void reduce_chain(const Chain&, ops::LaunchSpec& reduction, const device::Capabilities&);
// Whether the elements of a reduction can be computed from the chain where it loads them: every operand is walked as the
// result is, or is one element.
bool fits_reduction(const Chain&, std::span<const ops::LaunchOperand>);

struct FusedKernel {
    std::string text; // whole, as GLSL
    DimVector ints;
    std::vector<ops::Scalar> floats;
};
FusedKernel fused_kernel(const Chain&, std::span<const ops::LaunchOperand>, const device::Capabilities&);
// `kernel` is a variant of a reduction's shader ("sum_rows_texel"); the operands are the chain's inputs and what the
// kernel writes.  No ints: the kernel's own stay.
FusedKernel fused_reduction(const Chain&, std::span<const ops::LaunchOperand>, const std::string& kernel);

} // namespace reprise::kernels
