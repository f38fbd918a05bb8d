// The tape: the graph of the ops whose gradients are recorded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

namespace graph {
struct Node; // src/graph/node.hpp
}

// One op on the tape, or a leaf, as PyTorch's grad_fn.  Copies share the node.  It keeps the nodes that it depends
// on alive until a backward pass releases them.
class TapeNode {
public:
    TapeNode() = default; // not defined
    // For the library itself.
    explicit TapeNode(std::shared_ptr<const graph::Node> node) : node_(std::move(node)) {}

    bool defined() const noexcept { return node_ != nullptr; } // false for TapeNode()
    // The op's name, such as "matmul"; "leaf" for a leaf; empty where not defined.
    std::string operation() const;
    std::string name() const { return operation(); }             // operation()
    const TapeNode* operator->() const noexcept { return this; } // itself, for grad_fn()->name()
    std::uint64_t id() const;                                    // a number, larger than those of its parents
    bool is_leaf() const;                                        // whether it is a leaf and not an op
    // Returns the nodes of those inputs of the op that require a gradient, in order.
    std::vector<TapeNode> parents() const;
    // Returns the op's constants by name: {"dim", "1"}, {"keepdim", "0"}.
    std::vector<std::pair<std::string, std::string>> parameters() const;
    std::vector<Shape> shapes() const; // the shapes of its outputs
    Tensor variable() const; // a leaf's tensor; undefined where that no longer exists, and for an op
    // Returns the location in the user's code where the op was called, if anomaly mode was on; else empty.
    std::string place() const;

    // Calls f once for this node and for each one on the tape that it depends on, parents first.
    void walk(const std::function<void(const TapeNode&)>& f) const;
    // Returns one line for each node of walk(), in its order: "%7 = sum(%6) {dims=[] keepdim=0} : f32[]".
    std::string text() const;
    friend bool operator==(const TapeNode&, const TapeNode&) = default;
    // Whether the node is not defined: grad_fn() == nullptr.
    friend bool operator==(const TapeNode& node, std::nullptr_t) { return !node.defined(); }

private:
    std::shared_ptr<const graph::Node> node_;
};

// Gradients by tensor, as Tensor::gradients() returns them: of all leaves, of tensors on which retain_grad()
// was called, and of the tensor that the backward pass started from.
class GradStore {
public:
    Tensor get(const Tensor& leaf) const;    // the gradient of a tensor; undefined where there is none
    bool contains(const Tensor& leaf) const; // whether there is a gradient of the tensor
    // Adds a gradient to the stored one of a tensor.  Error(shape, dtype) where it differs in shape or dtype from
    // the tensor.
    void accumulate(const Tensor& leaf, const Tensor& gradient);
    void accumulate(const GradStore& other); // adds all gradients of another store
    GradStore clone() const;                 // a copy; later changes of one do not change the other
    void remove(const Tensor& leaf);         // removes the gradient of a tensor, if there is one
    // The number of gradients.
    std::size_t size() const noexcept { return entries_.size(); }
    // All pairs of a tensor and its gradient.
    const std::vector<std::pair<Tensor, Tensor>>& entries() const noexcept { return entries_; }

private:
    std::vector<std::pair<Tensor, Tensor>>::iterator find(const Tensor& leaf);
    std::vector<std::pair<Tensor, Tensor>> entries_;
};

// The gradient of a source that the target does not depend on.
enum class Unconnected {
    none, // an undefined tensor
    zero  // zeros
};

// Options of GradientTape.
struct GradientTapeOptions {
    bool persistent = false; // gradient() may be called more than once
};
// Gradients of computations with respect to watched tensors, as TensorFlow's GradientTape.  Tapes nest:
// gradients that are taken while an outer tape exists can be differentiated again.  A tape belongs to its
// thread.
//
//     GradientTape tape;
//     tape.watch(x);
//     Tensor g = tape.gradient(sum(x * x), x);
class GradientTape {
public:
    explicit GradientTape(const GradientTapeOptions& = {}); // begins a tape, nested in those of this thread
    ~GradientTape(); // ends it; watched leaves require no gradient again
    GradientTape(const GradientTape&) = delete;
    GradientTape& operator=(const GradientTape&) = delete;

    // Makes a tensor a source: it requires a gradient until the tape ends.  Tensors that require a gradient are
    // sources without this call.  Error(dtype) for dtypes that are not floating.
    void watch(const Tensor&);
    // Returns the gradient of the sum of the target's elements with respect to the source.  Error(state) for the
    // second call, unless the tape is persistent, and for a source that was not watched.
    Tensor gradient(const Tensor& target, const Tensor& source, Unconnected = Unconnected::none);
    // Returns the gradients with respect to several sources, by one backward pass.
    std::vector<Tensor> gradient(const Tensor& target, const std::vector<Tensor>& sources,
                                 Unconnected = Unconnected::none);

private:
    GradientTapeOptions options_;
    std::vector<Tensor> watched_;
    GradientTape* outer_;
    bool used_ = false;
};

} // namespace reprise
