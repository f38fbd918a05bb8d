#pragma once
#include "ops/records.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

// A matrix operand.  Strides of dimensions of size 1, which have no effect, are replaced by suitable values.
struct Matrix {
    ops::View view;                // [outer, inner, rows, columns]
    Dim outer, inner, row, column; // strides, elements

    explicit Matrix(const ops::View& v)
        : view(v), outer(v.layout.strides[0]), inner(v.layout.strides[1]), row(v.layout.strides[2]),
          column(v.layout.strides[3])
    {
        if (same(v.sizes()[0], 1)) outer = 0;
        if (same(v.sizes()[1], 1)) inner = 0;
        if (same(rows(), 1)) row = round_up(columns(), 4);
        if (same(columns(), 1)) column = 1;
    }
    const Dim& rows() const { return view.sizes()[2]; }
    const Dim& columns() const { return view.sizes()[3]; }

    // Whether texels can be loaded from rows: contiguous, 16-byte aligned, with a pitch that is never 0.
    bool texel_rows() const { return same(column, 1) && aligned(row); }
    bool texel_columns() const { return row_is_unit() && aligned(column_pitch()); }
    Dim column_pitch() const { return same(columns(), 1) ? round_up(rows(), 4) : view.layout.strides[3]; }

private:
    bool row_is_unit() const { return same(rows(), 1) || same(view.layout.strides[2], 1); }
    bool aligned(const Dim& pitch) const
    {
        return !same(pitch, 0) && pitch.divisible_by(4) && outer.divisible_by(4) && inner.divisible_by(4) &&
               view.layout.offset.divisible_by(4);
    }
};

// Returns the sizes of a product whose operands may have been packed since.
inline ops::records::GemmSizes gemm_sizes(const ops::GemmProblem& p, const Matrix& a, const Matrix& b)
{
    const Matrix c(p.c);
    return {.m = c.rows(),
            .n = c.columns(),
            .k = p.a.sizes()[3],
            .a_row_stride = a.row,
            .b_row_stride = b.row,
            .c_row_stride = p.c.layout.strides[2],
            .batches = p.c.sizes()[0] * p.c.sizes()[1],
            .a_outer_stride = a.outer,
            .b_outer_stride = b.outer,
            .c_outer_stride = c.outer,
            .a_column_stride = a.column,
            .b_column_stride = b.column,
            .inners = p.c.sizes()[1],
            .a_inner_stride = a.inner,
            .b_inner_stride = b.inner,
            .c_inner_stride = c.inner};
}

} // namespace reprise::kernels
