// The interface of an op to the graph, the reverse walk and the planner.  Each op is one constant object, defined in
// src/ops/, which holds everything that differs between ops: no other code names an op.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reprise/tensor.hpp>

#include "graph/attributes.hpp"

namespace reprise::ops {
class Lowering;            // src/ops/lowering.hpp
struct ReferenceArguments; // src/ops/reference.hpp
struct Scalar;
}

namespace reprise::graph {

class InputTypes; // graph/node.hpp
struct Node;
struct Op;
struct Value;

struct TensorType {
    DType dtype = DType::f32;
    Shape shape;
    friend bool operator==(const TensorType& a, const TensorType& b) // for all values of the symbols
    {
        return a.dtype == b.dtype && same(a.shape, b.shape);
    }
};
using TensorTypes = std::vector<TensorType>; // of an op's outputs

// The arguments of a VJP.  It reads tensors from here, and types from `node`.  The tensors that it reads are not
// declared but found by running it on placeholders (autograd/walk.hpp).
struct VjpArguments {
    const Node& node;
    std::span<const Tensor> inputs, outputs;
    std::span<const Tensor> cotangents; // one per output; undefined: zero
    std::span<const bool> wanted;       // one per input: whether its cotangent is required
};

// The strided layout of a view in its base, in elements.
struct Strided {
    Shape sizes;
    DimVector strides;
    Dim offset;
};

enum class Cost : std::uint8_t {
    memory,
    compute
}; // the bottleneck: selective checkpoints recompute memory-bound ops and save the results of compute-bound ones

struct Op {
    const char* name;
    // The shape rule: computes the types of the outputs.  Throws Error for inputs that do not fit.
    TensorTypes (*infer)(const Op&, const InputTypes&, const Attributes&);
    // Computes the cotangents of the inputs (undefined: none).  Null: the op is differentiated through `decompose` or,
    // where that is null too, has no gradient.
    std::vector<Tensor> (*vjp)(const VjpArguments&) = nullptr;
    // Computes the same outputs by simpler ops.  A fused VJP is differentiated through it and tested against it.
    std::vector<Tensor> (*decompose)(const Node&, std::span<const Tensor> inputs) = nullptr;
    // For views of an input, which have no launches: changes the input's layout into that of an output.  Returns false
    // where strides can't express it; the input is then made contiguous first.
    bool (*view)(const Node&, std::size_t output, Strided&) = nullptr;
    // Returns the index of the input that an output is a view of; null: input 0.
    std::size_t (*view_of)(const Node&, std::size_t output) = nullptr;
    // For splat constants: returns the one value of all elements, so that kernels can take it as an argument.
    bool (*number)(const Node&, ops::Scalar&) = nullptr;
    // Adds the launches that compute the op on a device.
    void (*lower)(ops::Lowering&, const Node&) = nullptr;
    // The specification: computes the op in plain C++ in double.
    void (*reference)(const ops::ReferenceArguments&) = nullptr;
    // Its lowering takes narrow dtypes, as its kernels do, or widens them where they do not (Lowering::widened).
    bool narrow = false;
    // Its kernels are products, or convolutions, which take f16 and bf16 where Capabilities::half_products is set;
    // where kernels::products_read_halves() or tiles_read_halves() is true, they take them and give f32, and where
    // products_write_halves() or direct_reads_and_writes() is true, they give their dtype.
    bool half_products = false, half_convolutions = false;
    // It has f64 kernels, named as the f32 ones with the suffix _f64.  Without them its decomposition is computed.
    bool doubles = false;
    Cost cost = Cost::memory;
    const void* row = nullptr; // row of the table, for elementwise ops
    // A row whose function casts f16 and bf16 to f32 within autocast (ops/autocast.hpp).
    bool computes_in_f32 = false;
    // The host computes it on every device, by its reference function, while the device runs what does not depend on
    // it.
    bool on_host = false;
    int part = 0; // part of the row: 0: the formula, 1 + k: its derivative with respect to input k
};

} // namespace reprise::graph
