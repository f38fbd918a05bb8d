// The reverse walk.  It knows no op: it asks each node's op for the cotangents of its inputs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "graph/notes.hpp"

namespace reprise::autograd {

struct WalkOptions {
    bool create_graph = false; // the VJPs' own nodes are recorded on the tape
    bool retain_graph = false;
    // `inputs` are where the walk ends: their producers are not visited even where they depend on other
    // inputs.
    bool stop_at_inputs = false;
};

// Throws Error(dtype) or Error(shape) unless both have one dtype and shape: "The gradient is f32[2] but the tensor is
// f32[3]."
void require_alike(const char* op, const std::string& given_is, const Tensor& given, const char* but_is,
                   const Tensor& wanted, const char* end = ".");
// What a walk from `output` starts with: the given cotangent, checked, or one where the output has one
// element.
Tensor seed_for(const char* op, const Tensor& output, const Tensor& cotangent);
// Who goes back from a value of one element wants to know it, too: it is computed with the step.
void co_schedule_loss(const graph::Value&);

// Adds the cotangents that arrive at leaves to their grad().  seeds[i] belongs to outputs[i].
void accumulate(std::span<const graph::Value> outputs, std::span<const Tensor> seeds, const WalkOptions&);

// The cotangents that arrive at leaves, by the cell of the leaf; no grad() changes.
std::vector<std::pair<std::shared_ptr<graph::Cell>, Tensor>> gradients_of_leaves(
    std::span<const graph::Value> outputs, std::span<const Tensor> seeds, const WalkOptions&);

// The cotangents of `inputs`; undefined where nothing arrives.
std::vector<Tensor> cotangents_of(std::span<const graph::Value> outputs, std::span<const Tensor> seeds,
                                  std::span<const graph::Value> inputs, const WalkOptions&);

// Cotangents of one node's inputs: by the gradient that a user gave, by its VJP, or through its
// decomposition.
std::vector<Tensor> node_vjp(const graph::VjpArguments&);

// Found by running the VJP on placeholders, unless it is a user's.
using graph::Reads;
Reads vjp_reads(const graph::Node&);

} // namespace reprise::autograd
