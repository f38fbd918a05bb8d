// Checkpoints: what lies outside of a segment and reads its interior reads clones instead, made by the same launches
// again.  They stand right before their first reader; so the interior itself dies in the forward pass.  A generation is
// what one segment's readers share: clones of its launches and of those nested in it, whose own readers have a
// generation of their own, of the nested segment's inputs as this one has them.
#include <map>
#include <set>
#include <utility>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

class Replay {
public:
    explicit Replay(Compiled& c) : c_(c), plan_(c.plan)
    {
        for (PlanValue& v : plan_.values)
            if (v.place != Place::temporary) v.segment = no_segment; // it stays
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
                if (reads(o) && !visible(o.value, l.segment)) o.value = again(o.value, segment_of(o.value));
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
    // To launches of this segment as it is.
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

    std::uint32_t again(std::uint32_t value, std::uint32_t generation)
    {
        replay(written_by_[value], generation);
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

    // All launches of a node: what they keep between them is theirs alone.
    void replay(std::uint32_t node, std::uint32_t generation)
    {
        if (!replayed_.insert({generation, node}).second) return;
        std::map<std::uint32_t, std::uint32_t> moved;
        for (const std::uint32_t i : launches_of_[node]) {
            PlanLaunch l = plan_.launches[i];
            for (PlanOperand& o : l.operands) {
                if (o.absent) continue;
                const std::uint32_t s = segment_of(o.value);
                if (written_by_[o.value] == node) o.value = clone(o.value, generation);
                else if (written_by_[o.value] != no_node && s != no_segment)
                    o.value = again(o.value, within(s, generation) ? generation : s);
            }
            l.replay = generation + 1;
            l.label += ", again";
            if (l.fallback_of != no_launch) l.fallback_of = moved.at(l.fallback_of);
            moved[i] = emit(std::move(l));
        }
    }

    Compiled& c_;
    Plan& plan_;
    std::vector<std::uint32_t> written_by_;                           // by value: a node of a segment
    std::map<std::uint32_t, std::vector<std::uint32_t>> launches_of_; // by node
    std::map<InGeneration, std::uint32_t> clones_;                    // of values
    std::set<InGeneration> replayed_;                                 // nodes
    std::vector<PlanLaunch> out_;
};

} // namespace

void replay_segments(Compiled& c)
{
    if (!c.plan.segments.empty()) Replay(c).run();
}

} // namespace reprise::plan
