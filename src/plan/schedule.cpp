// Assigns epochs.  A launch starts a new epoch where it conflicts with one in the current epoch, or where together they
// would have more live bytes than any single launch of the plan.  A launch that depends on no other, such as the cast
// of a weight, joins the previous epoch.  On devices where an epoch costs much, a launch that is no recomputation joins
// the earliest epoch after all that it depends on.  Both only as far as the live bytes of the epochs in between allow.
#include <algorithm>
#include <numeric>

#include "plan/pipeline.hpp"
#include "plan/place.hpp"

namespace reprise::plan {

namespace {

// The epochs by which a launch moves up at most: so a value that is larger than the sizes for which a plan is made
// lives only a little longer.
constexpr std::uint32_t most_up = 4;

// A launch and its fallbacks, of which only one runs.
struct Group {
    std::size_t begin, end;
};

// The live bytes of temporaries in each epoch, at one size per symbol.
class Memory {
public:
    Memory(const Plan& p, const std::vector<std::uint64_t>& bytes)
    {
        for (std::size_t v = 0; v < bytes.size(); ++v)
            bytes_.push_back(p.values[v].place == Place::temporary ? aligned(bytes[v]) : 0);
        const std::uint64_t max_live = max_live_at_launch(p, bytes);
        limit_ = max_live + max_live / 64; // so that small values do not keep neighbours apart
    }
    std::uint64_t bytes(std::uint32_t value) const { return bytes_[value]; }
    // Whether the epoch with `more` bytes stays within the live bytes of a single launch.
    bool fits(std::uint32_t epoch, std::uint64_t more) const { return live_[epoch] + more <= limit_; }
    // Whether the current epoch does not, and ending it would release memory.
    bool is_full(std::uint64_t more) const { return live_.back() + more > limit_ && dying_ > 0; }
    void begin_epoch()
    {
        live_.push_back(live_.back() - dying_);
        dying_ = 0;
    }
    void begin_value(std::uint32_t epoch, std::uint32_t value)
    {
        for (std::size_t e = epoch; e < live_.size(); ++e) live_[e] += bytes_[value];
    }
    // `epoch` is the last one that accesses the value.
    void end_value(std::uint32_t epoch, std::uint32_t value)
    {
        for (std::size_t e = epoch + 1; e < live_.size(); ++e) live_[e] -= bytes_[value];
        if (epoch + 1 == live_.size()) dying_ += bytes_[value];
    }

private:
    std::vector<std::uint64_t> bytes_; // by value; 0 of those that are no temporaries
    std::vector<std::uint64_t> live_{0};
    std::uint64_t limit_ = 0, dying_ = 0; // dying: in the current epoch
};

class Scheduler {
public:
    Scheduler(Plan& p, bool moves_up)
        : plan_(p), moves_up_(moves_up), touched_(launches_by_value(p, touches)), of_value_(p.values.size())
    {
        for (const auto& bytes : bytes_at_sizes(p)) memory_.emplace_back(p, bytes);
    }

    void run()
    {
        const std::vector<PlanLaunch>& launches = plan_.launches;
        for (Group g{0, 0}; g.begin < launches.size(); g.begin = g.end) {
            g.end = end_of_fallbacks(plan_, g.begin);
            add(g, epoch_of(g));
        }
        plan_.epochs = launches.empty() ? 0 : current_ + 1;
        order_by_epoch();
        join_host_calls();
    }

private:
    struct OfValue {
        std::uint32_t after_read = 0,
                      after_write = 0; // one more than the last epoch that reads it, and that writes it
        std::size_t writer = 0;        // the last launch that writes it
    };

    // Returns the first epoch after those with which the launches conflict.
    std::uint32_t earliest(const Group& g) const
    {
        std::uint32_t epoch = 0;
        for (std::size_t k = g.begin; k < g.end; ++k)
            for (const PlanOperand& o : plan_.launches[k].operands) {
                if (o.absent) continue;
                const OfValue& v = of_value_[o.value];
                const bool is_disjoint = o.use == ops::Use::write && v.after_write > 0 &&
                                         write_disjoint(plan_.launches[v.writer], plan_.launches[k]);
                epoch = std::max(epoch, v.after_write - (is_disjoint ? 1 : 0));
                if (o.use != ops::Use::read) epoch = std::max(epoch, v.after_read);
            }
        return epoch;
    }

    // Bytes of the values that the launches are the first to access.
    std::uint64_t bytes_begun(const Memory& m, const Group& g) const
    {
        std::uint64_t bytes = 0;
        each_value(g, [&](std::uint32_t v) {
            if (touched_[v].front() >= g.begin) bytes += m.bytes(v);
        });
        return bytes;
    }
    template <class F> void each_value(const Group& g, const F& f) const
    {
        std::vector<std::uint32_t> values;
        for (std::size_t k = g.begin; k < g.end; ++k)
            for (const PlanOperand& o : plan_.launches[k].operands)
                if (!o.absent && std::find(values.begin(), values.end(), o.value) == values.end()) {
                    values.push_back(o.value);
                    f(o.value);
                }
    }

    // Whether the launch reads what the host has computed: moved up, it would leave the host less time.
    bool waits_for_host(std::size_t launch) const
    {
        const auto& operands = plan_.launches[launch].operands;
        return std::any_of(operands.begin(), operands.end(), [&](const PlanOperand& o) {
            return reads(o) && of_value_[o.value].after_write > 0 &&
                   plan_.launches[of_value_[o.value].writer].on_host;
        });
    }

    // Returns the epoch of the launches; begins a new one if necessary.
    std::uint32_t epoch_of(const Group& g)
    {
        const bool on_host = plan_.launches[g.begin].on_host;
        const std::uint32_t first = std::max(earliest(g), on_host ? last_call_ : 0);
        std::vector<std::uint64_t> begun;
        for (const Memory& m : memory_) begun.push_back(bytes_begun(m, g));
        const auto all_fit = [&](std::uint32_t epoch) {
            for (std::size_t i = 0; i < memory_.size(); ++i)
                if (!memory_[i].fits(epoch, begun[i])) return false;
            return true;
        };
        const bool may_move =
            moves_up_ && plan_.launches[g.begin].recomputation == 0 && !waits_for_host(g.begin);
        const std::uint32_t most = may_move ? most_up : first == 0 ? 1 : 0;
        if (most > 0 && first < current_ && all_fit(current_)) {
            const std::uint32_t last = std::max(first, current_ - std::min(current_, most));
            std::uint32_t epoch = current_;
            while (epoch > last && all_fit(epoch - 1)) --epoch;
            return epoch;
        }
        bool is_full = false;
        for (std::size_t i = 0; i < memory_.size(); ++i) is_full |= memory_[i].is_full(begun[i]);
        if (first > current_ || is_full) {
            ++current_;
            for (Memory& m : memory_) m.begin_epoch();
        }
        return current_;
    }

    void add(const Group& g, std::uint32_t epoch)
    {
        for (std::size_t k = g.begin; k < g.end; ++k) {
            plan_.launches[k].epoch = epoch;
            if (plan_.launches[k].on_host) last_call_ = epoch;
            for (const PlanOperand& o : plan_.launches[k].operands) {
                if (o.absent) continue;
                OfValue& v = of_value_[o.value];
                if (o.use != ops::Use::write) v.after_read = std::max(v.after_read, epoch + 1);
                if (o.use == ops::Use::read) continue;
                v.after_write = std::max(v.after_write, epoch + 1);
                v.writer = k;
            }
        }
        each_value(g, [&](std::uint32_t v) {
            const bool begins = touched_[v].front() >= g.begin, ends = touched_[v].back() < g.end;
            const std::uint32_t last = std::max(of_value_[v].after_read, of_value_[v].after_write) - 1;
            for (Memory& m : memory_) {
                if (begins) m.begin_value(epoch, v);
                if (ends) m.end_value(last, v);
            }
        });
    }

    void order_by_epoch()
    {
        std::vector<std::uint32_t> order(plan_.launches.size());
        std::iota(order.begin(), order.end(), 0);
        // Native code comes last in its epoch, so that it gets the time for which the next epoch waits.
        const auto key = [&](std::uint32_t i) {
            return std::pair(plan_.launches[i].epoch, plan_.launches[i].native != nullptr);
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
        reorder(plan_, order);
    }

    // A host call ends before the first launch that conflicts with it.
    void join_host_calls()
    {
        for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
            PlanLaunch& call = plan_.launches[i];
            if (!call.on_host) continue;
            const auto next =
                std::find_if(plan_.launches.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                             plan_.launches.end(), [&](const PlanLaunch& l) { return conflict(call, l); });
            call.joins = next == plan_.launches.end() ? plan_.epochs : next->epoch;
        }
    }

    Plan& plan_;
    bool moves_up_;
    LaunchesByValue touched_;
    std::vector<OfValue> of_value_;
    std::vector<Memory> memory_;
    std::uint32_t current_ = 0;
    std::uint32_t last_call_ = 0; // the epoch of the last host call: they keep their order
};

} // namespace

void schedule(Plan& plan, const device::Capabilities& caps) { Scheduler(plan, caps.gpu_kernels()).run(); }

void find_lifetimes(Plan& plan)
{
    for (PlanValue& v : plan.values) {
        v.first = plan.epochs;
        v.last = 0;
    }
    for (const PlanLaunch& l : plan.launches)
        for (const PlanOperand& o : l.operands) {
            if (o.absent) continue;
            PlanValue& v = plan.values[o.value];
            v.first = std::min(v.first, l.epoch);
            v.last = std::max(v.last, last_epoch(l));
        }
}

} // namespace reprise::plan
