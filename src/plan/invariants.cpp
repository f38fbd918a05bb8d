#include <set>

#include <reprise/error.hpp>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

class Checker {
public:
    Checker(const Compiled& c, const char* pass)
        : compiled_(c), plan_(c.plan), pass_(pass), written_(plan_.values.size(), false)
    {}

    void run()
    {
        for (std::size_t slot = 0; slot < compiled_.external.size(); ++slot)
            if (!is_value(compiled_.external[slot])) fail("external slot ", slot, " is no value");
        for (std::size_t v = 0; v < plan_.values.size(); ++v) {
            if (!is_segment(plan_.values[v].segment)) fail("value ", v, " lies in no segment that exists");
            written_[v] = plan_.values[v].place == Place::external;
        }
        for (at_ = 0; at_ < plan_.launches.size(); ++at_) check(plan_.launches[at_]);
        for (const ops::View& r : compiled_.results) {
            if (!is_value(r.value)) fail("result v", r.value, " is no value");
            if (!written_[r.value]) fail("result v", r.value, " is never written");
        }
    }

private:
    void check(const PlanLaunch& l)
    {
        if (!is_segment(l.segment)) fail_launch("lies in no segment that exists");
        if (at_ > 0 && l.epoch < plan_.launches[at_ - 1].epoch) fail_launch("is of an earlier epoch");
        const bool has_kernel = l.code || !l.constants.empty(); // set by choose_kernels()
        if (l.is_elementwise() && !has_kernel &&
            l.operands.size() != l.chain->memory_inputs() + l.chain->results.size())
            fail_launch("has ", l.operands.size(), " operands, not those of its chain");
        for (const PlanOperand& o : l.operands) {
            if (!is_value(o.value)) fail_launch("has v", o.value, ", which is no value");
            if (reads(o) && !written_[o.value]) fail_launch("reads v", o.value, " before it is written");
        }
        for (const PlanOperand& o : l.operands)
            if (writes(o)) written_[o.value] = true;
        if (l.fallback_of != no_launch) check_fallback(l);
    }

    void check_fallback(const PlanLaunch& l) const
    {
        if (l.fallback_of >= at_)
            fail_launch("is a fallback of launch ", l.fallback_of, ", which is no earlier one");
        if (writes_of(l) != writes_of(plan_.launches[l.fallback_of]))
            fail_launch("writes other values than launch ", l.fallback_of, ", whose fallback it is");
    }

    static std::set<std::uint32_t> writes_of(const PlanLaunch& l)
    {
        std::set<std::uint32_t> out;
        for (const PlanOperand& o : l.operands)
            if (writes(o)) out.insert(o.value);
        return out;
    }
    bool is_value(std::uint32_t v) const { return v < plan_.values.size(); }
    bool is_segment(std::uint32_t s) const { return s == no_segment || s < plan_.segments.size(); }

    template <class... Parts> [[noreturn]] void fail(const Parts&... parts) const
    {
        detail::fail(ErrorKind::internal, pass_, parts..., '.');
    }
    template <class... Parts> [[noreturn]] void fail_launch(const Parts&... parts) const
    {
        fail("launch ", at_, " (", plan_.launches[at_].label, ") ", parts...);
    }

    const Compiled& compiled_;
    const Plan& plan_;
    const char* pass_;
    std::vector<bool> written_; // by value
    std::size_t at_ = 0;        // launch
};

} // namespace

void check_invariants(const Compiled& c, const char* pass) { Checker(c, pass).run(); }

} // namespace reprise::plan
