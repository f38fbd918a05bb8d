#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <variant>

#include "autograd/probe.hpp"
#include "autograd/walk.hpp"
#include "graph/notes.hpp"
#include "shape/hash.hpp"

namespace reprise::autograd {

using graph::Node;
using graph::Value;

namespace {

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
    std::vector<Value> given;
    for (const Tensor& t : node_vjp({n, inputs, outputs, cotangents, {wanted.get(), n.inputs.size()}}))
        if (t.defined()) given.push_back(graph::read(t));
    const std::vector<const Node*> reached = graph::reachable(given);
    const auto is_read = [&](const Tensor& t) {
        return std::find(reached.begin(), reached.end(), graph::read(t).node.get()) != reached.end();
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (is_read(inputs[i])) r.inputs.add(i);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (is_read(outputs[i])) r.outputs.add(i);
    return r;
}

// The cache key: everything by which a VJP can distinguish nodes of one op.  Sizes are left out: they may be symbols,
// so a VJP can't branch on their values.
using Key = std::vector<std::uint64_t>;
class KeyOf {
public:
    explicit KeyOf(const Node& n)
    {
        words_.reserve(16); // enough for most nodes
        words_ = {reinterpret_cast<std::uintptr_t>(n.op), n.inputs.size()};
        for (const Value& v : n.inputs)
            word(static_cast<std::uint64_t>(v.node->requires_grad) << 32 |
                 static_cast<std::uint64_t>(v.type().dtype) << 24 | v.type().shape.size());
        for (const auto& [name, attribute] : n.attributes.all())
            std::visit([this](const auto& value) { part(value); }, attribute);
    }
    Key take() { return std::move(words_); }

private:
    void word(std::uint64_t w) { words_.push_back(w); }
    void part(std::int64_t i) { word(static_cast<std::uint64_t>(i)); }
    void part(double number) { word(std::bit_cast<std::uint64_t>(number)); }
    void part(DType t) { word(static_cast<std::uint64_t>(t)); }
    void part(const Shape& sizes) { word(sizes.size()); }
    void part(const std::vector<std::int64_t>& all)
    {
        word(all.size());
        for (const std::int64_t i : all) part(i);
    }
    template <class Other> void part(const Other&) {} // sizes, host scalars and user kernels

    Key words_;
};

} // namespace

Reads vjp_reads(const Node& n)
{
    if (n.gradient) return n.gradient->reads(n);
    // Reached where an attribute is a number that changes with each step.
    constexpr std::size_t max_entries = 4096;
    static std::mutex mutex;
    static std::unordered_map<Key, Reads, shape::HashOfWords> cache;
    Key key = KeyOf(n).take();
    {
        std::lock_guard lock(mutex);
        if (auto found = cache.find(key); found != cache.end()) return found->second;
    }
    Reads r = found_reads(n); // without the lock, as this runs an op's code
    std::lock_guard lock(mutex);
    if (cache.size() >= max_entries) cache.clear();
    return cache.insert_or_assign(std::move(key), std::move(r)).first->second;
}

} // namespace reprise::autograd
