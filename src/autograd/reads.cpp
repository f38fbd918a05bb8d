#include <map>
#include <mutex>
#include <unordered_set>

#include "autograd/probe.hpp"
#include "autograd/walk.hpp"
#include "graph/notes.hpp"

namespace reprise::autograd {

using graph::Node;
using graph::Value;

namespace {

std::unordered_set<const Node*> reached(const std::vector<Tensor>& from)
{
    std::vector<const Node*> stack;
    std::unordered_set<const Node*> seen;
    for (const Tensor& t : from)
        if (t.defined() && seen.insert(graph::read(t).node.get()).second)
            stack.push_back(graph::read(t).node.get());
    while (!stack.empty()) {
        const Node* n = stack.back();
        stack.pop_back();
        for (const Value& v : n->inputs)
            if (seen.insert(v.node.get()).second) stack.push_back(v.node.get());
    }
    return seen;
}

Reads found_reads(const Node& n)
{
    const Probe probe;
    std::vector<Tensor> inputs, outputs, cotangents;
    auto wanted = std::make_unique<bool[]>(n.inputs.size());
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        inputs.push_back(probe.placeholder(n.inputs[i].type()));
        wanted[i] = n.inputs[i].node->requires_grad;
    }
    for (const graph::TensorType& t : n.outputs) {
        outputs.push_back(probe.placeholder(t));
        cotangents.push_back(probe.placeholder(t));
    }
    Reads r;
    const graph::ValueTensors of_inputs(inputs), of_outputs(outputs);
    const auto d = node_vjp({n, of_inputs, of_outputs, cotangents, {wanted.get(), n.inputs.size()}});
    const auto seen = reached(d);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (seen.count(graph::read(inputs[i]).node.get())) r.inputs |= 1ull << i;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (seen.count(graph::read(outputs[i]).node.get())) r.outputs |= 1ull << i;
    return r;
}

} // namespace

Reads vjp_reads(const Node& n)
{
    if (n.gradient) return n.gradient->reads(n);
    std::uint64_t wanted = 0;
    for (std::size_t i = 0; i < n.inputs.size(); ++i)
        if (n.inputs[i].node->requires_grad) wanted |= 1ull << i;
    static std::mutex mutex;
    static std::map<std::pair<const graph::Op*, std::uint64_t>, Reads> known;
    const std::pair key{n.op, wanted};
    {
        std::lock_guard lock(mutex);
        if (auto found = known.find(key); found != known.end()) return found->second;
    }
    const Reads r = found_reads(n); // without the lock: a VJP is code of an op
    std::lock_guard lock(mutex);
    return known[key] = r;
}

} // namespace reprise::autograd
