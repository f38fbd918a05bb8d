#include "execution/budget.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <reprise/error.hpp>

#include "plan/drop.hpp"

namespace reprise::execution {

namespace {

constexpr double flops_per_byte =
    10; // ratio of arithmetic throughput to memory bandwidth, similar for CPUs and GPUs
constexpr double launch_overhead = 65536; // in bytes that the device could move in this time
constexpr std::size_t max_sets = 4;
constexpr std::int64_t max_size = std::int64_t{1} << 24; // upper bound for symbols without a smaller one
constexpr int max_corrections = 4;

// Searches sets of drops for one request; each candidate is compiled to an executable to measure its memory.
class Search {
public:
    Search(const plan::Request& request, const Budget& budget, std::shared_ptr<device::Device> device,
           Executable::Purpose purpose)
        : request_(request), budget_(budget), device_(std::move(device)), purpose_(purpose),
          draft_(plan::draft(request)), units_(draft_.plan)
    {
        for (const plan::PlanValue& v : draft_.plan.values) elements_.push_back(program_.add(v.elements));
        for (const plan::PlanLaunch& l : draft_.plan.launches) {
            flops_.push_back(program_.add(l.flops));
            groups_.push_back(program_.add(l.groups));
        }
    }

    std::vector<std::unique_ptr<Executable>> run()
    {
        whole_ = executable_of({});
        if (budget_.check) budget_.check(*whole_);
        if (!budget_.sizes.empty()) return for_all_sizes();
        if (fits(*whole_, 1)) out_.push_back(std::move(whole_));
        else {
            Candidate c = best_at(1, {});
            require(c.peak, 1);
            out_.push_back(std::move(c.executable));
        }
        return std::move(out_);
    }

private:
    struct Candidate {
        plan::DropSet drops;
        std::unique_ptr<Executable> executable;
        std::uint64_t peak = 0; // bytes
        double time = 0;        // added by recomputation
        bool reached = false;   // whether the drops reach the requested size of the arena
    };

    // -- sizes: one number for all symbols, rounded to the nearest legal value of each --

    // Returns the values by position.  Symbols that are no sizes are counters, with the value 0.
    std::vector<std::int64_t> values_of(const std::vector<std::uint32_t>& symbols, std::int64_t size) const
    {
        std::vector<std::int64_t> out;
        for (const std::uint32_t id : symbols) {
            const auto s = std::find_if(budget_.sizes.begin(), budget_.sizes.end(),
                                        [&](const shape::SymbolPtr& p) { return p->id == id; });
            out.push_back(s == budget_.sizes.end() ? 0 : (*s)->nearest(size));
        }
        return out;
    }
    // Returns none where no call can have such sizes: a value would have a negative size, or a divisor would be 0.
    std::optional<std::uint64_t> peak(const Executable& e, std::int64_t size) const
    {
        try {
            return e.peak_bytes(values_of(e.symbols(), size));
        } catch (const Error&) {
            return std::nullopt;
        }
    }
    bool fits(const Executable& e, std::int64_t size) const
    {
        const std::optional<std::uint64_t> bytes = peak(e, size);
        return bytes && *bytes <= budget_.bytes;
    }
    // Returns the smallest legal power of two; none: no power of two is legal.
    std::optional<std::int64_t> smallest() const
    {
        for (std::int64_t size = 1; size <= max_size; size *= 2)
            if (peak(*whole_, size)) return size;
        return std::nullopt;
    }
    // Returns the size from which on every symbol is at the upper bound of its range.
    std::int64_t largest() const
    {
        std::int64_t size = 1;
        for (const shape::SymbolPtr& s : budget_.sizes)
            size = std::max(size, std::min(s->range.high, max_size));
        return size;
    }
    // Returns the largest size that fits, by bisection from `from`; 0: `from` does not fit.
    std::int64_t largest_that_fits(const Executable& e, std::int64_t from) const
    {
        const std::int64_t limit = largest();
        if (!fits(e, from)) return 0;
        if (fits(e, limit)) return limit;
        std::int64_t good = from, bad = limit;
        for (std::int64_t next = 2 * from; next < limit && bad == limit; next *= 2)
            (fits(e, next) ? good : bad) = next;
        while (bad - good > 1) {
            const std::int64_t middle = good + (bad - good) / 2;
            (fits(e, middle) ? good : bad) = middle;
        }
        return good;
    }

    void require(std::uint64_t bytes, std::int64_t size) const
    {
        if (bytes <= budget_.bytes) return;
        std::string at;
        for (const shape::SymbolPtr& s : budget_.sizes)
            at += (at.empty() ? " at (" : ", ") + s->name + " = " + std::to_string(s->nearest(size));
        detail::fail(ErrorKind::out_of_memory, budget_.caller, "The memory budget is (", budget_.bytes,
                     ") bytes, but the least that was found", at, at.empty() ? "" : ")", " is (", bytes,
                     "): raise it.");
    }

    // -- sets --

    std::unique_ptr<Executable> executable_of(const plan::DropSet& drops) const
    {
        plan::Compiled c = draft_;
        plan::rematerialize(c.plan, drops);
        plan::finish(c, request_);
        return std::make_unique<Executable>(std::move(c), device_, purpose_);
    }
    plan::Weights weights(std::int64_t size) const
    {
        std::vector<std::int64_t> values;
        program_.evaluate(values_of(program_.symbols(), size), values);
        plan::Weights w;
        const plan::Plan& plan = draft_.plan;
        for (std::size_t v = 0; v < plan.values.size(); ++v)
            w.bytes.push_back(
                plan::aligned(static_cast<std::uint64_t>(std::max<std::int64_t>(values[elements_[v]], 0)) *
                              size_of(plan.values[v].dtype)));
        for (std::size_t i = 0; i < plan.launches.size(); ++i) {
            double bytes = 0;
            for (const plan::PlanOperand& o : plan.launches[i].operands)
                if (!o.absent) bytes += static_cast<double>(w.bytes[o.value]);
            const double time = std::max(bytes, static_cast<double>(values[flops_[i]]) / flops_per_byte);
            // Fallbacks rarely run, and launches without workgroups at these sizes never.
            const bool runs = plan.launches[i].fallback_of == plan::no_launch && values[groups_[i]] > 0;
            w.time.push_back(runs ? time + launch_overhead : 0);
        }
        return w;
    }
    Candidate candidate(const plan::Weights& w, std::uint64_t arena, const plan::DropSet& previous_drops,
                        std::int64_t size) const
    {
        Candidate c{.drops = plan::fit(draft_.plan, w, arena, previous_drops), .executable = nullptr};
        const plan::Profile p(draft_.plan, w, rematerialized_order(draft_.plan, units_, c.drops));
        c.time = p.time;
        c.reached = p.peak <= arena;
        c.executable = executable_of(c.drops);
        c.peak = peak(*c.executable, size).value();
        return c;
    }

    // Finds the drops of least added time at one size.  plan::fit() ignores epochs and in-place writes, so its budget
    // for the arena is corrected by the arena of the resulting executable.
    Candidate best_at(std::int64_t size, const plan::DropSet& previous_drops) const
    {
        const plan::Weights w = weights(size);
        const std::uint64_t outputs = whole_->output_bytes(values_of(whole_->symbols(), size));
        const std::uint64_t room = budget_.bytes - std::min(outputs, budget_.bytes);
        std::uint64_t target = room;
        Candidate best = candidate(w, target, previous_drops, size);
        const auto consider = [&](Candidate next) {
            const bool both_fit = next.peak <= budget_.bytes && best.peak <= budget_.bytes;
            if (both_fit ? next.time < best.time : next.peak < best.peak) best = std::move(next);
        };
        std::uint64_t arena = best.peak - outputs;
        bool reached = best.reached;
        for (int i = 0; i < max_corrections && target > 0; ++i) {
            if (arena <= room && (arena > room - room / 50 || best.drops == previous_drops)) return best;
            if (arena > room && !reached) break; // only an arena of 0 bytes remains to be tried
            target = arena <= room ? target + (room - arena)
                                   : target - std::min(target, arena - room + room / 100);
            Candidate next = candidate(w, target, previous_drops, size);
            arena = next.peak - outputs;
            reached = next.reached;
            consider(std::move(next));
        }
        if (best.peak > budget_.bytes && target > 0) consider(candidate(w, 0, previous_drops, size));
        return best;
    }

    // Finds sets for sizes in equal ratios, from the largest that fits without drops to the largest that fits at all.
    std::vector<std::unique_ptr<Executable>> for_all_sizes()
    {
        const std::optional<std::int64_t> first = smallest();
        const std::int64_t whole_fits = first ? largest_that_fits(*whole_, *first) : largest();
        const bool keep_whole = whole_fits > 0;
        if (whole_fits < largest()) find_sets(std::max(whole_fits, *first), keep_whole);
        if (keep_whole) out_.insert(out_.begin(), std::move(whole_));
        return std::move(out_);
    }
    // `first` is the largest size that fits without drops or, where none does, the smallest legal size.
    void find_sets(std::int64_t first, bool whole_fits)
    {
        const std::int64_t searched = std::min(4 * first, largest());
        std::optional<Candidate> minimal;
        for (const std::int64_t size : {searched, first})
            if (!minimal && peak(*whole_, size)) minimal = candidate(weights(size), 0, {}, size);
        if (!whole_fits && !fits(*minimal->executable, first))
            minimal = candidate(weights(first), 0, {}, first);
        if (!whole_fits) require(peak(*minimal->executable, first).value(), first);
        std::int64_t last = largest_that_fits(*minimal->executable, first);
        for (int i = 0; i < max_corrections && last < largest(); ++i) { // tunes drops to larger sizes
            const std::int64_t size = std::max(last, first) + 1;
            if (!peak(*whole_, size)) break;
            Candidate next = candidate(weights(size), 0, {}, size);
            const std::int64_t further = largest_that_fits(*next.executable, first);
            if (further <= last) break;
            last = further;
            minimal = std::move(next);
        }
        plan::DropSet previous_drops;
        std::int64_t previous_size = whole_fits ? first : 0;
        for (std::size_t k = 1; k < max_sets && previous_size < last; ++k) {
            const double ratio = static_cast<double>(last) / static_cast<double>(first),
                         part = static_cast<double>(k) / static_cast<double>(max_sets - 1);
            const auto between =
                static_cast<std::int64_t>(static_cast<double>(first) * std::pow(ratio, part));
            const std::int64_t size = k + 1 == max_sets ? last : std::max(previous_size + 1, between);
            if (!peak(*whole_, size)) continue; // no call can have this size
            Candidate next = best_at(size, previous_drops);
            if (next.drops.size() == previous_drops.size()) continue;
            previous_drops = std::move(next.drops);
            previous_size = size;
            out_.push_back(std::move(next.executable));
        }
        if (!out_.empty() && fits(*out_.back(), last)) return;
        // The nested sets found so far do not fit at `last`: the candidate of least memory becomes the last executable.
        if (out_.size() + 1 == max_sets) out_.pop_back();
        if (last > 0) out_.push_back(std::move(minimal->executable));
    }

    const plan::Request& request_;
    const Budget& budget_;
    std::shared_ptr<device::Device> device_;
    Executable::Purpose purpose_;
    plan::Compiled draft_;
    plan::Units units_;
    shape::DimProgram program_;
    std::vector<shape::Slot> elements_;       // by plan value
    std::vector<shape::Slot> flops_, groups_; // by launch
    std::unique_ptr<Executable> whole_;       // without drops
    std::vector<std::unique_ptr<Executable>> out_;
};

} // namespace

std::vector<std::unique_ptr<Executable>> within_budget(const plan::Request& request, const Budget& budget,
                                                       std::shared_ptr<device::Device> device,
                                                       Executable::Purpose purpose)
{
    return Search(request, budget, std::move(device), purpose).run();
}

} // namespace reprise::execution
