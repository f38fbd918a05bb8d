// Lets launches that convert as they load and store (ops::LaunchSpec::converts) take the place of casts: a reader of a
// widened value reads the narrow one, and the writers of a value that is narrowed write the narrow one, too, or only
// it.  The bits are those of the casts.
#include <algorithm>
#include <utility>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

// Maximum number of launches by which a narrow copy of a value that stays is stored earlier: it takes memory.
constexpr std::uint32_t max_copy_distance = 8;

class FoldCasts {
public:
    explicit FoldCasts(Plan& p)
        : plan_(p), read_(launches_by_value(p, reads)), written_(launches_by_value(p, writes)),
          touched_(launches_by_value(p, touches)), dropped_(p.launches.size(), false)
    {}

    void run()
    {
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
            if (!casts_whole_value(plan_, plan_.launches[i])) continue;
            const PlanOperand &from = plan_.launches[i].operands[0], &to = plan_.launches[i].operands[1];
            if (is_half(from.dtype) && to.dtype == f32) fold_into_readers(i, from, to.value);
            else if (from.dtype == f32 && is_half(to.dtype)) fold_into_writers(i, from.value, to);
        }
        drop(plan_, dropped_);
    }

private:
    static bool is_half(DType t) { return t == f16 || t == bf16; }

    using Conversion = ops::LaunchSpec::Conversion;

    // Returns the conversion of an operand with this value and use; null if there is none, or another operand has the
    // value, too.
    static const Conversion* conversion(const PlanLaunch& l, std::uint32_t value, ops::Use use)
    {
        const Conversion* found = nullptr;
        for (const Conversion& c : l.converts)
            if (touches(l.operands[c.operand]) && l.operands[c.operand].value == value) found = &c;
        if (!found) return nullptr;
        const PlanOperand& o = l.operands[found->operand];
        const auto same_value = [&](const PlanOperand& other) {
            return !other.absent && other.value == value;
        };
        const bool fits = use == ops::Use::read ? o.offset.divisible_by(4) : same(o.offset, 0);
        return o.use == use && o.dtype == f32 && fits &&
                       std::count_if(l.operands.begin(), l.operands.end(), same_value) == 1
                   ? found
                   : nullptr;
    }

    // Returns the conversion of the second output that can be a copy of the value, if the launch has none yet.
    static const Conversion* copy(const PlanLaunch& l, std::uint32_t value)
    {
        const Conversion* result = conversion(l, value, ops::Use::write);
        for (const Conversion& c : l.converts)
            if (result && l.operands[c.operand].absent && c.copies == result->operand) return &c;
        return nullptr;
    }

    void convert(PlanLaunch& l, const Conversion& c, const PlanOperand& narrow)
    {
        PlanOperand& o = l.operands[c.operand];
        o.value = narrow.value;
        o.dtype = narrow.dtype;
        o.absent = false;
        l.constants[c.constant] = static_cast<std::uint32_t>(narrow.dtype);
        if (l.converting_kernel.empty()) return;
        if (l.label.starts_with(l.kernel)) l.label.replace(0, l.kernel.size(), l.converting_kernel);
        l.kernel = std::exchange(l.converting_kernel, {});
    }

    void fold_into_readers(std::uint32_t cast, const PlanOperand& narrow, std::uint32_t wide)
    {
        if (written_[wide].size() != 1) return;
        const auto& changes = written_[narrow.value];
        const auto next = std::upper_bound(changes.begin(), changes.end(), cast);
        const std::uint32_t end =
            next == changes.end() ? static_cast<std::uint32_t>(plan_.launches.size()) : *next;
        for (const std::uint32_t r : read_[wide])
            if (r < end)
                if (const auto* c = conversion(plan_.launches[r], wide, ops::Use::read))
                    convert(plan_.launches[r], *c, narrow);
    }

    void fold_into_writers(std::uint32_t cast, std::uint32_t wide, const PlanOperand& narrow)
    {
        if (written_[wide].empty() || touched_[narrow.value].front() != cast) return;
        const bool keeps = plan_.values[wide].place != Place::temporary || read_[wide].size() != 1;
        std::vector<std::pair<std::uint32_t, Conversion>> writers;
        for (const std::uint32_t w : written_[wide]) {
            const PlanLaunch& l = plan_.launches[w];
            const Conversion* c = keeps ? copy(l, wide) : conversion(l, wide, ops::Use::write);
            if (w >= cast || !c) return;
            if (keeps &&
                (cast - w > max_copy_distance || l.recomputation != plan_.launches[cast].recomputation))
                return;
            writers.emplace_back(w, *c);
        }
        for (const auto& [w, c] : writers) convert(plan_.launches[w], c, narrow);
        dropped_[cast] = true;
    }

    Plan& plan_;
    LaunchesByValue read_, written_, touched_; // before any cast was folded
    std::vector<bool> dropped_;
};

} // namespace

void fold_casts(Plan& plan) { FoldCasts(plan).run(); }

} // namespace reprise::plan
