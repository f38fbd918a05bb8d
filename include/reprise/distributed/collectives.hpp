// Collectives: ops that all ranks of a world compute together.
//
// In eager code a collective is submitted at once, without waiting.  In a recorded program it is a part of the program:
// the device goes on with what does not depend on it.  Either way every rank must call the same collectives in the same
// order, with the same dtypes and sizes; Error(distributed), from a later call or when a value is read, names the rank
// that does not.  A collective whose result a recorded program does not use is left out of it: use it on all ranks.
//
// Sums are taken in the order of ranks, so that results have the same bits at each run; those of f16 and bf16 are
// computed in f32 and rounded once.
#pragma once
#include <cstdint>

#include <reprise/distributed/world.hpp>
#include <reprise/tensor.hpp>

namespace reprise::distributed {

// How tensors of all ranks become one.
enum class ReduceOp : std::uint8_t {
    sum,    // in the order of ranks
    mean,   // the sum, divided by the number of ranks
    min,    // NaN if one is
    max,    // the same
    product // in the order of ranks
};

// Each returns a tensor on the device of x.  The dtype is any but bool, with which only broadcast(), all_gather() and
// all_to_all() work; mean needs a floating-point dtype (Error(dtype)).  A negative dim counts from the end.

// Returns the reduction over all ranks, of x's shape, to each rank.  Gradient, of sum and mean: the same
// reduction of all ranks' gradients.  Others have none.
Tensor all_reduce(const Tensor& x, const World&, ReduceOp = ReduceOp::sum);

// Returns the x of rank `root`.  Gradient: the sum over all ranks at `root`, and 0 at others.  Error(argument) for a
// rank that does not exist.
Tensor broadcast(const Tensor& x, const World&, int root = 0);

// Returns the x of all ranks, one after the other along dim: its size is that of x times the number of ranks.
// Gradient: reduce_scatter() with sum.
Tensor all_gather(const Tensor& x, const World&, std::int64_t dim = 0);

// Returns this rank's part of the reduction over all ranks: x is cut along dim into a part for each rank.  Gradient,
// of sum and mean: all_gather().  Error(shape) unless the size is a multiple of the number of ranks,
// which of a symbolic one must be known: n * world.size().
Tensor reduce_scatter(const Tensor& x, const World&, ReduceOp = ReduceOp::sum, std::int64_t dim = 0);

// Cuts x along dim into a part for each rank, and returns the parts that the ranks have for this one, in their order.
// Gradient: all_to_all().  Error(shape) as of reduce_scatter().
Tensor all_to_all(const Tensor& x, const World&, std::int64_t dim = 0);

// Sends x to the rank `to`, and returns the tensor of x's dtype and shape that the rank `from` sends to this one, as
// between the stages of a pipeline.  Both may be this rank.  Gradient: the same in the other direction.
// Error(argument) for a rank that does not exist.
Tensor send_receive(const Tensor& x, const World&, int to, int from);

} // namespace reprise::distributed
