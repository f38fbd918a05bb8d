// What turns pending nodes into values.  The graph knows only this much of a device.
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

// Where a value lies; its evaluator knows what is behind it.
struct Storage {
    virtual ~Storage() = default;
};

class Evaluator {
public:
    virtual ~Evaluator() = default;
    virtual const std::string& name() const = 0;
    // Throws Error(unsupported) for a dtype that this device can't hold, or has no kernels of the op for; `op` may be
    // null, `by` is its name or that of a function.
    virtual void accept(const char* by, const Op* op, DType) const = 0;
    // Computes values, without waiting for the device.
    virtual void evaluate(std::span<const Value>) = 0;
    // Copies a value to the host, row-major; evaluates and waits.
    virtual void read(const Value&, std::span<std::byte> to) = 0;
    // Accepts the dtype first; `by` is the function's name.
    virtual std::shared_ptr<Storage> upload(const char* by, const TensorType&,
                                            std::span<const std::byte> from) = 0;
    // Backward has used these nodes: what is stored drops its inputs.
    virtual void release(std::span<const Node* const>) = 0;
    // The values of these nodes, where they are stored and can be computed again, are not wanted until then.
    virtual void discard(std::span<const Node* const>) = 0;
    // A node was appended whose value nobody has requested yet.
    virtual void appended(const Node&) = 0;
    // Ignored where the node has a value.  Else somebody will read it, as a cell holds it from now on, or a backward pass
    // has started from it: it is computed with the next values that this thread requests.
    virtual void co_schedule(const Node&) = 0;
};

} // namespace reprise::graph
