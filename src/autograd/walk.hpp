// The reverse walk (backward pass).  It contains no code for single ops: it calls each op's VJP.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "graph/notes.hpp"

namespace reprise::autograd {

struct WalkOptions {
    bool create_graph = false; // records the nodes of the VJPs on the tape
    bool retain_graph = false;
    // Ends the walk at the inputs: the nodes that an input depends on are not visited, even where they depend on other
    // inputs.
    bool stop_at_inputs = false;
};

// Throws Error(dtype) or Error(shape) unless both have the same dtype and shape: "The gradient is f32[2] but the tensor
// is f32[3]."
void require_alike(const char* op, const std::string& given_is, const Tensor& given, const char* but_is,
                   const Tensor& wanted, const char* end = ".");
// Returns the cotangent with which a walk from `output` starts: the given one, after checks, or 1 where the output has
// one element.
Tensor seed_for(const char* op, const Tensor& output, const Tensor& cotangent);
// Co-schedules a loss, as the user who starts a backward pass from it will probably read it: it is computed with the
// gradients.
void co_schedule_loss(const graph::Value&);

// Adds the cotangents that arrive at leaves to their grad().  seeds[i] belongs to outputs[i].
void accumulate(std::span<const graph::Value> outputs, std::span<const Tensor> seeds, const WalkOptions&);

// Whether accumulate() runs on this thread, so that queue_callback() may be called.
bool stores_gradients();

// Returns the cotangents that arrive at leaves, each with the cell of the leaf; no grad() changes.
std::vector<std::pair<std::shared_ptr<graph::Cell>, Tensor>> gradients_of_leaves(
    std::span<const graph::Value> outputs, std::span<const Tensor> seeds, const WalkOptions&);

// Returns the cotangents of `inputs`; undefined where the outputs do not depend on them.
std::vector<Tensor> cotangents_of(std::span<const graph::Value> outputs, std::span<const Tensor> seeds,
                                  std::span<const graph::Value> inputs, const WalkOptions&);

// Computes the cotangents of one node's inputs: by its custom gradient, by the VJP of its op, or through the op's
// decomposition.
std::vector<Tensor> node_vjp(const graph::VjpArguments&);

// Returns the inputs and outputs whose values the node's VJP reads: as a custom gradient states them, else found by
// running the VJP on placeholders.
using graph::Reads;
Reads vjp_reads(const graph::Node&);

} // namespace reprise::autograd
