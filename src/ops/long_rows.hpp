// Rows that are too long for one invocation, or for the lanes of one workgroup: reductions, which divide a row, compute
// their sums, and elementwise launches compute the rest. The choice depends only on sizes and device, so that equal
// calls produce equal bits.
#pragma once
#include <functional>
#include <vector>

#include "ops/lowering.hpp"

namespace reprise::ops {

class LongRows {
public:
    LongRows(Lowering&, const Shape& sizes, std::size_t dim);

    // Emits `one_each` (an invocation, or the lanes of a team, for each row) or `divided`, or both, each with a
    // condition, if the sizes are symbols.  An invocation can't process a row of `longest` or more elements: lavapipe
    // limits the loops of a shader to 65,535 iterations in total.
    static void choose(Lowering&, const Dim& length, const Dim& rows, std::int64_t longest,
                       const std::function<void()>& one_each, const std::function<void()>& divided);

    View each(const char* row, const std::vector<View>& in); // one number per row: size 1 along the dimension
    View across(const char* row, const std::vector<View>& in); // all elements
    void write(const View& to, const char* row, const std::vector<View>& in);
    View reduced(const char* op, const View& x); // "sum", "amax"
    View mean(const View& x);

    static View number(double value) { return {.number = Scalar(value)}; }
    static View column(View per_row); // views [rows] as [rows, 1]

private:
    Lowering& l_;
    Shape sizes_, reduced_sizes_;
    std::size_t dim_;
};

} // namespace reprise::ops
