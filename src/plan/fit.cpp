// Searches for the values to drop to reach a peak.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "plan/drop.hpp"

namespace reprise::plan {

namespace {

constexpr std::size_t max_candidates = 12;        // candidates per turn, ordered by worth
constexpr std::size_t max_search_steps = 1 << 22; // evaluated by one search strategy
constexpr std::size_t max_rematerialized = 4; // limit on the steps, as a multiple of the number of launches
constexpr std::size_t patience = 60;          // turns without a lower peak before the search ends
constexpr std::size_t small_plan = 24;        // launches
constexpr std::size_t tenure = 7;             // turns for which the drops of a value stay unchanged

bool contains(const DropSet& set, const Drop& drop)
{
    return std::find(set.begin(), set.end(), drop) != set.end();
}
bool drops(const DropSet& set, std::uint32_t value)
{
    return std::any_of(set.begin(), set.end(), [&](const Drop& d) { return d.value == value; });
}

class Search {
public:
    Search(const Plan& plan, const Weights& weights, std::uint64_t budget, const DropSet& required)
        : plan_(plan), weights_(weights), units_(plan), budget_(budget), required_(required)
    {
        for (std::uint32_t v = 0; v < plan.values.size(); ++v) {
            unit_time_.push_back(min_time);
            if (units_.may_drop(v))
                for (const std::uint32_t i : units_.launches(units_.of(v))) unit_time_[v] += weights.time[i];
        }
    }

    DropSet run()
    {
        const Profile first = profile(required_);
        best_ = required_;
        best_peak_ = first.peak;
        best_time_ = first.time;
        search_greedily(required_);
        if (start_next_strategy()) search_greedily(segmented());
        if (start_next_strategy()) drop_all_gaps();
        if (start_next_strategy()) search_tabu(false);
        if (start_next_strategy() && plan_.launches.size() <= small_plan) search_tabu(true);
        return pruned();
    }

private:
    static constexpr double min_time = 1e-9;

    bool searching() const { return best_peak_ > budget_ && steps_ < max_search_steps; }
    bool start_next_strategy()
    {
        steps_ = 0;
        return searching();
    }

    Profile profile(const DropSet& set)
    {
        RematerializedOrder order =
            rematerialized_order(plan_, units_, set, max_rematerialized * plan_.launches.size());
        steps_ += order.steps.size();
        return {plan_, weights_, std::move(order)};
    }
    // Records the set if it has the lowest peak so far or, among sets within the budget, the least time.
    void note(const DropSet& set, const Profile& p)
    {
        const bool both_fit = p.peak <= budget_ && best_peak_ <= budget_;
        if (both_fit ? p.time >= best_time_ : p.peak >= best_peak_) return;
        best_peak_ = p.peak;
        best_time_ = p.time;
        best_ = set;
    }

    // -- greed --
    struct Step {
        DropSet set;
        Profile profile;
    };
    // Rates drops by the bytes above the budget; if this does not lower the peak, by the bytes at the peak.
    void search_greedily(DropSet set)
    {
        Step now{set, profile(set)}, best = now;
        note(now.set, now.profile);
        while (searching()) {
            std::optional<Step> next = with_more_drops(now, budget_);
            if (!next || next->profile.peak >= best.profile.peak)
                next = with_more_drops(best, best.profile.peak - 1);
            if (!next || next->set == now.set) return;
            now = std::move(*next);
            note(now.set, now.profile);
            const std::uint64_t at = best.profile.peak;
            if (now.profile.peak < at ||
                (now.profile.peak == at && now.profile.above(at - 1) < best.profile.above(at - 1)))
                best = now;
        }
    }

    struct Candidate {
        Drop drop;
        std::uint32_t next_use; // the next step that reads it
        double worth;           // bytes per time of the unit alone
    };
    // Returns the drops of values that are live but not accessed at the peak, or computed there for later use.
    std::vector<Candidate> candidates(const Profile& now) const
    {
        std::vector<Candidate> all;
        for (std::uint32_t id = 0; id < now.values(); ++id) {
            const std::uint32_t v = now.original(id);
            if (!units_.may_drop(v)) continue;
            const std::optional<Profile::Gap> gap = now.gap(id, now.peak_at);
            if (!gap) continue;
            const std::uint32_t after = now.step(gap->previous).place,
                                computed = units_.last_place(units_.of(v));
            if (after < computed || after >= now.step(gap->next).place) continue;
            if (gap->previous == now.peak_at && (id != v || after != computed)) continue;
            all.push_back({{v, after}, gap->next, static_cast<double>(weights_.bytes[v]) / unit_time_[v]});
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.worth > b.worth; });
        return all;
    }

    // Adds one drop, or several that only help together; nullopt if none reduces the bytes above the budget.
    std::optional<Step> with_more_drops(const Step& now, std::uint64_t budget)
    {
        const double above = now.profile.above(budget);
        std::optional<Step> best;
        double best_gain = 0;
        std::size_t tried_count = 0;
        for (const Candidate& c : candidates(now.profile)) {
            if ((tried_count++ % max_candidates == 0 && best) || steps_ >= max_search_steps) break;
            for (const bool with_inputs : {false, true}) {
                if (contains(now.set, c.drop)) continue;
                DropSet tried = now.set;
                tried.push_back(c.drop);
                if (with_inputs && !add_inputs(tried, c.next_use, now.profile)) continue;
                Profile then = profile(tried);
                const double gain =
                    (above - then.above(budget)) / std::max(then.time - now.profile.time, min_time);
                if (gain > best_gain) {
                    best_gain = gain;
                    best.emplace(Step{std::move(tried), std::move(then)});
                }
            }
        }
        return best;
    }

    // Adds drops of the inputs of the last drop that are not live until step `next_use`, and of their inputs in turn.
    // Returns false if there are none.
    bool add_inputs(DropSet& set, std::uint32_t next_use, const Profile& now) const
    {
        const std::size_t size_before = set.size();
        for (std::size_t k = size_before - 1; k < set.size(); ++k)
            for (const std::uint32_t i : units_.launches(units_.of(set[k].value)))
                for (const PlanOperand& o : plan_.launches[i].operands) {
                    if (!reads(o) || !units_.may_drop(o.value) || now.lives(o.value, next_use)) continue;
                    const Drop drop{
                        o.value, std::max(set[size_before - 1].after, units_.last_place(units_.of(o.value)))};
                    if (!contains(set, drop)) set.push_back(drop);
                }
        return set.size() > size_before;
    }

    // -- segments: drops all values that wait for a use after the peak, except those that cross a few borders, which
    // lie where the fewest bytes cross (Chen et al., "Training deep nets with sublinear memory cost", 2016) --
    struct Waiting {
        std::uint32_t value, computed, last; // launches; last use up to the peak
    };
    DropSet segmented()
    {
        const Profile now = profile(required_);
        const std::uint32_t peak = now.step(now.peak_at).place;
        const std::vector<Waiting> all = waiting(peak);
        std::vector<std::uint64_t> crossing(std::size_t{peak} + 2,
                                            0); // bytes before each launch; at first the differences
        for (const Waiting& w : all) {
            crossing[w.computed + 1] += weights_.bytes[w.value];
            crossing[w.last + 1] -= weights_.bytes[w.value];
        }
        std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
        DropSet lowest = required_;
        std::uint64_t lowest_peak = std::numeric_limits<std::uint64_t>::max();
        for (const std::uint32_t segments : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
            if (segments > std::max<std::size_t>(all.size(), 1)) break;
            std::vector<std::uint32_t> borders;
            for (std::uint32_t i = 1; i < segments; ++i) {
                const std::uint32_t from = (2 * i - 1) * peak / (2 * segments) + 1,
                                    to = (2 * i + 1) * peak / (2 * segments) + 1;
                borders.push_back(static_cast<std::uint32_t>(
                    std::min_element(crossing.begin() + from, crossing.begin() + std::max(to, from + 1)) -
                    crossing.begin()));
            }
            DropSet set = required_;
            for (const Waiting& w : all)
                if (std::none_of(borders.begin(), borders.end(),
                                 [&](std::uint32_t b) { return w.computed < b && b <= w.last; }))
                    set.push_back({w.value, w.last});
            const Profile p = profile(set);
            if (p.peak >= lowest_peak) continue;
            lowest_peak = p.peak;
            lowest = std::move(set);
        }
        return lowest;
    }
    // Returns the values that are computed and last read up to this launch, and read again later, early enough to be
    // rematerialized.
    std::vector<Waiting> waiting(std::uint32_t peak) const
    {
        std::vector<std::uint32_t> last(plan_.values.size(), no_launch),
            later(plan_.values.size(), no_launch);
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i)
            for (const PlanOperand& o : plan_.launches[i].operands) {
                if (o.absent) continue;
                if (units_.place(i) <= peak) last[o.value] = units_.place(i);
                else if (reads(o)) later[o.value] = units_.place(i);
            }
        std::vector<Waiting> out;
        for (std::uint32_t v = 0; v < last.size(); ++v) {
            if (last[v] == no_launch || later[v] == no_launch || !units_.may_drop(v) || drops(required_, v))
                continue;
            const std::uint32_t computed = units_.last_place(units_.of(v));
            if (computed <= last[v] && later[v] <= units_.deadline(units_.of(v)))
                out.push_back({v, computed, last[v]});
        }
        return out;
    }

    // -- all gaps: drops each value computed up to the peak after each launch that reads it, rematerialized ones
    // included --
    void drop_all_gaps()
    {
        const Profile first = profile(required_);
        const std::uint32_t peak = first.step(first.peak_at).place,
                            end = units_.place(static_cast<std::uint32_t>(plan_.launches.size() - 1));
        const auto is_droppable = [&](std::uint32_t v) {
            return units_.may_drop(v) && units_.last_place(units_.of(v)) <= peak &&
                   units_.deadline(units_.of(v)) >= end && !drops(required_, v);
        };
        std::vector<bool> can_drop;
        for (std::uint32_t v = 0; v < plan_.values.size(); ++v) can_drop.push_back(is_droppable(v));
        std::set<std::pair<std::uint32_t, std::uint32_t>> seen; // value, after
        DropSet set = required_;
        for (bool found_more = true; found_more && searching();) {
            const Profile now = profile(set);
            if (!now.possible()) return;
            note(set, now);
            found_more = false;
            for (std::uint32_t id = 0; id < now.values(); ++id) {
                const std::uint32_t v = now.original(id);
                if (!can_drop[v]) continue;
                const auto at = now.touches(id);
                for (std::size_t k = 1; k < at.size(); ++k) {
                    const Drop drop{v, now.step(at[k - 1]).place};
                    const bool is_gap = at[k] > at[k - 1] + 1 && drop.after < now.step(at[k]).place;
                    if (!is_gap || drop.after < units_.last_place(units_.of(v)) ||
                        !seen.emplace(v, drop.after).second)
                        continue;
                    set.push_back(drop);
                    found_more = true;
                }
            }
        }
    }

    // -- tabu search: moves to the best neighbour at each turn, even a worse one, unless it reverts a recent change --
    struct Score {
        std::uint64_t peak;
        double above, time;
        friend bool operator<(const Score& a, const Score& b)
        {
            return std::tie(a.above, a.peak, a.time) < std::tie(b.above, b.peak, b.time);
        }
    };
    void search_tabu(bool anywhere)
    {
        DropSet set = best_;
        std::vector<std::size_t> free_at(plan_.values.size(), 0); // turn, by value
        std::size_t last_better = 0;
        for (std::size_t turn = 1; turn - last_better <= patience && searching(); ++turn) {
            const std::uint64_t peak_before = best_peak_,
                                aim = std::max(budget_, peak_before - peak_before / 16);
            DropSet next;
            std::uint32_t moved = 0;
            Score lowest{std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<double>::infinity(),
                         0};
            each_neighbour(set, anywhere, [&](DropSet&& to, std::uint32_t value) {
                const Profile p = profile(to);
                note(to, p);
                const Score score{p.peak, p.above(aim), p.time};
                if ((free_at[value] > turn && p.peak >= peak_before) || !(score < lowest)) return;
                lowest = score;
                moved = value;
                next = std::move(to);
            });
            if (best_peak_ < peak_before) last_better = turn;
            if (lowest.peak == std::numeric_limits<std::uint64_t>::max()) continue;
            free_at[moved] = turn + tenure;
            set = std::move(next);
        }
    }

    // Visits the sets with one drop fewer, one more, or one in place of the value's other drops, with the value that
    // differs.
    template <class Visit> void each_neighbour(const DropSet& set, bool anywhere, const Visit& visit)
    {
        const Profile now = profile(set);
        for (std::size_t k = required_.size(); k < set.size() && steps_ < max_search_steps; ++k) {
            DropSet fewer = set;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
            visit(std::move(fewer), set[k].value);
        }
        const auto offer = [&](const Drop& drop, bool instead, const Candidate* with_inputs) {
            DropSet tried = set;
            if (instead)
                std::erase_if(
                    tried, [&](const Drop& d) { return d.value == drop.value && !contains(required_, d); });
            if (contains(tried, drop) || (instead && tried.size() == set.size()) ||
                steps_ >= max_search_steps)
                return;
            tried.push_back(drop);
            if (!with_inputs || add_inputs(tried, with_inputs->next_use, now))
                visit(std::move(tried), drop.value);
        };
        std::vector<Candidate> all = candidates(now);
        if (all.size() > max_candidates) all.resize(max_candidates);
        for (const Candidate& c : all)
            for (const bool instead : {false, true}) {
                offer(c.drop, instead, nullptr);
                offer(c.drop, instead, &c);
            }
        if (!anywhere) return;
        for (std::uint32_t v = 0; v < plan_.values.size(); ++v)
            for (std::uint32_t i = 0; units_.may_drop(v) && i + 1 < plan_.launches.size(); ++i)
                if (units_.place(i) == i && i >= units_.last_place(units_.of(v)))
                    for (const bool instead : {false, true}) offer({v, i}, instead, nullptr);
    }

    // Removes drops that the peak does not need, the most expensive first.
    DropSet pruned()
    {
        DropSet set = best_, order(set.begin() + static_cast<std::ptrdiff_t>(required_.size()), set.end());
        std::stable_sort(order.begin(), order.end(), [&](const Drop& a, const Drop& b) {
            return unit_time_[a.value] > unit_time_[b.value];
        });
        const std::uint64_t peak = std::max(best_peak_, budget_);
        double time = best_time_;
        steps_ = 0;
        for (const Drop& d : order) {
            if (steps_ >= max_search_steps) break;
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
    const DropSet& required_;
    std::vector<double> unit_time_; // by value
    DropSet best_;
    std::uint64_t best_peak_ = 0;
    double best_time_ = 0;
    std::size_t steps_ = 0;
};

} // namespace

DropSet fit(const Plan& plan, const Weights& weights, std::uint64_t budget, const DropSet& required)
{
    return Search(plan, weights, budget, required).run();
}

} // namespace reprise::plan
