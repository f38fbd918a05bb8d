#include "program/budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <reprise/error.hpp>

#include "plan/drop.hpp"

namespace reprise::program {

namespace {

constexpr double flops_per_byte =
    10; // that a device computes while it moves a byte: of processors and GPUs alike
constexpr double launch_overhead = 65536; // bytes that it moves meanwhile
constexpr std::size_t most_sets = 4;
constexpr std::int64_t largest_size = std::int64_t{1} << 24; // of a symbol that has no limit of its own
constexpr int most_corrections = 4;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

class Fitting {
public:
    Fitting(const plan::Request& request, const Budget& budget, std::shared_ptr<device::Device> device,
            Executable::Calls calls)
        : request_(request), budget_(budget), device_(std::move(device)), calls_(calls),
          draft_(plan::draft(request)), units_(draft_.plan)
    {
        for (const plan::PlanValue& v : draft_.plan.values) elements_.push_back(program_.add(v.elements));
        for (const plan::PlanLaunch& l : draft_.plan.launches) flops_.push_back(program_.add(l.flops));
    }

    std::vector<std::unique_ptr<Executable>> run()
    {
        out_.push_back(made({}));
        if (budget_.open_sizes) fit_sizes();
        else if (peak(*out_[0], 1) > budget_.bytes) {
            out_[0] = fitted(1, {}).executable;
            require(*out_[0], 1);
        }
        return std::move(out_);
    }

private:
    struct Fit {
        plan::DropSet drops;
        std::unique_ptr<Executable> executable;
        std::uint64_t peak = 0; // bytes
        double time = 0;        // added
    };
    Fit made(plan::DropSet drops, const plan::Weights& w, std::int64_t size) const
    {
        const double time = plan::Profile(draft_.plan, w, remake(draft_.plan, units_, drops)).time;
        auto executable = made(drops);
        const std::uint64_t bytes = peak(*executable, size);
        return {std::move(drops), std::move(executable), bytes, time};
    }

    std::unique_ptr<Executable> made(const plan::DropSet& drops) const
    {
        plan::Compiled c = draft_;
        plan::make_again(c.plan, drops);
        plan::finish(c, request_);
        return std::make_unique<Executable>(std::move(c), device_, calls_);
    }

    // With `size` for each symbol, or what it may be nearest to that; `never` where no call has such sizes.
    static std::uint64_t peak(const Executable& e, std::int64_t size)
    {
        try {
            return e.peak_bytes(e.sizes_near(size));
        } catch (const Error&) { // its conditions: divisors, ranges
            return never;
        }
    }
    void require(const Executable& e, std::int64_t size) const
    {
        const std::uint64_t least = peak(e, size);
        if (least <= budget_.bytes) return;
        detail::fail(ErrorKind::out_of_memory, budget_.by, "The memory budget is (", budget_.bytes,
                     ") bytes, but the least that was found for this program is (", least,
                     budget_.open_sizes ? ") at its smallest sizes: raise it." : "): raise it.");
    }

    plan::Weights weights(std::int64_t size)
    {
        std::vector<std::int64_t> values;
        program_.evaluate(program_.legal_values(size), values);
        plan::Weights w;
        const plan::Plan& plan = draft_.plan;
        for (std::size_t v = 0; v < plan.values.size(); ++v) {
            const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(values[elements_[v]], 0)) *
                               size_of(plan.values[v].dtype);
            w.bytes.push_back(plan::aligned(bytes));
        }
        for (std::size_t i = 0; i < plan.launches.size(); ++i) {
            double bytes = 0;
            for (const plan::PlanOperand& o : plan.launches[i].operands)
                if (!o.absent) bytes += static_cast<double>(w.bytes[o.value]);
            const double time = std::max(bytes, static_cast<double>(values[flops_[i]]) / flops_per_byte);
            // A fallback runs seldom.
            w.time.push_back(plan.launches[i].fallback_of == plan::no_launch ? time + launch_overhead : 0);
        }
        return w;
    }

    // For these sizes.  What the search goes by knows no epochs, and nothing that is written over what is read last: its
    // budget is corrected by what comes out.
    Fit fitted(std::int64_t size, const plan::DropSet& kept)
    {
        const plan::Weights w = weights(size);
        const std::uint64_t outputs = out_[0]->output_bytes(out_[0]->sizes_near(size));
        const std::uint64_t room = budget_.bytes - std::min(outputs, budget_.bytes);
        std::uint64_t target = room;
        Fit best = made(plan::fit(draft_.plan, w, target, kept), w, size);
        const auto consider = [&](Fit next) {
            const bool fits = next.peak <= budget_.bytes;
            if (fits && best.peak <= budget_.bytes ? next.time < best.time : next.peak < best.peak)
                best = std::move(next);
        };
        std::uint64_t arena = best.peak - outputs;
        for (int i = 0; i < most_corrections && target > 0; ++i) {
            if (arena <= room && (arena > room - room / 50 || best.drops == kept)) return best;
            target = arena <= room ? target + (room - arena)
                                   : target - std::min(target, arena - room + room / 100);
            Fit next = made(plan::fit(draft_.plan, w, target, kept), w, size);
            arena = next.peak - outputs;
            consider(std::move(next));
        }
        if (best.peak > budget_.bytes && target > 0)
            consider(made(plan::fit(draft_.plan, w, 0, kept), w, size));
        return best;
    }

    // Up to the size that the smallest set fits, in equal ratios.
    void fit_sizes()
    {
        const std::int64_t limit = largest_that_differs(), fits = largest_that_fits(*out_[0], limit);
        if (fits == limit) return;
        const std::int64_t first = std::max<std::int64_t>(fits, 1), search = std::min(4 * first, limit);
        const plan::Weights w = weights(search);
        const Fit least = made(plan::fit(draft_.plan, w, 0), w, search);
        if (fits == 0) require(*least.executable, 1);
        const std::int64_t last = largest_that_fits(*least.executable, limit);
        if (last <= fits) return;
        const double ratio = static_cast<double>(last) / static_cast<double>(first);
        plan::DropSet kept;
        for (std::size_t k = 1; k < most_sets; ++k) {
            const double part = static_cast<double>(k) / static_cast<double>(most_sets - 1);
            const auto size = static_cast<std::int64_t>(static_cast<double>(first) * std::pow(ratio, part));
            Fit next = fitted(std::clamp(size, fits + 1, last), kept);
            if (next.drops.size() == kept.size()) continue;
            kept = std::move(next.drops);
            out_.push_back(std::move(next.executable));
        }
        if (fits == 0) out_.erase(out_.begin()); // it fits nowhere
    }

    // 0: none.
    std::int64_t largest_that_fits(const Executable& e, std::int64_t limit) const
    {
        const auto fits = [&](std::int64_t size) { return peak(e, size) <= budget_.bytes; };
        std::int64_t good = 0, bad = 1;
        while (bad < limit && fits(bad)) {
            good = bad;
            bad *= 2;
        }
        if (bad >= limit) {
            if (fits(limit)) return limit;
            bad = limit;
        }
        while (bad - good > 1) {
            const std::int64_t middle = good + (bad - good) / 2;
            (fits(middle) ? good : bad) = middle;
        }
        return good;
    }
    // Behind it symbols are at the end of their ranges.
    std::int64_t largest_that_differs() const
    {
        std::int64_t size = 1;
        while (size < largest_size && out_[0]->sizes_near(size) != out_[0]->sizes_near(2 * size)) size *= 2;
        return size;
    }

    const plan::Request& request_;
    const Budget& budget_;
    std::shared_ptr<device::Device> device_;
    Executable::Calls calls_;
    plan::Compiled draft_;
    plan::Units units_;
    shape::DimProgram program_;
    std::vector<shape::Slot> elements_, flops_; // by plan value; by launch
    std::vector<std::unique_ptr<Executable>> out_;
};

} // namespace

std::vector<std::unique_ptr<Executable>> within_budget(const plan::Request& request, const Budget& budget,
                                                       std::shared_ptr<device::Device> device,
                                                       Executable::Calls calls)
{
    return Fitting(request, budget, std::move(device), calls).run();
}

} // namespace reprise::program
