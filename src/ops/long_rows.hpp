// Rows that are long for one invocation: their sums are made by reductions, which divide a row, and what follows them
// by elementwise launches.  The same sizes always go this way, so that bits do not depend on more.
#pragma once
#include <functional>
#include <vector>

#include "ops/lowering.hpp"

namespace reprise::ops {

class LongRows {
public:
    LongRows(Lowering&, const Shape& sizes, std::size_t dim);

    // Emits one of both, or both where the sizes are not known.  From `longest` on an invocation can't make a row:
    // lavapipe ends the loops of a shader after 65,535 iterations of all of them together.
    static void choose(Lowering&, const Dim& length, const Dim& rows, std::int64_t longest,
                       const std::function<void()>& one_each, const std::function<void()>& divided);

    View each(const char* row, const std::vector<View>& in);   // one number a row: sizes with 1 along it
    View across(const char* row, const std::vector<View>& in); // of all elements
    void write(const View& to, const char* row, const std::vector<View>& in);
    View reduced(const char* op, const View& x); // "sum", "amax"
    View mean(const View& x);

    static View number(double value) { return {.number = Scalar(value)}; }
    static View column(View one_a_row); // [rows] as [rows, 1]

private:
    Lowering& l_;
    Shape sizes_, kept_;
    std::size_t dim_;
};

} // namespace reprise::ops
