// Repeats casts for readers that come much later, where the source needs less memory than the result in between: where
// it is f16 or bf16 and the result f32, and where a recomputation casts state, such as a weight under autocast.  A cast
// costs little, and next to an elementwise reader nothing, as both are fused.
#include <algorithm>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

// A reader comes late if at least this many launches are between it and the previous reader or the cast, without
// fallbacks.
constexpr std::uint32_t max_distance = 8;
// A value that is read again and again, as by the steps of a recurrence, is not cast for each of them.
constexpr std::size_t max_repeats = 2;

class RepeatCasts {
public:
    explicit RepeatCasts(Plan& p)
        : plan_(p), read_(launches_by_value(p, reads)), written_(launches_by_value(p, writes))
    {
        std::uint32_t number = 0;
        for (const PlanLaunch& l : p.launches)
            number_.push_back(l.fallback_of == no_launch ? number++ : number - 1);
    }

    void run()
    {
        std::vector<std::pair<std::uint32_t, PlanLaunch>> casts; // each with the launch that it goes before
        const auto count = static_cast<std::uint32_t>(plan_.launches.size());
        for (std::uint32_t i = 0; i < count; ++i)
            if (may_repeat(i)) repeat(i, casts);
        if (!casts.empty()) insert(casts);
    }

private:
    // Whether the launch is a cast whose source needs less memory than its result.
    bool may_repeat(std::uint32_t i) const
    {
        const PlanLaunch& l = plan_.launches[i];
        if (!casts_whole_value(plan_, l)) return false;
        const PlanValue &source = plan_.values[l.operands[0].value],
                        &result = plan_.values[l.operands[1].value];
        return result.place == Place::temporary && written_[l.operands[1].value].size() == 1 &&
               (size_of(source.dtype) < size_of(result.dtype) ||
                (source.place == Place::external && l.recomputation != 0));
    }
    bool is_written_between(std::uint32_t value, std::uint32_t from, std::uint32_t to) const
    {
        const auto& all = written_[value];
        const auto next = std::upper_bound(all.begin(), all.end(), from);
        return next != all.end() && *next < to;
    }

    // Returns the launch before which a cast for the reader goes: right after the last one that the reader waits for,
    // so that the cast needs no epoch of its own, unless that is far away.
    std::uint32_t place_before(std::uint32_t reader, std::uint32_t result) const
    {
        PlanLaunch others = plan_.launches[reader];
        std::erase_if(others.operands, [&](const PlanOperand& o) { return o.value == result; });
        std::uint32_t at = reader;
        while (number_[reader] - number_[at] <= max_distance && !conflict(plan_.launches[at - 1], others))
            --at;
        if (number_[reader] - number_[at] > max_distance) return reader;
        while (plan_.launches[at].fallback_of != no_launch) ++at;
        return at;
    }

    // Gives readers that come late a value of their own, and finds the casts that compute it.
    void repeat(std::uint32_t i, std::vector<std::pair<std::uint32_t, PlanLaunch>>& casts)
    {
        const std::uint32_t source = plan_.launches[i].operands[0].value,
                            result = plan_.launches[i].operands[1].value;
        std::uint32_t now = result, previous = i;
        std::size_t repeats = 0;
        for (const std::uint32_t reader : read_[result]) {
            PlanLaunch& l = plan_.launches[reader];
            if (is_written_between(source, i, reader)) return;
            if (number_[reader] > number_[previous] + max_distance && repeats++ < max_repeats) {
                now = static_cast<std::uint32_t>(plan_.values.size());
                PlanValue again = plan_.values[result];
                again.name += " again";
                plan_.values.push_back(std::move(again));
                PlanLaunch cast = plan_.launches[i];
                cast.operands[1].value = now;
                cast.recomputation = l.recomputation != 0 ? l.recomputation : PlanLaunch::of_budget;
                cast.label += ", again";
                casts.emplace_back(place_before(reader, result), std::move(cast));
            }
            for (PlanOperand& o : l.operands)
                if (o.value == result && reads(o)) o.value = now;
            previous = reader;
        }
    }

    void insert(std::vector<std::pair<std::uint32_t, PlanLaunch>>& casts)
    {
        std::stable_sort(casts.begin(), casts.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<std::uint32_t> order;
        const std::size_t before = plan_.launches.size();
        for (std::uint32_t i = 0, next = 0; i < before; ++i) {
            for (; next < casts.size() && casts[next].first == i; ++next) {
                order.push_back(static_cast<std::uint32_t>(plan_.launches.size()));
                plan_.launches.push_back(std::move(casts[next].second));
            }
            order.push_back(i);
        }
        reorder(plan_, order);
    }

    Plan& plan_;
    LaunchesByValue read_, written_;
    std::vector<std::uint32_t> number_; // of each launch, counted without fallbacks
};

} // namespace

void repeat_casts(Plan& plan) { RepeatCasts(plan).run(); }

} // namespace reprise::plan
