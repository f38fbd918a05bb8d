// Elementwise fusion: joins a chain with an earlier one whose results it reads or whose inputs it shares, so that the
// values between them stay in registers. One of the two launches moves to the position of the other if no launch
// between them conflicts with it. Results stay bitwise identical: each step is rounded to its value's dtype
// (kernels/fused_text.cpp). Finally, chains become parts of the products or the reductions next to them.
#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "ops/registry.hpp"
#include "plan/pipeline.hpp"
#include "shape/rules.hpp"

namespace reprise::plan {

namespace {

using kernels::Chain;
using From = Chain::Source::From;

// Longer kernels gain nothing: their values no longer fit into registers, and drivers take long to compile them.
constexpr std::size_t max_chain_steps = 48, max_operands = 16;
// The inputs of a chain all exist when it runs, where shorter chains would free some of them in between.
constexpr std::size_t max_inputs = 8;
// The kernel of a reduction contains the steps of its chain 16 times, that of a product 20 to 72 times.
constexpr std::size_t max_reduced_steps = 8, max_finishing_steps = 8;
// Maximum distance to a launch that only shares inputs; a larger one would extend lifetimes too much.
constexpr std::size_t max_shared_distance = 6;
// Maximum number of launches by which a chain moves up to a product that stores its own result, too.
constexpr std::size_t max_keeping_distance = 4;
// Maximum number of launches by which one that reads only f16 and bf16 and stores a wider dtype moves up to the launch
// that computes its input: the results would wait for their readers in twice the memory of the input.
constexpr std::size_t max_widening_distance = 8;

// Rewrites the chain to iterate over `sizes`, if each of its own sizes is a product of adjacent ones; otherwise returns
// false.
bool expand(Chain& c, const Shape& sizes)
{
    if (same(c.sizes, sizes)) return true;
    std::vector<shape::Strides> strides(c.inputs.size(), shape::Strides(sizes.size(), Dim(0)));
    std::size_t fine = sizes.size();
    for (std::size_t d = c.sizes.size(); d-- > 0;) {
        Dim inner = 1; // elements of this dimension that finer ones have covered
        do {
            if (fine-- == 0) return false;
            for (std::size_t i = 0; i < c.inputs.size(); ++i)
                if (!c.inputs[i].number) strides[i][fine] = c.inputs[i].strides[d] * inner;
            inner *= sizes[fine];
        } while (!same(inner, c.sizes[d]));
    }
    if (fine != 0) return false;
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
        if (!c.inputs[i].number) c.inputs[i].strides = std::move(strides[i]);
    c.sizes = sizes;
    return true;
}

// Returns whether both are numbers with equal dtype and bits: -0 differs from 0, and a step computes in its sources'
// dtype.
bool same(const Chain::Input& a, const Chain::Input& b)
{
    return a.number && b.number && a.dtype == b.dtype && same(a.number->factor, b.number->factor) &&
           a.number->source == b.number->source &&
           std::bit_cast<std::uint64_t>(a.number->constant) ==
               std::bit_cast<std::uint64_t>(b.number->constant);
}

// Joins `first` and `second`, executed in this order, into one launch.
class Join {
public:
    // `is_read`: whether another launch than these two, or the caller, reads the value.  Other values stay in
    // registers.
    Join(const PlanLaunch& first, const PlanLaunch& second, std::function<bool(std::uint32_t)> is_read)
        : first_(first), second_(second), a_(*first.chain), b_(*second.chain), is_read_(std::move(is_read))
    {}

    std::optional<PlanLaunch> run()
    {
        if (!same(first_.condition, second_.condition)) return std::nullopt;
        for (const kernels::Chain* c : {&a_, &b_})
            if (kernels::computes_doubles(*c) || kernels::computes_longs(*c)) return std::nullopt;
        if (!expand(a_, b_.sizes) && !expand(b_, a_.sizes)) return std::nullopt;
        out_.sizes = a_.sizes;
        if (!take(first_, a_) || !take(second_, b_)) return std::nullopt;
        std::erase_if(results_, [&](const auto& result) { return !is_read_(result.first.value); });
        if (results_.empty()) return std::nullopt;
        if (out_.steps.size() > max_chain_steps || inputs_.size() > std::max(max_inputs, least_inputs()) ||
            inputs_.size() + results_.size() > max_operands)
            return std::nullopt;
        PlanLaunch l = second_;
        l.operands = inputs_;
        for (const auto& [operand, step] : results_) {
            l.operands.push_back(operand);
            out_.results.push_back(step);
        }
        l.in_place = kernels::in_place(out_, l.operands);
        for (const auto& [result, step] : results_)
            for (std::size_t i = 0; i < inputs_.size(); ++i) {
                if (inputs_[i].value != result.value) continue;
                if (!may_overwrite(i, result)) return std::nullopt;
                l.in_place = true;
            }
        l.label = first_.label + " + " + second_.label;
        l.kernel = "elementwise " + kernels::label_of(out_);
        l.chain = std::make_shared<const Chain>(std::move(out_));
        return l;
    }

private:
    using Place = std::pair<bool, std::uint32_t>; // whether a step, and which

    bool take(const PlanLaunch& l, const Chain& c)
    {
        std::vector<Chain::Source> inputs;
        for (const Chain::Input& in : c.inputs) {
            const auto source = in.number ? number(in) : memory(l.operands[in.operand], in, c);
            if (!source) return false;
            inputs.push_back(*source);
        }
        std::vector<std::uint32_t> steps;
        for (const Chain::Step& s : c.steps) {
            Chain::Step step{s.op, {}, s.dtype};
            for (const Chain::Source& from : s.sources)
                step.sources.push_back(from.from == From::input
                                           ? inputs[from.index]
                                           : Chain::Source{From::step, steps[from.index]});
            steps.push_back(add(std::move(step)));
        }
        const std::size_t memory = c.memory_inputs();
        for (std::size_t r = 0; r < c.results.size(); ++r) {
            const PlanOperand& o = l.operands[memory + r];
            for (const auto& [written, step] : results_)
                if (written.value == o.value) return false;
            results_.emplace_back(o, steps[c.results[r]]);
        }
        return true;
    }

    std::uint32_t add(Chain::Step step)
    {
        for (std::uint32_t i = 0; i < out_.steps.size(); ++i)
            if (out_.steps[i].op == step.op && out_.steps[i].dtype == step.dtype &&
                out_.steps[i].sources == step.sources)
                return i;
        out_.steps.push_back(std::move(step));
        return static_cast<std::uint32_t>(out_.steps.size() - 1);
    }

    std::optional<Chain::Source> number(const Chain::Input& in)
    {
        for (std::uint32_t i = 0; i < out_.inputs.size(); ++i)
            if (same(out_.inputs[i], in)) return Chain::Source{From::input, i};
        return add(in);
    }

    // Returns the source of an operand: the earlier step that computes it, or an input. Returns nullopt if a step
    // computes it but element i does not read index i.
    std::optional<Chain::Source> memory(const PlanOperand& o, Chain::Input in, const Chain& c)
    {
        for (const auto& [written, step] : results_) {
            if (written.value != o.value) continue;
            if (!c.flat(in) || !same(o.offset, 0) || written.dtype != o.dtype) return std::nullopt;
            return Chain::Source{From::step, step};
        }
        for (std::uint32_t i = 0; i < out_.inputs.size(); ++i) {
            if (out_.inputs[i].number || !same(out_.inputs[i].strides, in.strides)) continue;
            const PlanOperand& had = inputs_[out_.inputs[i].operand];
            if (had.value == o.value && same(had.offset, o.offset) && had.dtype == o.dtype)
                return Chain::Source{From::input, i};
        }
        in.operand = static_cast<std::uint32_t>(inputs_.size());
        inputs_.push_back(o);
        return add(std::move(in));
    }

    std::optional<Chain::Source> add(Chain::Input in)
    {
        out_.inputs.push_back(std::move(in));
        return Chain::Source{From::input, static_cast<std::uint32_t>(out_.inputs.size() - 1)};
    }

    // A launch that has more inputs by itself may still be joined with one that adds none.
    std::size_t least_inputs() const { return std::max(a_.memory_inputs(), b_.memory_inputs()); }

    bool may_overwrite(std::size_t operand, const PlanOperand& result) const
    {
        const PlanOperand& read = inputs_[operand];
        return same(read.offset, 0) && same(result.offset, 0) && read.dtype == result.dtype &&
               kernels::reads_own_elements(out_, operand);
    }

    const PlanLaunch &first_, &second_;
    Chain a_, b_, out_;
    std::function<bool(std::uint32_t)> is_read_;
    std::vector<PlanOperand> inputs_;
    std::vector<std::pair<PlanOperand, std::uint32_t>> results_;
};

class Fuser {
public:
    Fuser(Plan& p, bool half_access) : plan_(p), half_access_(half_access), dead_(p.launches.size(), false)
    {
        for (std::size_t j = 0; j < p.launches.size(); ++j) widens_.push_back(widens_for_reduction(j));
        reads_.resize(p.values.size());
        for (const PlanLaunch& l : p.launches) count_reads(l, 1);
    }

    void run()
    {
        for (std::size_t j = 0; j < plan_.launches.size(); ++j) {
            if (widens_[j]) continue;
            std::size_t at = j;
            while (plan_.launches[at].chain && join_one(at)) {}
        }
        for (std::size_t j = 0; j < plan_.launches.size(); ++j)
            if (!dead_[j] && !widens_[j] && plan_.launches[j].is_elementwise()) join_product(j);
        for (std::size_t j = 0; j < plan_.launches.size(); ++j)
            if (plan_.launches[j].reduces && plan_.launches[j].fallback_of == no_launch) join_reduction(j);
        drop(plan_, dead_);
    }

private:
    // Joins the launch with an earlier one, if possible, and sets `at` to the position of the joined launch.
    bool join_one(std::size_t& at)
    {
        for (const bool producers : {true, false})
            for (std::size_t i = at; i-- > 0 && (producers || at - i <= max_shared_distance);)
                if (!dead_[i] && !widens_[i] && plan_.launches[i].chain && related(i, at, producers) &&
                    join(i, at))
                    return true;
        return false;
    }

    // Returns whether the launch only widens f16 or bf16 for one reduction.  The reduction then widens as it loads;
    // joined with the launch before, it would store a copy of twice the size.
    bool widens_for_reduction(std::size_t j) const
    {
        const PlanLaunch& l = plan_.launches[j];
        if (!l.is_elementwise() || l.chain->steps.size() != 1 || l.operands.size() != 2) return false;
        const PlanOperand &narrow = l.operands[0], &wide = l.operands[1];
        if (size_of(narrow.dtype) != 2 || !is_floating(narrow.dtype) || wide.dtype != f32) return false;
        for (std::size_t k = j + 1; k < plan_.launches.size(); ++k)
            if (const PlanLaunch& r = plan_.launches[k]; any_operand(r, wide.value, reads))
                return r.reduces && r.operands[0].value == wide.value && same(r.operands[0].offset, 0) &&
                       same(r.condition, l.condition) && kernels::fits_reduction(*l.chain, l.operands) &&
                       !is_read_elsewhere(wide.value, k);
        return false;
    }

    // Returns whether `i` computes an input of `j` (`producer`), or both read the same input, `j` element for element.
    bool related(std::size_t i, std::size_t j, bool producer) const
    {
        const PlanLaunch &a = plan_.launches[i], &b = plan_.launches[j];
        for (const PlanOperand& x : a.operands)
            for (const Chain::Input& in : b.chain->inputs) {
                if (in.number || b.operands[in.operand].value != x.value) continue;
                if (producer ? writes(x) : reads(x) && b.chain->flat(in)) return true;
            }
        return false;
    }

    // Without fallbacks.
    std::size_t launches_between(std::size_t i, std::size_t j) const
    {
        std::size_t count = 0;
        for (std::size_t k = i + 1; k < j; ++k)
            count += !dead_[k] && plan_.launches[k].fallback_of == no_launch;
        return count;
    }

    bool widens(std::size_t j) const
    {
        const PlanLaunch& l = plan_.launches[j];
        const std::size_t inputs = l.chain->memory_inputs();
        for (std::size_t k = 0; k < l.operands.size(); ++k)
            if ((size_of(l.operands[k].dtype) == 2) != (k < inputs)) return false;
        return inputs > 0;
    }

    bool join(std::size_t i, std::size_t& j)
    {
        bool down = true, up = true; // whether i can move to j, and j to i
        for (std::size_t k = i + 1; k < j && (down || up); ++k) {
            if (dead_[k]) continue;
            down &= !conflict(plan_.launches[k], plan_.launches[i]);
            up &= !conflict(plan_.launches[k], plan_.launches[j]);
        }
        if (!down && (!up || (widens(j) && launches_between(i, j) > max_widening_distance))) return false;
        if (!may_join(plan_.launches[i], plan_.launches[j])) return false;
        const PlanLaunch &first = plan_.launches[i], &second = plan_.launches[j];
        std::optional<PlanLaunch> joined =
            Join(first, second, [&](std::uint32_t value) {
                return plan_.values[value].place != Place::temporary ||
                       reads_[value] > reads_of(first, value) + reads_of(second, value);
            }).run();
        if (!joined) return false;
        count_reads(first, -1);
        count_reads(second, -1);
        count_reads(*joined, 1);
        plan_.launches[down ? j : i] = std::move(*joined);
        dead_[down ? i : j] = true;
        if (!down) j = i;
        return true;
    }

    void count_reads(const PlanLaunch& l, std::ptrdiff_t by)
    {
        for (const PlanOperand& o : l.operands)
            if (reads(o)) reads_[o.value] += by;
    }
    static std::ptrdiff_t reads_of(const PlanLaunch& l, std::uint32_t value)
    {
        return std::count_if(l.operands.begin(), l.operands.end(),
                             [&](const PlanOperand& o) { return reads(o) && o.value == value; });
    }

    // A recomputed launch must not join an earlier launch that is not recomputed with it, since it would run too early.
    static bool may_join(const PlanLaunch& first, const PlanLaunch& second)
    {
        return first.recomputation == second.recomputation ||
               (first.recomputation != 0 && second.recomputation == 0);
    }

    // Fuses a chain whose result only one reduction reads into this reduction, where it computes the loaded elements.
    void join_reduction(std::size_t j)
    {
        const PlanOperand x = plan_.launches[j].operands[0];
        std::size_t i = j;
        while (i > 0 && (dead_[i - 1] || !any_operand(plan_.launches[i - 1], x.value, writes))) --i;
        if (i-- == 0 || !plan_.launches[i].is_elementwise()) return;
        const PlanLaunch producer = plan_.launches[i];
        if (!same(x.offset, 0) || producer.chain->steps.size() > max_reduced_steps ||
            !same(producer.condition, plan_.launches[j].condition) || is_read_elsewhere(x.value, j))
            return;
        if (!kernels::fits_reduction(*producer.chain, producer.operands)) return;
        for (std::size_t k = i + 1; k < j; ++k)
            if (!dead_[k] && conflict(plan_.launches[k], producer)) return;
        if (!may_join(producer, plan_.launches[j])) return;
        for (std::size_t k = j; k == j || (k < plan_.launches.size() && plan_.launches[k].fallback_of == j);
             ++k) {
            PlanLaunch& l = plan_.launches[k];
            l.operands.erase(l.operands.begin());
            l.operands.insert(l.operands.begin(), producer.operands.begin(), producer.operands.end() - 1);
            l.chain = producer.chain;
            l.label = producer.label + " + " + l.label;
        }
        dead_[i] = true;
    }

    // Fuses the elementwise launch `j` into the launches of a product whose result it reads: they compute its chain
    // before they store their elements.  Where other launches read the result, they store that, too.
    void join_product(std::size_t j)
    {
        for (const Chain::Input& in : plan_.launches[j].chain->inputs)
            if (!in.number && join_product(j, plan_.launches[j].operands[in.operand])) return;
    }
    bool join_product(std::size_t j, const PlanOperand& x)
    {
        const PlanLaunch& elementwise = plan_.launches[j];
        if (!same(shape::element_count(elementwise.chain->sizes), plan_.values[x.value].elements) ||
            !same(elementwise.condition, 1) || elementwise.chain->steps.size() > max_finishing_steps)
            return false;
        const bool keeps = is_read_elsewhere(x.value, j);
        // A product has several launches, for different sizes.
        std::vector<std::pair<std::size_t, PlanLaunch>> finished;
        for (std::size_t i = 0; i < j; ++i) {
            const PlanLaunch& l = plan_.launches[i];
            if (dead_[i]) continue;
            if (!any_operand(l, x.value, writes)) {
                if (!finished.empty() && conflict(l, elementwise)) return false;
                continue;
            }
            if (keeps && launches_between(i, j) > max_keeping_distance) return false;
            std::optional<PlanLaunch> both = finished_by(elementwise, l, x.value, keeps);
            if (!both || !may_join(l, elementwise)) return false;
            finished.emplace_back(i, std::move(*both));
        }
        for (auto& [i, launch] : finished) plan_.launches[i] = std::move(launch);
        if (!finished.empty()) dead_[j] = true;
        return !finished.empty();
    }

    // Returns the launch of a product with the result `value` that also computes the elementwise launch, which reads
    // it, and stores the result only if it `keeps` it; nullopt if no kernel does.
    std::optional<PlanLaunch> finished_by(const PlanLaunch& elementwise, const PlanLaunch& product,
                                          std::uint32_t value, bool keeps) const
    {
        if (product.chain || same(product.result_columns, 0)) return std::nullopt;
        const std::size_t inputs = elementwise.chain->memory_inputs();
        for (std::size_t k = 0; k < elementwise.operands.size(); ++k) {
            const PlanOperand& o = elementwise.operands[k];
            if (k < inputs && o.value == value && !same(o.offset, 0)) return std::nullopt;
            if (k < inputs && o.value != value && any_operand(product, o.value, writes)) return std::nullopt;
            // No result may be an operand of the product: in h = relu(h W) other workgroups still read h.
            if (k >= inputs && any_operand(product, o.value, touches)) return std::nullopt;
        }
        PlanLaunch l = product;
        Chain c = *elementwise.chain;
        std::vector<std::uint32_t> moved(inputs); // by operand of the elementwise launch: of the new one
        for (std::size_t k = 0; k < inputs; ++k) {
            if (elementwise.operands[k].value == value) continue;
            moved[k] = static_cast<std::uint32_t>(l.operands.size());
            l.operands.push_back(elementwise.operands[k]);
        }
        for (Chain::Input& in : c.inputs) {
            if (in.number) continue;
            in.product = elementwise.operands[in.operand].value == value;
            in.operand = moved[in.operand];
        }
        auto results = elementwise.operands.begin() + static_cast<std::ptrdiff_t>(inputs);
        if (keeps) {
            const auto own = std::find_if(c.inputs.begin(), c.inputs.end(),
                                          [](const Chain::Input& in) { return in.product; });
            const auto input = static_cast<std::uint32_t>(own - c.inputs.begin());
            c.results.insert(c.results.begin(), static_cast<std::uint32_t>(c.steps.size()));
            c.steps.push_back({&ops::row_op("cast"), {{From::input, input}}, own->dtype});
        } else {
            *std::find_if(l.operands.begin(), l.operands.end(),
                          [&](const PlanOperand& o) { return o.value == value && writes(o); }) = *results++;
        }
        l.operands.insert(l.operands.end(), results, elementwise.operands.end());
        if (!kernels::fits_product(c, l.operands, l.result_columns, half_access_)) return std::nullopt;
        // No result of the chain is an operand of the product, so its loads do not count.
        l.in_place = elementwise.in_place;
        l.label += " + " + elementwise.label;
        l.chain = std::make_shared<const Chain>(std::move(c));
        return l;
    }

    // Returns whether a launch other than the reduction `j` and its fallbacks, or the caller, reads the value.
    bool is_read_elsewhere(std::uint32_t value, std::size_t j) const
    {
        if (plan_.values[value].place != Place::temporary) return true;
        for (std::size_t k = 0; k < plan_.launches.size(); ++k)
            if (!dead_[k] && k != j && plan_.launches[k].fallback_of != j &&
                any_operand(plan_.launches[k], value, reads))
                return true;
        return false;
    }

    Plan& plan_;
    bool half_access_; // Capabilities::half_access
    std::vector<bool> dead_, widens_;
    std::vector<std::ptrdiff_t> reads_; // by value: operands of all launches that read it
};

} // namespace

void fuse(Plan& plan, const device::Capabilities& caps) { Fuser(plan, caps.half_access).run(); }

} // namespace reprise::plan
