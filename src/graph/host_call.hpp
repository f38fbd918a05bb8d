// A computation that the host makes in the middle of a call, such as an exchange with other machines.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "graph/op.hpp"

namespace reprise::ops {
struct HostTensor; // src/ops/reference.hpp
}

namespace reprise::graph {

// The attribute "call" of an op with Op::on_host.  Two calls are equal if they are the same object.
class HostCall {
public:
    HostCall() = default;
    virtual ~HostCall() = default;
    HostCall(const HostCall&) = delete;
    HostCall& operator=(const HostCall&) = delete;

    virtual TensorTypes infer(const Op&, const InputTypes&) const = 0;
    // All tensors are row-major in host memory.  May throw Error, after which the device counts as lost.
    virtual void run(std::span<const ops::HostTensor> inputs,
                     std::span<const ops::HostTensor> outputs) const = 0;
    virtual std::vector<Tensor> vjp(const VjpArguments&) const = 0;

    // Whether a library computes it on a stream of CUDA in place of run(), by the functions below: those of
    // device::StreamCall.
    virtual bool is_on_stream() const { return false; }
    // All tensors are row-major in device memory.
    virtual void enqueue(void* /* stream */, std::span<const ops::HostTensor> /* inputs */,
                         std::span<const ops::HostTensor> /* outputs */) const
    {}
    virtual void supervise(std::span<const ops::HostTensor> /* inputs */,
                           const std::function<void()>& /* await_begin */,
                           const std::function<bool()>& /* has_ended */) const
    {}
};

} // namespace reprise::graph
