// What the launches of attention share: views, masks and arguments.
#pragma once
#include <vector>

#include "ops/attention.hpp"
#include "ops/records.hpp"

namespace reprise::ops {

View swapped(View, std::size_t a, std::size_t b);                   // two dimensions
inline View heads_first(const View& v) { return swapped(v, 1, 2); } // [B, T, H, E] as [B, H, T, E]

// Returns a mask in the dtypes that kernels read, i32 or f32; a copy if it has another.
View wide_mask(Lowering&, const View&);

// Returns a copy whose rows are padded with zeros to `columns`.
View padded(Lowering&, View, const Dim& columns);
// Returns v if its rows are whole texels, else a copy with rows padded with zeros.
View in_texels(Lowering&, const View&);

// The mask of a problem, which may be absent.
struct Mask {
    LaunchOperand operand{View(), Use::read, true};
    DimVector strides{0, 0, 0, 0};
    std::uint32_t kind = 0; // the constant MASK of the kernels: 1: truth, 2: numbers
    bool texels = true;     // whether its rows are whole texels

    Mask() = default;
    explicit Mask(const View& v, bool in_texels = false)
        : operand(v, Use::read), strides(v.layout.strides.begin(), v.layout.strides.end()),
          kind(is_floating(v.dtype) ? 2 : 1), texels(in_texels)
    {}
};

// Arguments of shaders/common/attention.glsl.
records::RowStrides row_strides(const View&, std::int64_t unit = 1); // in units of `unit` elements
records::AttentionSizes sizes_of(const AttentionSizes&, const Dim& all_heads);
struct PassArguments {
    LaunchOperand mask;
    records::Strides mask_strides;
    records::RandomState random;
    std::vector<std::uint32_t> constants; // CAUSAL, MASK, DROPOUT

    // mask_input: the number of the input, if there is a mask
    PassArguments(Lowering&, const graph::Attributes&, std::size_t mask_input);

private:
    PassArguments(const graph::Attributes&, const Mask&);
};

// One pass over the keys (or queries) without a matrix of weights: of a row for each lane, and of tiles of 64 rows on
// GPUs, where they serve these sizes.
void forward_by_lanes(Lowering&, const graph::Attributes&, const AttentionSizes&);
void gradient_by_lanes(Lowering&, const graph::Attributes&, const AttentionSizes&);
bool fits_tiles(const Lowering&, const graph::Attributes&);
void forward_by_tiles(Lowering&, const graph::Attributes&, const AttentionSizes&);
void gradient_by_tiles(Lowering&, const graph::Attributes&, const AttentionSizes&);

} // namespace reprise::ops
