// Activation checkpointing: launches outside of a segment that read its interior read clones, computed again by clones
// of the same launches. The clones are placed right before their first reader, so the interior itself dies in the
// forward pass. A generation is the set of clones that the readers of one segment share: clones of its launches and of
// those in nested segments. Readers of a nested segment's interior have a generation of their own, whose inputs come
// from the outer one.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

class Recompute {
public:
    explicit Recompute(Compiled& c) : c_(c), plan_(c.plan)
    {
        for (PlanValue& v : plan_.values)
            if (v.place != Place::temporary) v.segment = no_segment; // outputs and externals stay live
        written_by_.resize(plan_.values.size(), no_node);
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
            const PlanLaunch& l = plan_.launches[i];
            if (l.segment == no_segment) continue;
            launches_of_[l.node].push_back(i);
            for (const PlanOperand& o : l.operands)
                if (writes(o)) written_by_[o.value] = l.node;
        }
    }

    void run()
    {
        std::vector<std::uint32_t> moved(plan_.launches.size());
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
            PlanLaunch l = plan_.launches[i];
            for (PlanOperand& o : l.operands)
                if (reads(o) && !visible(o.value, l.segment))
                    o.value = recomputed_value(o.value, segment_of(o.value));
            if (l.fallback_of != no_launch) l.fallback_of = moved[l.fallback_of];
            moved[i] = emit(std::move(l));
        }
        for (std::uint32_t& i : c_.state_copies) i = i < moved.size() ? moved[i] : i;
        plan_.launches = std::move(out_);
    }

private:
    static constexpr std::uint32_t no_node = 0xFFFFFFFF;
    using InGeneration = std::pair<std::uint32_t, std::uint32_t>; // of a segment; a value or a node

    std::uint32_t segment_of(std::uint32_t value) const { return plan_.values[value].segment; }
    bool within(std::uint32_t s, std::uint32_t outer) const
    {
        while (s != outer && s != no_segment) s = plan_.segments[s];
        return s == outer;
    }
    // Returns whether launches of this segment may read the original value.
    bool visible(std::uint32_t value, std::uint32_t segment) const
    {
        return written_by_[value] == no_node || segment_of(value) == no_segment ||
               within(segment, segment_of(value));
    }

    std::uint32_t emit(PlanLaunch l)
    {
        out_.push_back(std::move(l));
        return static_cast<std::uint32_t>(out_.size() - 1);
    }

    std::uint32_t recomputed_value(std::uint32_t value, std::uint32_t generation)
    {
        recompute({generation, written_by_[value]});
        return clone(value, generation);
    }

    std::uint32_t clone(std::uint32_t value, std::uint32_t generation)
    {
        const auto [found, fresh] = clones_.try_emplace({generation, value}, plan_.values.size());
        if (fresh) {
            PlanValue v = plan_.values[value];
            v.place = Place::temporary;
            v.segment = no_segment;
            v.name += " again";
            plan_.values.push_back(std::move(v));
            written_by_.push_back(no_node);
        }
        return found->second;
    }

    // Returns the generation from which a node of a generation reads this value; no_segment: it reads the original.
    std::uint32_t generation_of(std::uint32_t value, InGeneration reader) const
    {
        const std::uint32_t s = segment_of(value);
        if (written_by_[value] == reader.second) return reader.first;
        if (written_by_[value] == no_node || s == no_segment) return no_segment;
        return within(s, reader.first) ? reader.first : s;
    }

    // Clones the node and all nodes that it depends on and that have no clones yet. All launches of a node are cloned,
    // as their temporaries belong to the node alone. In the original order, inputs come before their readers.
    void recompute(InGeneration wanted)
    {
        std::vector<InGeneration> stack;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> order; // a launch and its generation
        const auto visit = [&](InGeneration node) {
            if (recomputed_.insert(node).second) stack.push_back(node);
        };
        visit(wanted);
        while (!stack.empty()) {
            const InGeneration node = stack.back();
            stack.pop_back();
            for (const std::uint32_t i : launches_of_[node.second]) {
                order.emplace_back(i, node.first);
                for (const PlanOperand& o : plan_.launches[i].operands)
                    if (!o.absent)
                        if (const std::uint32_t g = generation_of(o.value, node); g != no_segment)
                            visit({g, written_by_[o.value]});
            }
        }
        std::sort(order.begin(), order.end());
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> moved;
        for (const auto& [i, generation] : order) {
            PlanLaunch l = plan_.launches[i];
            for (PlanOperand& o : l.operands)
                if (!o.absent)
                    if (const std::uint32_t g = generation_of(o.value, {generation, l.node}); g != no_segment)
                        o.value = clone(o.value, g);
            l.recomputation = generation + 1;
            l.label += ", again";
            if (l.fallback_of != no_launch) l.fallback_of = moved.at({l.fallback_of, generation});
            moved[{i, generation}] = emit(std::move(l));
        }
    }

    Compiled& c_;
    Plan& plan_;
    std::vector<std::uint32_t> written_by_;                           // by value: node within a segment
    std::map<std::uint32_t, std::vector<std::uint32_t>> launches_of_; // by node
    std::map<InGeneration, std::uint32_t> clones_;                    // plan value, by generation and value
    std::set<InGeneration> recomputed_;                               // nodes
    std::vector<PlanLaunch> out_;
};

} // namespace

void recompute_segments(Compiled& c)
{
    if (!c.plan.segments.empty()) Recompute(c).run();
}

} // namespace reprise::plan
