// The tape: what was computed from what requires a gradient.
#pragma once
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

// One op on the tape, or a leaf.  Copies share it; it keeps what lies below it until a backward pass
// releases that.
class TapeNode {
public:
    TapeNode() = default; // not defined
    explicit TapeNode(std::shared_ptr<const graph::Node> node) : node_(std::move(node)) {}

    bool defined() const noexcept { return node_ != nullptr; }
    std::string operation() const; // "matmul"; "leaf"; empty where it is not defined
    std::uint64_t id() const;      // larger than those of its parents
    bool is_leaf() const;
    // What it was computed from, as far as that requires a gradient, in the order of the op's inputs.
    std::vector<TapeNode> parents() const;
    // The op's constants by name: {"dim", "1"}, {"keepdim", "0"}.
    std::vector<std::pair<std::string, std::string>> parameters() const;
    std::vector<Shape> shapes() const; // of its outputs
    Tensor variable() const;           // of a leaf; undefined where nothing else holds it, and for an op
    std::string place() const;         // in the user's code, where it ran in anomaly mode

    // Calls f with each node from here down once, parents first.
    void walk(const std::function<void(const TapeNode&)>& f) const;
    // A line a node, parents first: "%7 = sum(%6) {dims=[] keepdim=0} : f32[]".
    std::string text() const;
    friend bool operator==(const TapeNode&, const TapeNode&) = default;

private:
    std::shared_ptr<const graph::Node> node_;
};

// Gradients by tensor, as Tensor::gradients() gives them: of all leaves, of the tensors between that were told
// retain_grad() before, and of the tensor that the pass went out from.
class GradStore {
public:
    Tensor get(const Tensor& leaf) const; // undefined where there is none
    bool contains(const Tensor& leaf) const;
    // Adds to what is there.  Error(shape, dtype) where the gradient is not of the leaf's type.
    void accumulate(const Tensor& leaf, const Tensor& gradient);
    void accumulate(const GradStore& other);
    GradStore clone() const; // what is added to one is not in the other
    void remove(const Tensor& leaf);
    std::size_t size() const noexcept { return entries_.size(); }
    const std::vector<std::pair<Tensor, Tensor>>& entries() const noexcept // tensor, gradient
    {
        return entries_;
    }

private:
    std::vector<std::pair<Tensor, Tensor>>::iterator find(const Tensor& leaf);
    std::vector<std::pair<Tensor, Tensor>> entries_;
};

// What a source without a path to the target gets.
enum class Unconnected { none, zero }; // an undefined tensor; zeros

struct GradientTapeOptions {
    bool persistent = false; // gradient() may be asked for more than once
};
// Gradients of what is computed while it lives.  Tapes nest: a gradient that is taken while an outer tape
// lives is on that one's tape.  Belongs to its thread.
//
//     GradientTape tape;
//     tape.watch(x);
//     Tensor g = tape.gradient(sum(x * x), x);
class GradientTape {
public:
    explicit GradientTape(const GradientTapeOptions& = {});
    ~GradientTape();
    GradientTape(const GradientTape&) = delete;
    GradientTape& operator=(const GradientTape&) = delete;

    // Makes a tensor a source; Variables that require a gradient are sources anyway.  A leaf that required
    // none requires none again when the tape is gone.  Error(dtype) for what is not floating.
    void watch(const Tensor&);
    // Of a target of any shape: of the sum of its elements.  Error(state) at the second call where the tape
    // is not persistent, and for a source that was not watched.
    Tensor gradient(const Tensor& target, const Tensor& source, Unconnected = Unconnected::none);
    std::vector<Tensor> gradient(const Tensor& target, const std::vector<Tensor>& sources,
                                 Unconnected = Unconnected::none);

private:
    GradientTapeOptions options_;
    std::vector<Tensor> watched_;
    GradientTape* outer_;
    bool used_ = false;
};

} // namespace reprise
