// equal and allclose: whether tensors are equal or nearly equal.

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>

#include "graph/cell.hpp"

namespace reprise {

namespace {

bool read(const char* op, const Tensor& all)
{
    if (graph::current_tracer())
        detail::fail(
            ErrorKind::state, op,
            "What the elements are is not known while recording: compare outside, or element by element "
            "with eq() or isclose().");
    return reprise::all(all).item<bool>();
}

} // namespace

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan)
{
    return read("allclose", isclose(a, b, rtol, atol, equal_nan));
}

bool equal(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && read("equal", eq(a, b)); }

} // namespace reprise
