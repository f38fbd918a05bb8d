#include "eager/graph_key.hpp"

#include <unordered_map>

#include "execution/storage.hpp"
#include "graph/segment.hpp"

namespace reprise::eager {

using execution::Stored;

namespace {

class KeyBuilder {
public:
    KeyBuilder(const Evaluation& e, GraphKey& key) : e_(e), key_(key), values_(key.values) {}

    void run()
    {
        key_.structure.clear();
        key_.plain = true;
        values_.sizes.clear();
        values_.numbers.clear();
        word(e_.nodes.size());
        for (const graph::Node* n : e_.nodes) add(*n);
        values_.attribute_sizes = values_.sizes.size();
        word(e_.externals.size());
        for (const graph::Value* v : e_.externals) add_external(*v);
        word(e_.results.size());
        for (const graph::Value& v : e_.results) word(std::uint64_t{v.node->mark.index} << 32 | v.index);
    }

    // -- the visitor of visit_attribute() --
    void word(std::uint64_t w) { key_.structure.push_back(w); }
    void size(const Dim& d)
    {
        key_.plain &= d.is_constant();
        size(d.is_constant() ? d.value() : 0);
    }
    // The values 0 and 1 are part of the structure, as there are kernels that leave them out.
    void number(const double& value)
    {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        if (value == 0 || value == 1) word(bits);
        values_.numbers.push_back(bits);
    }
    void source(const std::shared_ptr<const graph::HostScalar>&) { key_.plain = false; }
    // Each call of a user kernel creates a new UserKernel, so its parts are compared.  The address identifies the
    // options, since a compiled graph of the structure keeps them alive.
    void kernel(const std::shared_ptr<const graph::UserKernel>& k)
    {
        word(reinterpret_cast<std::uintptr_t>(k->options.get()));
        word(k->floats.size());
        for (const double f : k->floats) word(std::bit_cast<std::uint64_t>(f));
    }
    void host_call(const std::shared_ptr<const graph::HostCall>& c)
    {
        word(reinterpret_cast<std::uintptr_t>(c.get()));
    }
    // Seeds and ordinals are relative to those of the first random op; all seeds must be equal.
    void drawn(std::size_t draw, const Dim& d)
    {
        const bool is_ordinal = draw + 1 == draws.size(); // the last of `draws`
        std::int64_t& first = values_.drawn[draw];
        key_.plain &= d.is_constant() && d.value() >= 0; // symbols can't be negative
        if (key_.plain) {
            if (!random_) first = d.value();
            word(static_cast<std::uint64_t>(d.value() - first));
            key_.plain &= is_ordinal || d.value() == first;
        }
        random_ |= is_ordinal;
    }

private:
    // A size of 1 is part of the structure: such a dimension broadcasts, and a stride of 1 means elements without gaps.
    void size(std::int64_t n)
    {
        if (n == 1) word(values_.sizes.size());
        values_.sizes.push_back(n);
    }

    void add(const graph::Node& n)
    {
        word(reinterpret_cast<std::uintptr_t>(n.op));
        word(std::uint64_t{n.inputs.size()} << 32 | n.attributes.all().size());
        for (const graph::Value& v : n.inputs) {
            const bool computed = v.node->materialised();
            const std::uint64_t at = computed ? e_.slot_of(v) : v.node->mark.index;
            word(at << 32 | std::uint64_t{v.index} << 1 | (computed ? 1 : 0));
        }
        const bool dynamic = is_dynamic_number(n);
        for (const auto& [name, attribute] : n.attributes.all())
            visit_attribute(name, attribute, dynamic, *this);
        if (n.segment) add_segments(n);
    }

    // Adds the segments that contain the node, innermost first, and whether it belongs to their interiors.
    void add_segments(const graph::Node& n)
    {
        for (const graph::Segment* s = graph::made_in(n); s; s = graph::closed_outer(s)) {
            const std::uint64_t number = segments_.try_emplace(s, segments_.size() + 1).first->second;
            word(number << 2 | (s->saves_compute ? 2 : 0) | (graph::is_interior(*s, n) ? 1 : 0));
        }
        word(0);
    }

    void add_external(const graph::Value& v)
    {
        const graph::TensorType& type = v.type();
        const Stored& s = Stored::of(v);
        word(std::uint64_t{type.shape.size()} << 16 | static_cast<std::uint64_t>(type.dtype) << 1 |
             (s.row_major() ? 1 : 0));
        for (const Dim& d : type.shape) size(d);
        if (s.row_major()) return;
        for (const std::int64_t stride : s.layout->strides) { // a stride of 0 (expand) belongs to it, too
            if (stride == 0) word(~std::uint64_t{values_.sizes.size()});
            size(stride);
        }
        size(s.layout->offset);
    }

    const Evaluation& e_;
    GraphKey& key_;
    DynamicValues& values_;
    bool random_ = false; // whether a random op was visited
    std::unordered_map<const graph::Segment*, std::uint64_t> segments_;
};

} // namespace

bool is_dynamic_number(const graph::Node& n) { return n.op->number && is_floating(n.outputs[0].dtype); }

void make_key(const Evaluation& e, GraphKey& key) { KeyBuilder(e, key).run(); }

} // namespace reprise::eager
