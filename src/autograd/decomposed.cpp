#include "autograd/decomposed.hpp"

#include "autograd/probe.hpp"
#include "shape/guard.hpp"

namespace reprise::autograd {

namespace {

// Ignores guards, as the op's own shape rule has required them before.
struct IgnoredGuards final : shape::GuardSink {
    void require(const shape::Guard&) override {}
};

} // namespace

Decomposed decomposed(const graph::Node& n)
{
    const Probe probe;
    IgnoredGuards ignored;
    const shape::GuardScope guarding(ignored);
    Decomposed d;
    std::vector<Tensor> inputs;
    for (const graph::Value& v : n.inputs) {
        inputs.push_back(probe.placeholder(v.type()));
        d.inputs.push_back(graph::read(inputs.back()));
    }
    for (const Tensor& t : n.op->decompose(n, inputs)) d.outputs.push_back(graph::read(t));
    return d;
}

} // namespace reprise::autograd
