// Which values to drop for a peak.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "plan/drop.hpp"

namespace reprise::plan {

namespace {

constexpr std::size_t most_tried = 12;      // values at a turn, the most worth
constexpr std::size_t most_steps = 1 << 21; // looked at in all
constexpr std::size_t patience = 60;        // turns without a lower peak
constexpr std::size_t small_plan = 24;      // launches
constexpr std::size_t tenure = 7;           // turns for which a value stays as it is

bool holds(const DropSet& set, std::uint32_t value)
{
    return std::any_of(set.begin(), set.end(), [&](const Drop& d) { return d.value == value; });
}

class Search {
public:
    Search(const Plan& plan, const Weights& weights, std::uint64_t budget, const DropSet& kept)
        : plan_(plan), weights_(weights), units_(plan), budget_(budget), kept_(kept)
    {
        for (std::uint32_t v = 0; v < plan.values.size(); ++v) {
            unit_time_.push_back(least_time);
            if (units_.may_drop(v))
                for (const std::uint32_t i : units_.launches(units_.of(v))) unit_time_[v] += weights.time[i];
        }
    }

    DropSet run()
    {
        best_ = kept_;
        best_peak_ = profile(best_).peak;
        descend(kept_);
        if (best_peak_ > budget_) {
            divide();
            descend(best_);
        }
        if (best_peak_ > budget_) wander(false);
        if (best_peak_ > budget_ && plan_.launches.size() <= small_plan) wander(true);
        return pruned(best_, std::max(best_peak_, budget_));
    }

private:
    static constexpr double least_time = 1e-9;

    Profile profile(const DropSet& set)
    {
        Remade order = remake(plan_, units_, set);
        steps_ += order.steps.size();
        return {plan_, weights_, std::move(order)};
    }
    void note(const DropSet& set, const Profile& p)
    {
        if (p.peak >= best_peak_) return;
        best_peak_ = p.peak;
        best_ = set;
    }

    // -- greed --
    void descend(DropSet set)
    {
        while (best_peak_ > budget_) {
            Profile now = profile(set);
            DropSet next = more(set, now, budget_);
            if (next.empty() || profile(next).peak >= best_peak_)
                next = more(best_, profile(best_), best_peak_ - 1);
            if (next.empty() || next == set) return;
            set = std::move(next);
            note(set, profile(set));
        }
    }

    struct Candidate {
        Drop drop;
        std::uint32_t behind; // the step that reads it next
        double worth;         // bytes for the time of the unit alone
    };
    // What is idle at the peak, or made there for later.
    std::vector<Candidate> candidates(const Profile& now) const
    {
        std::vector<Candidate> all;
        for (std::uint32_t v = 0; v < plan_.values.size(); ++v) {
            if (!units_.may_drop(v)) continue;
            const std::optional<Profile::Gap> gap = now.gap(v, now.peak_at);
            if (!gap) continue;
            const std::uint32_t after = now.step(gap->before).place, made = units_.last_place(units_.of(v));
            if (after < made || (gap->before == now.peak_at && after != made)) continue;
            all.push_back({{v, after}, gap->behind, static_cast<double>(weights_.bytes[v]) / unit_time_[v]});
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.worth > b.worth; });
        if (all.size() > most_tried) all.resize(most_tried);
        return all;
    }

    // With one more drop, or several that need each other; empty: none helps.
    DropSet more(const DropSet& set, const Profile& now, std::uint64_t budget)
    {
        const double above = now.above(budget);
        DropSet best;
        double most = 0;
        for (const Candidate& c : candidates(now))
            for (const bool with_inputs : {false, true}) {
                if (holds(set, c.drop.value)) continue;
                DropSet tried = set;
                tried.push_back(c.drop);
                if (with_inputs && !add_inputs(tried, c.behind, now)) continue;
                const Profile then = profile(tried);
                const double gain = (above - then.above(budget)) / std::max(then.time - now.time, least_time);
                if (gain > most) {
                    most = gain;
                    best = std::move(tried);
                }
            }
        return best;
    }

    // What the last drop is made of and nobody keeps until step `behind`, and so on; false where that is nothing.
    bool add_inputs(DropSet& set, std::uint32_t behind, const Profile& now) const
    {
        const std::size_t before = set.size();
        for (std::size_t k = before - 1; k < set.size(); ++k)
            for (const std::uint32_t i : units_.launches(units_.of(set[k].value)))
                for (const PlanOperand& o : plan_.launches[i].operands)
                    if (reads(o) && units_.may_drop(o.value) && !holds(set, o.value) &&
                        !now.lives(o.value, behind))
                        set.push_back({o.value, std::max(set[before - 1].after,
                                                         units_.last_place(units_.of(o.value)))});
        return set.size() > before;
    }

    // -- segments: up to the peak all goes that waits there, but for what crosses a few borders (Chen et al., "Training deep
    // nets with sublinear memory cost", 2016), each where least crosses --
    struct Waiting {
        std::uint32_t value, made, last; // launches; up to the peak
    };
    void divide()
    {
        const Profile now = profile(kept_);
        const std::uint32_t peak = now.step(now.peak_at).place;
        const std::vector<Waiting> all = waiting(peak);
        std::vector<std::uint64_t> crossing(std::size_t{peak} + 2,
                                            0); // bytes, in front of each launch; first its changes
        for (const Waiting& w : all) {
            crossing[w.made + 1] += weights_.bytes[w.value];
            crossing[w.last + 1] -= weights_.bytes[w.value];
        }
        std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
        for (const std::uint32_t segments : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
            if (segments > std::max<std::size_t>(all.size(), 1)) return;
            std::vector<std::uint32_t> borders;
            for (std::uint32_t i = 1; i < segments; ++i) {
                const std::uint32_t from = (2 * i - 1) * peak / (2 * segments) + 1,
                                    to = (2 * i + 1) * peak / (2 * segments) + 1;
                borders.push_back(static_cast<std::uint32_t>(
                    std::min_element(crossing.begin() + from, crossing.begin() + std::max(to, from + 1)) -
                    crossing.begin()));
            }
            DropSet set = kept_;
            for (const Waiting& w : all)
                if (std::none_of(borders.begin(), borders.end(),
                                 [&](std::uint32_t b) { return w.made < b && b <= w.last; }))
                    set.push_back({w.value, w.last});
            note(set, profile(set));
        }
    }
    // What is made and read before this launch, and read behind it.
    std::vector<Waiting> waiting(std::uint32_t peak) const
    {
        std::vector<std::uint32_t> last(plan_.values.size(), no_launch);
        std::vector<bool> read_later(plan_.values.size(), false);
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i)
            for (const PlanOperand& o : plan_.launches[i].operands) {
                if (o.absent) continue;
                if (units_.place(i) <= peak) last[o.value] = units_.place(i);
                else if (reads(o)) read_later[o.value] = true;
            }
        std::vector<Waiting> out;
        for (std::uint32_t v = 0; v < last.size(); ++v) {
            if (last[v] == no_launch || !read_later[v] || !units_.may_drop(v) || holds(kept_, v)) continue;
            const std::uint32_t made = units_.last_place(units_.of(v));
            if (made <= last[v]) out.push_back({v, made, last[v]});
        }
        return out;
    }

    // -- tabu search: the best neighbour at each turn, even where it is worse, unless it undoes what was done lately --
    struct Score {
        std::uint64_t peak;
        double above, time;
        friend bool operator<(const Score& a, const Score& b)
        {
            return std::tie(a.peak, a.above, a.time) < std::tie(b.peak, b.above, b.time);
        }
    };
    void wander(bool anywhere)
    {
        DropSet set = best_;
        std::vector<std::size_t> free_at(plan_.values.size(), 0); // turn, by value
        std::size_t last_better = 0;
        for (std::size_t turn = 1; turn - last_better <= patience && steps_ < most_steps; ++turn) {
            const std::uint64_t budget = std::max(budget_, best_peak_ - 1);
            DropSet next;
            std::uint32_t moved = 0;
            Score least{std::numeric_limits<std::uint64_t>::max(), 0, 0};
            for (auto& [to, value] : neighbours(set, profile(set), anywhere)) {
                const Profile p = profile(to);
                const Score score{p.peak, p.above(budget), p.time};
                if ((free_at[value] > turn && p.peak >= best_peak_) || !(score < least)) continue;
                least = score;
                moved = value;
                next = std::move(to);
            }
            if (least.peak == std::numeric_limits<std::uint64_t>::max()) continue;
            free_at[moved] = turn + tenure;
            if (least.peak < best_peak_) {
                best_peak_ = least.peak;
                best_ = next;
                last_better = turn;
                if (best_peak_ <= budget_) return;
            }
            set = std::move(next);
        }
    }

    // Each with the value that differs.
    std::vector<std::pair<DropSet, std::uint32_t>> neighbours(const DropSet& set, const Profile& now,
                                                              bool anywhere) const
    {
        std::vector<std::pair<DropSet, std::uint32_t>> out;
        for (std::size_t k = kept_.size(); k < set.size(); ++k) {
            DropSet fewer = set;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
            out.emplace_back(std::move(fewer), set[k].value);
        }
        const auto with = [&](const Drop& drop) {
            DropSet tried = set;
            std::erase_if(tried, [&](const Drop& d) { return d.value == drop.value; });
            tried.push_back(drop);
            return tried;
        };
        for (const Candidate& c : candidates(now))
            for (const bool with_inputs : {false, true}) {
                if (holds(kept_, c.drop.value)) continue;
                DropSet tried = with(c.drop);
                if (!with_inputs || add_inputs(tried, c.behind, now))
                    out.emplace_back(std::move(tried), c.drop.value);
            }
        if (anywhere)
            for (std::uint32_t v = 0; v < plan_.values.size(); ++v)
                for (std::uint32_t i = 0; units_.may_drop(v) && i + 1 < plan_.launches.size(); ++i)
                    if (units_.place(i) >= units_.last_place(units_.of(v)) && !holds(kept_, v))
                        out.emplace_back(with({v, i}), v);
        return out;
    }

    // Without drops that the peak does not need, the dearest first.
    DropSet pruned(DropSet set, std::uint64_t peak)
    {
        DropSet order(set.begin() + static_cast<std::ptrdiff_t>(kept_.size()), set.end());
        std::stable_sort(order.begin(), order.end(), [&](const Drop& a, const Drop& b) {
            return unit_time_[a.value] > unit_time_[b.value];
        });
        double time = profile(set).time;
        for (const Drop& d : order) {
            DropSet fewer = set;
            std::erase(fewer, d);
            if (const Profile p = profile(fewer); p.peak <= peak && p.time <= time) {
                time = p.time;
                set = std::move(fewer);
            }
        }
        return set;
    }

    const Plan& plan_;
    const Weights& weights_;
    Units units_;
    std::uint64_t budget_;
    const DropSet& kept_;
    std::vector<double> unit_time_; // by value
    DropSet best_;
    std::uint64_t best_peak_ = 0;
    std::size_t steps_ = 0;
};

} // namespace

DropSet fit(const Plan& plan, const Weights& weights, std::uint64_t budget, const DropSet& kept)
{
    return Search(plan, weights, budget, kept).run();
}

} // namespace reprise::plan
