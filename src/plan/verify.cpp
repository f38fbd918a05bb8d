#include "plan/verify.hpp"

#include <map>
#include <sstream>

namespace reprise::plan {

namespace {

constexpr std::uint32_t outside = 0xFFFFFFFF; // owner of data from before the call

// Tracks which value each byte holds, as disjoint ranges keyed by their begin.
class Owners {
public:
    void write(const Range& r, std::uint32_t value)
    {
        if (r.begin == r.end) return;
        split(r.begin);
        split(r.end);
        parts_.erase(parts_.lower_bound(r.begin), parts_.lower_bound(r.end));
        parts_[r.begin] = {r.end, value};
    }
    // Returns whether each byte holds one of the two values.
    bool holds(const Range& r, std::uint32_t value, std::uint32_t or_value) const
    {
        std::uint64_t at = r.begin;
        while (at < r.end) {
            auto part = parts_.upper_bound(at);
            if (part == parts_.begin()) return false;
            --part;
            if (part->second.end <= at || (part->second.value != value && part->second.value != or_value))
                return false;
            at = part->second.end;
        }
        return true;
    }

private:
    struct Part {
        std::uint64_t end;
        std::uint32_t value;
    };
    void split(std::uint64_t at)
    {
        auto part = parts_.upper_bound(at);
        if (part == parts_.begin()) return;
        --part;
        if (part->first == at || part->second.end <= at) return;
        parts_[at] = part->second;
        part->second.end = at;
    }
    std::map<std::uint64_t, Part> parts_;
};

bool overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

class Verifier {
public:
    Verifier(const Plan& p, std::span<const Range> r, const std::vector<bool>& e)
        : plan_(p), ranges_(r), enabled_(e)
    {}

    std::vector<std::string> run()
    {
        check_epochs();
        // Externals hold their values when a call begins. The second call may not read what the first left in the
        // arena.
        for (int call = 0; call < 2 && faults_.empty(); ++call) {
            Owners owners;
            for (std::uint32_t v = 0; v < plan_.values.size(); ++v)
                if (plan_.values[v].place == Place::external) owners.write(ranges_[v], outside);
            replay(owners);
        }
        return std::move(faults_);
    }

private:
    void check_epochs()
    {
        std::vector<std::size_t> epoch; // the launches that may still run
        for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
            if (!enabled_[i]) continue;
            std::erase_if(epoch, [&](std::size_t k) {
                return last_epoch(plan_.launches[k]) < plan_.launches[i].epoch;
            });
            for (std::size_t k : epoch) check_pair(k, i);
            check_within(i);
            epoch.push_back(i);
        }
    }

    void check_pair(std::size_t a, std::size_t b)
    {
        for (const PlanOperand& x : plan_.launches[a].operands)
            for (const PlanOperand& y : plan_.launches[b].operands) {
                if (x.absent || y.absent || (x.use == ops::Use::read && y.use == ops::Use::read)) continue;
                if (!overlap(ranges_[x.value], ranges_[y.value])) continue;
                if (x.value == y.value && x.use == y.use && x.use == ops::Use::write &&
                    write_disjoint(plan_.launches[a], plan_.launches[b]))
                    continue;
                add("launches ", a, " (", plan_.launches[a].label, ") and ", b, " (", plan_.launches[b].label,
                    ") of epoch ", plan_.launches[b].epoch, " touch the same bytes of v", x.value, " and v",
                    y.value);
            }
    }

    // Whether a joined launch reads elements of the operand in other invocations than those that write them.  The
    // kernel of a single step may have other operands than its chain; it is in place only where all of them are read
    // so.
    static bool reads_elsewhere(const PlanLaunch& l, std::size_t operand)
    {
        return l.is_elementwise() && l.chain->steps.size() > 1 &&
               !kernels::reads_own_elements(*l.chain, operand);
    }

    // A launch that overwrites its input needs a kernel that does so element by element.
    void check_within(std::size_t i)
    {
        const PlanLaunch& l = plan_.launches[i];
        for (std::size_t a = 0; a < l.operands.size(); ++a)
            for (std::size_t b = 0; b < l.operands.size(); ++b) {
                const PlanOperand &x = l.operands[a], &y = l.operands[b];
                if (a == b || x.absent || y.absent || y.use == ops::Use::read) continue;
                if (!overlap(ranges_[x.value], ranges_[y.value])) continue;
                if (x.value == y.value && x.use == ops::Use::read && l.in_place && !reads_elsewhere(l, a))
                    continue;
                if (x.value == y.value && x.use == ops::Use::write && y.use == ops::Use::write &&
                    write_disjoint(l, l)) // several launches in one, which write parts of the value
                    continue;
                add("launch ", i, " (", l.label, ") writes v", y.value, " on the bytes of v", x.value,
                    ", which it touches too");
            }
    }

    // Returns the owner of a value's bytes when a call begins. Externals may share memory, such as a tensor passed
    // twice or views of one tensor.
    std::uint32_t initial(std::uint32_t value) const
    {
        return plan_.values[value].place == Place::external ? outside : value;
    }

    void replay(Owners& owners)
    {
        for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
            if (!enabled_[i]) continue;
            for (const PlanOperand& o : plan_.launches[i].operands)
                if (reads(o) && !owners.holds(ranges_[o.value], o.value, initial(o.value)))
                    add("launch ", i, " (", plan_.launches[i].label, ") reads v", o.value,
                        " where another value lies, or before it is written");
            for (const PlanOperand& o : plan_.launches[i].operands)
                if (writes(o)) owners.write(ranges_[o.value], o.value);
        }
    }

    template <class... Parts> void add(const Parts&... parts)
    {
        std::ostringstream text;
        (text << ... << parts);
        faults_.push_back(text.str());
    }

    const Plan& plan_;
    std::span<const Range> ranges_;
    const std::vector<bool>& enabled_;
    std::vector<std::string> faults_;
};

} // namespace

std::vector<std::string> find_hazards(const Plan& plan, std::span<const Range> ranges,
                                      const std::vector<bool>& enabled)
{
    return Verifier(plan, ranges, enabled).run();
}

} // namespace reprise::plan
