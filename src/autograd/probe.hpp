// Probes: ops are called on placeholders, only to inspect the nodes that they create; nothing is computed.
#pragma once
#include <memory>

#include <reprise/grad_mode.hpp>

#include "graph/cell.hpp"
#include "ops/index_check.hpp"

namespace reprise::autograd {

struct ProbeEvaluator final : graph::Evaluator {
    const std::string& name() const override
    {
        static const std::string text = "probe";
        return text;
    }
    void accept(const char*, const graph::Op*, DType) const override {}
    void evaluate(std::span<const graph::Value>) override {}
    void read(const graph::Value&, std::span<std::byte>) override
    {
        detail::fail(ErrorKind::state, "read",
                     "A placeholder has no value: only its shape and dtype can be read here.");
    }
    bool is_ready(const graph::Value&) override { return false; }
    std::shared_ptr<graph::Storage> upload(const char*, const graph::TensorType&,
                                           std::span<const std::byte>) override
    {
        return nullptr;
    }
    void release(std::span<const graph::Node* const>) override {}
    void discard(std::span<const graph::Node* const>) override {}
    void appended(const graph::Node&) override {}
    void co_schedule(const graph::Node&) override {}
};

// While this object exists, ops of this thread are called outside of any recording, segment and scope, and nothing is
// recorded on the tape.
class Probe {
public:
    Tensor placeholder(const graph::TensorType& t) const
    {
        return graph::make_tensor(graph::leaf(t, evaluator_, nullptr, false));
    }

private:
    graph::Suspend outside_;
    graph::NoAutocast in_given_dtypes_;
    graph::Scoped<graph::Scope*> no_scope_{graph::current_scope(), nullptr};
    ops::IndexChecksOff index_checks_off_;
    AutoGradMode no_tape_{false};
    std::shared_ptr<graph::Evaluator> evaluator_ = std::make_shared<ProbeEvaluator>();
};

} // namespace reprise::autograd
