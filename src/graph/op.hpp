// What the graph, the reverse walk and the planner know of an op.  One constant object for each op; src/ops/
// makes them.  Everything that differs between ops is in here: no other code names an op.
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

// What a VJP gets.  It reads tensors from here, and types from `node`.  Which tensors it reads is found by running it on
// placeholders (autograd/walk.hpp), never declared.
struct VjpArguments {
    const Node& node;
    std::span<const Tensor> inputs, outputs;
    std::span<const Tensor> cotangents; // one an output; undefined: zero
    std::span<const bool> wanted;       // one an input: whether its cotangent is required
};

// Where the elements of a view lie in the value that it looks at, in elements.
struct Strided {
    Shape sizes;
    DimVector strides;
    Dim offset;
};

enum class Cost : std::uint8_t {
    memory,
    compute
}; // bound by; selective checkpoints recompute the one and keep the other

struct Op {
    const char* name;
    // Types of the outputs; throws Error for inputs that do not fit.
    TensorTypes (*infer)(const Op&, const InputTypes&, const Attributes&);
    // Cotangents of the inputs (undefined: none).  Null where `decompose` or nothing is given.
    std::vector<Tensor> (*vjp)(const VjpArguments&) = nullptr;
    // The same outputs by simpler ops: how a fused VJP is differentiated again, and its oracle.
    std::vector<Tensor> (*decompose)(const Node&, std::span<const Tensor> inputs) = nullptr;
    // Views of an input have this instead of launches: changes the input's layout into that of an output, or
    // gives false where strides can't say it (then the input is made contiguous first).
    bool (*view)(const Node&, std::size_t output, Strided&) = nullptr;
    // Of which input an output is a view; null: input 0.
    std::size_t (*view_of)(const Node&, std::size_t output) = nullptr;
    // One value everywhere that the host knows: kernels that take numbers need no memory for it.
    bool (*number)(const Node&, ops::Scalar&) = nullptr;
    // Launches on a device.
    void (*lower)(ops::Lowering&, const Node&) = nullptr;
    // The specification: plain C++ in double.
    void (*reference)(const ops::ReferenceArguments&) = nullptr;
    bool narrow = false; // its kernels take f16 and bf16, as those of elementwise ops and views do
    bool half_products =
        false; // its kernels are products: they take f16 and bf16 where Capabilities::half_products
    // It has kernels for f64: those for f32 with _f64 behind their names.  Without them its decomposition is computed.
    bool doubles = false;
    Cost cost = Cost::memory;
    const void* row = nullptr; // of the table, for elementwise ops
    int part = 0;              // of the row: 0 the formula, 1 + k its derivative by input k
};

} // namespace reprise::graph
