#include "graph/segment.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace reprise::graph {

const Segment* made_in(const Node& n)
{
    const Segment* s = n.segment.get();
    return !s || s->closed ? s : closed_outer(s);
}

bool is_interior(const Segment& s, const Node& n)
{
    return std::binary_search(s.interior.begin(), s.interior.end(), n.id) &&
           !(s.saves_compute && n.op->cost == Cost::compute);
}

const Segment* interior_of(const Node& n)
{
    const Segment* s = made_in(n);
    while (s && !is_interior(*s, n)) s = closed_outer(s);
    return s;
}

SegmentScope::SegmentScope(bool saves_compute, std::string layer) : segment_(std::make_shared<Segment>())
{
    if (current_segment()) segment_->outer = current_segment()->shared_from_this();
    segment_->saves_compute = saves_compute;
    segment_->layer = std::move(layer);
    current_segment() = segment_.get();
}

SegmentScope::~SegmentScope()
{
    current_segment() = outer();
    if (Segment* outer = current_segment())
        outer->nodes.insert(outer->nodes.end(), segment_->nodes.begin(), segment_->nodes.end());
    segment_->nodes = {}; // as weak pointers to nodes from make_shared prevent their memory from being freed
}

namespace {

// Returns the nodes of these values and, where these are views, the nodes of their bases.
std::unordered_set<const Node*> nodes_and_bases(const std::vector<Value>& outputs)
{
    std::unordered_set<const Node*> retained;
    for (const Value& v : outputs)
        for (const Value* at = &v; at; at = view_base(*at)) retained.insert(at->node.get());
    return retained;
}

} // namespace

void SegmentScope::close(const std::vector<Value>& outputs)
{
    std::vector<std::shared_ptr<const Node>> created;
    std::unordered_map<const Node*, long> inside; // number of references from nodes of the segment
    for (const auto& weak : segment_->nodes)
        if (auto n = weak.lock()) {
            inside[n.get()] = 0;
            created.push_back(std::move(n));
        }
    for (const auto& n : created)
        for (const Value& v : n->inputs)
            if (const auto found = inside.find(v.node.get()); found != inside.end()) ++found->second;
    std::vector<Value> given = outputs;
    const auto from_elsewhere = [](const Node& n) {
        return std::any_of(n.inputs.begin(), n.inputs.end(),
                           [&](const Value& v) { return v.node->evaluator != n.evaluator; });
    };
    for (const auto& n : created) // also nodes referred to from outside, or with inputs on other devices
        if (n.use_count() > inside[n.get()] + 1 || from_elsewhere(*n))
            for (std::uint32_t i = 0; i < n->outputs.size(); ++i) given.push_back({n, i});
    const std::unordered_set<const Node*> retained = nodes_and_bases(given);
    const std::vector<const Node*> found =
        ancestors(outputs, [&](const Node& n) { return inside.count(&n) != 0; });
    const std::unordered_set<const Node*> used(found.begin(), found.end());
    std::unordered_map<Evaluator*, std::vector<const Node*>> interior;
    for (const auto& n : created) {
        if (!used.count(n.get())) segment_->effects.push_back(n);
        else if (!retained.count(n.get()) && n->op) {
            segment_->interior.push_back(n->id);
            if (!(segment_->saves_compute && n->op->cost == Cost::compute))
                interior[n->evaluator.get()].push_back(n.get());
        }
    }
    std::sort(segment_->interior.begin(), segment_->interior.end());
    segment_->closed = true;
    for (const auto& [evaluator, nodes] : interior) evaluator->discard(nodes);
}

std::shared_ptr<Segment> SegmentCopies::of(const Segment* s)
{
    if (!s) return outer_ ? outer_->shared_from_this() : nullptr;
    if (const auto found = copies_.find(s); found != copies_.end()) return found->second;
    auto copy = std::make_shared<Segment>();
    copy->outer = of(closed_outer(s));
    copy->saves_compute = s->saves_compute;
    copy->layer = s->layer;
    return copies_[s] = copy;
}

void SegmentCopies::copied(const Node& from, const Node& to)
{
    for (const Segment* s = made_in(from); s; s = closed_outer(s))
        if (is_interior(*s, from)) of(s)->interior.push_back(to.id);
}

void SegmentCopies::close()
{
    for (const auto& [segment, copy] : copies_) {
        if (outer_) outer_->nodes.insert(outer_->nodes.end(), copy->nodes.begin(), copy->nodes.end());
        copy->nodes.clear();
        copy->closed = true;
    }
}

} // namespace reprise::graph
