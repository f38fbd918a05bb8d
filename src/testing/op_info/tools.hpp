// Short forms for the rows of this folder.
#pragma once
#include <limits>
#include <utility>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "graph/cell.hpp"
#include "ops/registry.hpp"
#include "testing/op_info/op_info.hpp"

namespace reprise::test {

using Inputs = std::vector<Tensor>;

inline Argument arg(Shape sizes, double low = -1, double high = 1)
{
    return {.sizes = std::move(sizes), .low = low, .high = high};
}
inline Argument fixed(Argument a) // no gradient is required
{
    a.differentiable = false;
    return a;
}
inline Argument of(DType dtype, Argument a)
{
    a.dtype = dtype;
    return a;
}
inline Argument whole(Shape sizes, double low, double high)
{
    return of(i32, arg(std::move(sizes), low, high));
}
inline Argument truth(Shape sizes) { return of(boolean, arg(std::move(sizes), 0, 1)); }
inline Argument number(double low, double high)
{
    Argument a = arg({}, low, high);
    a.number = true;
    return a;
}

// A call of the op itself, where no public function does just that.
inline auto apply(const graph::Op& op, graph::Attributes attributes = {})
{
    return [&op, attributes = std::move(attributes)](const Inputs& in) {
        return graph::apply(op, in, attributes);
    };
}

// The same random numbers at each evaluation; a program takes its place in the sequence from the generator.
inline void reseed()
{
    if (!is_recording()) manual_seed(3);
}

inline std::vector<std::int64_t> sizes(std::initializer_list<std::int64_t> list) { return list; }

} // namespace reprise::test
