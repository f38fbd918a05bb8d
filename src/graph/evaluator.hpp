// The interface that computes the values of pending nodes.  The graph reaches a device only through it.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <reprise/dtype.hpp>

namespace reprise::graph {

struct Node;
struct Value;
struct Op;
struct TensorType;

// The base of the storage of a value.  The value's evaluator defines what derives from it.
struct Storage {
    virtual ~Storage() = default;
};

class Evaluator {
public:
    virtual ~Evaluator() = default;
    virtual const std::string& name() const = 0;
    // Throws Error(unsupported) for a dtype that this device does not support, or for which it has no kernels of the
    // op.  `op` may be null.  `by` is the name of the op or of a function, for the error.
    virtual void accept(const char* by, const Op* op, DType) const = 0;
    // Computes values, without waiting for the device.
    virtual void evaluate(std::span<const Value>) = 0;
    // Evaluates a value, waits for it and copies it to the host, row-major.
    virtual void read(const Value&, std::span<std::byte> to) = 0;
    // Whether read() would not wait.
    virtual bool is_ready(const Value&) = 0;
    // Checks the dtype by accept(), then copies the elements to the device.  `by` is the function's name, for errors.
    virtual std::shared_ptr<Storage> upload(const char* by, const TensorType&,
                                            std::span<const std::byte> from) = 0;
    // Called when a backward pass has used these nodes: those that have their values drop their inputs.
    virtual void release(std::span<const Node* const>) = 0;
    // Drops the stored values of those of these nodes that can be recomputed from their inputs.
    virtual void discard(std::span<const Node* const>) = 0;
    // Called when a node is appended, before anybody has requested its value.
    virtual void appended(const Node&) = 0;
    // Computes a pending node along with the next values that this thread requests, as its value will be read later: a
    // cell now holds it, or a backward pass has started from it.  Does nothing where the node has its values.
    virtual void co_schedule(const Node&) = 0;
};

} // namespace reprise::graph
