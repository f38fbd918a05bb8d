// Runs updates of state, such as an optimizer's, as soon as their gradients exist and nothing reads the old value any
// more, instead of at the end of the step.  So a gradient's memory is free for what the rest of the backward pass
// computes.
#include <algorithm>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

// A launch that can be batched (ops::LaunchSpec) and its fallbacks.
struct Update {
    std::size_t begin, end;
    std::size_t to; // the launch before which it can run
};

class Advance {
public:
    explicit Advance(Plan& p) : plan_(p), touched_(launches_by_value(p, touches)) {}

    void run()
    {
        std::vector<Update> moving;
        for (std::size_t i = 0, end = 0; i < plan_.launches.size(); i = end) {
            end = end_of_fallbacks(plan_, i);
            Update u{i, end, i};
            if (!frees_memory(u)) continue;
            u.to = earliest(u);
            if (u.to < i) moving.push_back(u);
        }
        std::stable_sort(moving.begin(), moving.end(),
                         [](const Update& a, const Update& b) { return a.to < b.to; });
        if (!moving.empty()) move(moving);
    }

private:
    template <class F> bool any(const Update& u, const F& f) const
    {
        for (std::size_t k = u.begin; k < u.end; ++k)
            for (const PlanOperand& o : plan_.launches[k].operands)
                if (!o.absent && f(o)) return true;
        return false;
    }

    // Whether temporaries are used for the last time, and none for the first time.
    bool frees_memory(const Update& u) const
    {
        const auto is_temporary = [&](const PlanOperand& o) {
            return plan_.values[o.value].place == Place::temporary;
        };
        return plan_.launches[u.begin].batches &&
               any(u,
                   [&](const PlanOperand& o) {
                       return is_temporary(o) && touched_[o.value].back() < u.end;
                   }) &&
               !any(u, [&](const PlanOperand& o) {
                   return is_temporary(o) && touched_[o.value].front() >= u.begin;
               });
    }

    // Returns the launch before which the update can run: from the last one that it conflicts with on, the first that
    // begins an epoch in any case. There is a conflict, with the writer of the gradient. Fallbacks have the operands of
    // the launches that they replace.
    std::size_t earliest(const Update& u) const
    {
        std::size_t after = 0;
        any(u, [&](const PlanOperand& o) {
            const auto& all = touched_[o.value];
            for (auto k = std::lower_bound(all.begin(), all.end(), u.begin); k != all.begin();)
                if (conflict(plan_.launches[*--k], plan_.launches[u.begin])) {
                    after = std::max<std::size_t>(after, *k + 1);
                    break;
                }
            return false;
        });
        std::size_t to = after;
        const auto begins_epoch = [&] {
            for (std::size_t k = after - 1; k < to; ++k)
                if (conflict(plan_.launches[k], plan_.launches[to])) return true;
            return false;
        };
        while (to < u.begin && (plan_.launches[to].fallback_of != no_launch || !begins_epoch())) ++to;
        return to;
    }

    void move(const std::vector<Update>& moving)
    {
        std::vector<bool> is_moving(plan_.launches.size(), false);
        for (const Update& u : moving)
            for (std::size_t k = u.begin; k < u.end; ++k) is_moving[k] = true;
        std::vector<std::uint32_t> order;
        auto next = moving.begin();
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
            for (; next != moving.end() && next->to <= i; ++next)
                for (std::size_t k = next->begin; k < next->end; ++k)
                    order.push_back(static_cast<std::uint32_t>(k));
            if (!is_moving[i]) order.push_back(i);
        }
        reorder(plan_, order);
    }

    Plan& plan_;
    LaunchesByValue touched_;
};

} // namespace

void advance_updates(Plan& plan) { Advance(plan).run(); }

} // namespace reprise::plan
