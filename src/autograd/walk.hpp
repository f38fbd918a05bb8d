// The reverse walk.  It knows no op: it asks each node's op for the cotangents of its inputs.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace reprise::autograd {

struct WalkOptions {
    bool create_graph = false; // the VJPs' own nodes are recorded on the tape
    bool retain_graph = false;
    // `inputs` are where the walk ends: their producers are not visited even where they depend on other
    // inputs.
    bool stop_at_inputs = false;
};

// Adds the cotangents that arrive at leaves to their grad().  seeds[i] belongs to outputs[i].
void accumulate(std::span<const graph::Value> outputs, std::span<const Tensor> seeds, const WalkOptions&);

// The cotangents of `inputs`; undefined where nothing arrives.
std::vector<Tensor> cotangents_of(std::span<const graph::Value> outputs, std::span<const Tensor> seeds,
                                  std::span<const graph::Value> inputs, const WalkOptions&);

// Cotangents of one node's inputs: by its VJP, or through its decomposition.
std::vector<Tensor> node_vjp(const graph::VjpArguments&);

// Tests: while one lives, the cotangent that the VJP of `op` gives for an input is replaced.  A gradient
// check that passes with it has checked nothing.
class SpoilVjp {
public:
    using Change = std::function<Tensor(std::size_t input, const Tensor& cotangent)>;
    SpoilVjp(const graph::Op& op, Change);
    ~SpoilVjp();
    SpoilVjp(const SpoilVjp&) = delete;
    SpoilVjp& operator=(const SpoilVjp&) = delete;
};

// Which of a node's own values its VJP reads; found by running the VJP on placeholders.  Bit i: input or
// output i.
struct Reads {
    std::uint64_t inputs = 0, outputs = 0;
};
Reads vjp_reads(const graph::Node&);

} // namespace reprise::autograd
