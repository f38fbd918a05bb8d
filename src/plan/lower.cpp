// Lowers nodes to launches. View ops launch nothing: each value of the graph is a strided view of a plan value.
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/ops/promotion.hpp>

#include "autograd/decomposed.hpp"
#include "graph/segment.hpp"
#include "kernels/variants.hpp"
#include "ops/records.hpp"
#include "ops/registry.hpp"
#include "plan/host_launch.hpp"
#include "plan/pipeline.hpp"
#include "plan/widening.hpp"
#include "shape/rules.hpp"

namespace reprise::plan {

namespace {

using graph::Node;
using graph::Value;
using ops::View;

std::string name_of_value(const Node& n)
{
    return n.op ? "%" + std::to_string(n.id) + " " + n.op->name : "%" + std::to_string(n.id);
}

class GraphLowering : public ops::Lowering {
public:
    explicit GraphLowering(const Request& r) : request_(r), caps_(*r.capabilities)
    {
        for (std::uint32_t slot = 0; slot < r.externals.size(); ++slot) add_external(slot);
    }

    Compiled run()
    {
        for (const Node* n : request_.nodes) {
            enter(*n);
            lower_any(*n);
        }
        for (const Value& v : request_.results) out_.results.push_back(materialised(v));
        node_ = nullptr;
        current_number_ = ++nodes_;
        current_segment_ = current_interior_ = no_segment;
        copy_aside_assigned();
        for (const View& r : out_.results) keep(r.value);
        copy_into_state();
        return std::move(out_);
    }

    // -- ops::Lowering --
    View input(std::size_t i) override
    {
        if (auto found = wide_.inputs.find(i); found != wide_.inputs.end()) return found->second;
        const View v = materialised(node_->inputs.at(i));
        const DType wide = wide_dtype(v.dtype);
        if (!wide_.of_inputs || wide == v.dtype) return v;
        return wide_.inputs.emplace(i, widened(v, wide)).first->second;
    }
    View factor(std::size_t i) override
    {
        return kernels::products_read_halves(caps_) ? materialised(node_->inputs.at(i)) : input(i);
    }
    View indices(std::size_t i) override
    {
        const View v = input(i);
        return v.dtype == i64 ? in_words(v) : v;
    }
    View output(std::size_t i) override { return wide_.of_outputs ? wide_.outputs[i] : views_.at(node_)[i]; }
    void written(std::size_t i) override
    {
        if (!wide_.of_outputs) return;
        const View& to = views_.at(node_)[i];
        if (wide_.outputs[i].value != to.value) copy(wide_.outputs[i], to);
        wide_.outputs[i] = to;
    }
    bool scalar(std::size_t i, ops::Scalar& number) override
    {
        return number_of(node_->inputs.at(i), number);
    }
    View temporary(DType dtype, const Shape& sizes) override
    {
        const std::string name = node_ ? name_of_value(*node_) + " work" : "work";
        return {.value = add_value(dtype, shape::element_count(sizes) * condition_, name),
                .dtype = dtype,
                .layout = {sizes, shape::contiguous_strides(sizes), 0}};
    }
    View contiguous(const View& v) override
    {
        const auto lanes = 16 / static_cast<std::int64_t>(size_of(v.dtype));
        if (v.contiguous() && v.layout.offset.divisible_by(lanes)) return v;
        const View to = temporary(v.dtype, v.sizes());
        copy(v, to);
        return to;
    }
    void launch(ops::LaunchSpec spec) override { add_launch(std::move(spec), no_launch); }
    void launch(ops::LaunchSpec preferred, ops::LaunchSpec fallback) override
    {
        if (touches(preferred, f64) || touches(preferred, i64))
            return add_launch(std::move(fallback), no_launch);
        const auto first = static_cast<std::uint32_t>(out_.plan.launches.size());
        add_launch(std::move(preferred), no_launch);
        add_launch(std::move(fallback), first);
    }
    void elementwise(const graph::Op& op, const std::vector<View>& in, const View& to) override
    {
        std::vector<ops::LaunchOperand> operands;
        kernels::Chain chain = kernels::walks(in, to) ? kernels::chain_of(op, in, to, operands)
                                                      : kernels::chain_of(op, walkable(in, to), to, operands);
        add_chain(std::move(chain), std::move(operands));
    }
    void copy(const View& from, const View& to) override
    {
        if (caps_.host_kernels) append(host_launch(ops::row_op("cast"), {}, {from}, {to}));
        else if (!kernels::walks({&from, 1}, to)) {
            const View same = from.dtype == to.dtype ? to : temporary(from.dtype, to.sizes());
            launch_strided_copy(from, same);
            if (from.dtype != to.dtype) copy(same, to);
        } else {
            std::vector<ops::LaunchOperand> operands;
            kernels::Chain chain = kernels::chain_of_copy(from, to, operands);
            add_chain(std::move(chain), std::move(operands));
        }
    }
    void gemm(const ops::GemmProblem& p) override { kernels::gemm(*this, caps_, p); }
    void conv(const ops::ConvProblem& p) override { kernels::conv(*this, caps_, p); }
    void when(const Dim& condition, const std::function<void()>& emit) override
    {
        const Dim outer = condition_;
        condition_ *= condition;
        emit();
        condition_ = outer;
    }
    View packed(const View& v, const Dim& rows, const Dim& columns) override
    {
        return kernels::packed(*this, caps_, v, rows, columns);
    }
    void widened(const std::function<void()>& emit) override
    {
        Widening outer =
            std::exchange(wide_, {.of_inputs = true, .of_outputs = true, .condition = condition_});
        widen_outputs();
        emit();
        for (std::size_t i = 0; i < wide_.outputs.size(); ++i) written(i);
        wide_ = std::move(outer);
    }
    bool texels() const override { return caps_.prefer_texels; }
    bool launches_are_cheap() const override { return !caps_.gpu_kernels(); }
    std::uint32_t group_memory() const override { return caps_.gpu_kernels() ? caps_.shared_bytes : 0; }
    bool fuses() const override { return fuses_elementwise(request_); }
    bool half_access() const override { return caps_.half_access; }
    bool products_mix_dtypes() const override { return kernels::products_mix_dtypes(caps_); }
    bool products_write(const View& c) const override
    {
        return size_of(c.dtype) >= 4 || kernels::products_write_halves(caps_, c.dtype, c.sizes());
    }
    std::uint32_t widening(DType t) const override
    {
        enum Ways : std::uint32_t { f16_by_integers, f16_by_unpack, bf16_by_shift };
        return t == bf16 ? bf16_by_shift : caps_.unpacks_subnormals ? f16_by_unpack : f16_by_integers;
    }

private:
    std::uint32_t add_value(DType dtype, Dim elements, std::string name)
    {
        PlanValue v;
        v.dtype = dtype;
        v.elements = std::move(elements);
        v.name = std::move(name);
        v.segment = current_segment_;
        out_.plan.values.push_back(std::move(v));
        return static_cast<std::uint32_t>(out_.plan.values.size() - 1);
    }

    void add_external(std::uint32_t slot)
    {
        const Request::External& e = request_.externals[slot];
        const graph::TensorType& t = e.value.type();
        const std::uint32_t id =
            add_value(t.dtype, shape::element_count(t.shape), "external " + std::to_string(slot));
        out_.plan.values[id].place = Place::external;
        out_.plan.values[id].slot = slot;
        out_.external.push_back(id);
        auto& list = views_[e.value.node.get()];
        list.resize(e.value.node->outputs.size());
        list[e.value.index] = {.value = id,
                               .dtype = t.dtype,
                               .layout = {t.shape,
                                          e.strides.empty() ? shape::contiguous_strides(t.shape) : e.strides,
                                          e.offset}};
    }

    // Reports the first node whose value is not bound: a tensor that escaped from a recording.
    [[noreturn]] static void unbound(const Node& n)
    {
        detail::fail(
            ErrorKind::state, n.op ? n.op->name : "tensor",
            "A tensor of a recording is used outside of it, or one from outside was changed while recording: "
            "return it from the recorded function instead.");
    }

    static bool is_number(const Node& n)
    {
        ops::Scalar s;
        return n.op->number && n.op->number(n, s);
    }

    // Also follows views, since a view of a number is a number.
    bool number_of(const Value& v, ops::Scalar& s) const
    {
        const Node* n = v.node.get();
        while (n->op && n->op->view && !n->materialised() && !views_.count(n)) n = n->inputs[0].node.get();
        return !n->materialised() && n->op && !views_.count(n) && n->op->number && n->op->number(*n, s);
    }

    void make_outputs(const Node& n)
    {
        auto& list = views_[&n];
        for (const graph::TensorType& t : n.outputs) {
            list.push_back({.value = add_value(t.dtype, shape::element_count(t.shape), name_of_value(n)),
                            .dtype = t.dtype,
                            .layout = {t.shape, shape::contiguous_strides(t.shape), 0}});
            out_.plan.values.back().segment = current_interior_;
        }
    }

    // Sets the segments and the number of the node that is lowered next.
    void enter(const Node& n)
    {
        current_number_ = ++nodes_;
        current_segment_ = segment(graph::made_in(n));
        current_interior_ = segment(graph::interior_of(n));
    }

    std::uint32_t segment(const graph::Segment* s)
    {
        if (!s) return no_segment;
        if (const auto found = segments_.find(s); found != segments_.end()) return found->second;
        const std::uint32_t outer = segment(graph::closed_outer(s));
        out_.plan.segments.push_back(outer);
        return segments_[s] = static_cast<std::uint32_t>(out_.plan.segments.size() - 1);
    }

    void lower_any(const Node& n)
    {
        node_ = &n;
        if (lower_cast_as_view(n)) return;
        if (n.op->view) lower_view(n);
        else if (caps_.host_kernels || n.op->on_host) lower_for_host(n);
        else if (is_number(n)) return; // written to memory only on demand
        else if (lacks_kernels(n)) lower_decomposed(n);
        else lower_node(n);
    }

    // Makes a cast a view of an earlier node's value in the same segment that has its elements: of a cast of the same
    // value to the same dtype, as for each use of a weight under autocast, or of the temporary that was widened to
    // what it narrows.  Returns false if there is none.
    bool lower_cast_as_view(const Node& n)
    {
        if (n.op != &cast_op_) return false;
        if (const Node& from = *n.inputs[0].node; widens_exactly(from, n)) {
            const View narrow = materialised(from.inputs[0]);
            const PlanValue& v = out_.plan.values[narrow.value];
            const bool is_whole =
                narrow.contiguous() && same(shape::element_count(narrow.sizes()), v.elements);
            if (!is_whole || v.place != Place::temporary ||
                (v.segment != no_segment && v.segment != current_interior_))
                return false;
            views_[&n] = {narrow};
            return true;
        }
        const auto [first, is_first] =
            casts_.try_emplace({n.inputs[0].node.get(), n.inputs[0].index, n.outputs[0].dtype,
                                current_segment_, current_interior_},
                               &n);
        if (!is_first) views_[&n] = views_.at(first->second);
        return !is_first;
    }

    // Whether `wide` is a cast from the dtype of n to one that has all of its numbers, in the segment of n.
    bool widens_exactly(const Node& wide, const Node& n) const
    {
        if (wide.op != &cast_op_ || wide.materialised() || graph::made_in(wide) != graph::made_in(n) ||
            graph::interior_of(wide) != graph::interior_of(n))
            return false;
        const DType from = wide.inputs[0].type().dtype, to = wide.outputs[0].dtype;
        return from == n.outputs[0].dtype && from != to && is_floating(from) && promote_types(from, to) == to;
    }

    static bool lacks_kernels(const Node& n)
    {
        const auto is_double = [](const auto& v) { return v.dtype == f64; };
        if (n.op->row || n.op->doubles || !n.op->decompose) return false;
        return std::any_of(n.outputs.begin(), n.outputs.end(), is_double) ||
               std::any_of(n.inputs.begin(), n.inputs.end(),
                           [&](const Value& v) { return is_double(v.type()); });
    }

    void lower_decomposed(const Node& n)
    {
        const autograd::Decomposed& d = decomposed_.emplace_back(autograd::decomposed(n));
        for (std::size_t i = 0; i < n.inputs.size(); ++i)
            views_[d.inputs[i].node.get()] = {materialised(n.inputs[i])};
        for (const Node* part : graph::pending(d.outputs))
            if (!views_.count(part)) lower_any(*part);
        std::vector<View> outputs;
        for (const Value& v : d.outputs) outputs.push_back(materialised(v));
        views_[&n] = std::move(outputs);
    }

    void lower_node(const Node& n)
    {
        if (!n.op->lower)
            detail::fail(ErrorKind::internal, n.op->name, "The op has no kernels: it can't run on (",
                         caps_.id, ").");
        make_outputs(n);
        // The previous state is saved, as a number may need memory while another node is lowered.
        const Widened widened = widened_operands(caps_, n);
        Widening outer = std::exchange(wide_, {.of_inputs = widened.inputs, .of_outputs = widened.outputs});
        widen_outputs();
        n.op->lower(*this, n);
        for (std::size_t i = 0; i < wide_.outputs.size(); ++i) written(i);
        wide_ = std::move(outer);
    }

    void widen_outputs()
    {
        for (const View& v : views_.at(node_)) {
            const DType wide = wide_dtype(v.dtype);
            wide_.outputs.push_back(wide == v.dtype ? v : temporary(wide, v.sizes()));
        }
    }

    // Copies a view of any rank, which broadcasts to `to`.
    void launch_strided_copy(const View& from, const View& to)
    {
        const shape::Strides strides = kernels::broadcast_strides(from, to.sizes());
        const shape::Collapsed c = shape::collapse(to.sizes(), {{strides}});
        const Dim count = shape::element_count(to.sizes());
        const ops::records::strided_copy record{.x = from,
                                                .y = to,
                                                .count = count,
                                                .rank = static_cast<std::int64_t>(c.sizes.size()),
                                                .sizes = c.sizes,
                                                .strides = c.strides[0]};
        launch(record.launch({.constants = {static_cast<std::uint32_t>(size_of(to.dtype))},
                              .groups = ceil_div(count, 256),
                              .moves = true}));
    }

    // Elementwise kernels walk a limited number of collapsed dimensions. Copies inputs to row-major memory one by one
    // until the launch fits, first without and then with their repeated elements.
    std::vector<View> walkable(std::vector<View> in, const View& to)
    {
        for (const bool expanded : {false, true})
            for (View& v : in) {
                if (kernels::walks(in, to)) return in;
                if (v.number) continue;
                if (expanded)
                    v.layout = {to.sizes(), kernels::broadcast_strides(v, to.sizes()), v.layout.offset};
                v = expanded ? contiguous(v) : with_unique_elements(v, v.dtype);
            }
        return in;
    }

    // Returns a row-major copy in this dtype that stores each element once; repeated dimensions keep stride 0.
    View with_unique_elements(const View& v, DType dtype)
    {
        return ops::copied_once(v, v.sizes().size(), [&](const View& once) {
            const View to = temporary(dtype, once.sizes());
            copy(once, to);
            return to;
        });
    }

    // Returns a copy in another dtype. It is computed at every call, whatever the condition of the launch that needs
    // it, but within widened() only where that runs.
    View widened(const View& v, DType wide)
    {
        const Dim condition = std::exchange(condition_, wide_.condition);
        View to = with_unique_elements(v, wide);
        condition_ = condition;
        return to;
    }

    void lower_view(const Node& n)
    {
        // A view of a number is a number.
        ops::Scalar number;
        if (!caps_.host_kernels && !n.op->view_of && number_of(n.inputs[0], number)) return;
        std::unordered_map<std::size_t, View> under; // by input
        std::vector<View> outputs;
        for (std::size_t i = 0; i < n.outputs.size(); ++i) {
            const std::size_t input = graph::viewed_input(n, i);
            View& from = under.try_emplace(input, materialised(n.inputs[input])).first->second;
            View v = from;
            if (!n.op->view(n, i, v.layout)) {
                v = from = contiguous(from);
                out_.plan.values[v.value].segment = current_interior_;
                if (!n.op->view(n, i, v.layout))
                    detail::fail(ErrorKind::internal, n.op->name,
                                 "A contiguous input can't be viewed as the output.");
            }
            outputs.push_back(std::move(v));
        }
        views_[&n] = std::move(outputs);
    }

    View materialised(const Value& v)
    {
        const Node* n = v.node.get();
        if (auto found = views_.find(n); found != views_.end()) return found->second[v.index];
        const bool view = n->op && n->op->view;
        if (!view && (!n->op || !n->op->lower)) unbound(*n);
        // A number that now needs memory, or a view of one. It is written at every call, whatever the condition of the
        // launch that needs it first.
        const Node* before = std::exchange(node_, n);
        const auto segments = std::tuple(current_segment_, current_interior_, current_number_);
        enter(*n);
        const Dim condition = std::exchange(condition_, Dim(1));
        if (view) {
            materialised(n->inputs[0]);
            lower_view(*n);
        } else lower_node(*n);
        condition_ = condition;
        node_ = before;
        std::tie(current_segment_, current_interior_, current_number_) = segments;
        return views_.at(n)[v.index];
    }

    // Converts i64 indices to i32 (shaders/indices.comp).
    View in_words(View from)
    {
        const auto collapsed = [&] { return shape::collapse(from.sizes(), {{from.layout.strides}}); };
        shape::Collapsed c = collapsed();
        if (c.sizes.size() > kernels::max_walk_rank) {
            from = contiguous(from);
            c = collapsed();
        }
        const View to = temporary(i32, from.sizes());
        const Dim count = shape::element_count(from.sizes());
        const ops::records::indices record{
            .x = from, .y = to, .count = count, .sizes = c.sizes, .strides = c.strides[0]};
        launch(record.launch(
            {.constants = {static_cast<std::uint32_t>(c.sizes.size())}, .groups = ceil_div(count, 64)}));
        return to;
    }

    static bool touches(const ops::LaunchSpec& spec, DType dtype)
    {
        return std::any_of(spec.operands.begin(), spec.operands.end(),
                           [&](const ops::LaunchOperand& o) { return !o.absent && o.dtype == dtype; });
    }

    // Returns the kernel name's suffix for elements of 64 bits (shaders/common/abi.glsl).
    static const char* suffix_of(const ops::LaunchSpec& spec)
    {
        const bool doubles = touches(spec, f64), longs = touches(spec, i64);
        if (spec.moves) return doubles || longs ? "_wide" : "";
        return doubles ? "_f64" : longs ? "_i64" : "";
    }

    void append(PlanLaunch l)
    {
        l.segment = current_segment_;
        l.node = current_number_;
        out_.plan.launches.push_back(std::move(l));
    }

    void add_launch(ops::LaunchSpec spec, std::uint32_t fallback_of)
    {
        PlanLaunch l(std::move(spec));
        l.label = label_of(l.kernel);
        l.doubles = touches(l, f64) && !l.moves;
        l.kernel += suffix_of(l);
        if (touches(l, i64) && !kernels::has_kernel(l.kernel))
            detail::fail(ErrorKind::unsupported, node_ && node_->op ? node_->op->name : "tensor",
                         "There are no kernels for i64 on the device (", caps_.id,
                         "): cast the input first, or use the reference device.");
        l.condition = condition_;
        l.groups *= condition_;
        l.flops *= condition_;
        l.fallback_of = fallback_of;
        append(std::move(l));
    }

    void add_chain(kernels::Chain chain, std::vector<ops::LaunchOperand> operands)
    {
        PlanLaunch l;
        l.label = label_of(chain.steps[0].op->name);
        l.kernel = "elementwise " + kernels::label_of(chain);
        l.operands = std::move(operands);
        l.in_place = kernels::in_place(chain, l.operands);
        l.condition = condition_;
        l.groups = kernels::groups_of(chain) * condition_;
        l.chain = std::make_shared<const kernels::Chain>(std::move(chain));
        append(std::move(l));
    }

    std::string label_of(const std::string& kernel) const
    {
        if (!node_ || !node_->op) return kernel;
        return kernel + " (%" + std::to_string(node_->id) + " " + node_->op->name + ")";
    }

    // Computes the op by its reference function.  With Op::on_host it gets copies, so that a device may keep everything
    // else in memory that only it accesses fast.
    void lower_for_host(const Node& n)
    {
        std::vector<View> in;
        for (const Value& v : n.inputs) in.push_back(materialised(v));
        make_outputs(n);
        std::vector<View> out = views_.at(&n);
        const bool stays = n.op->on_host && caps_.is_cuda() && runs_on_stream(n.attributes);
        const bool moves = n.op->on_host && !stays;
        for (View& v : in) {
            const View from = v;
            if (n.op->on_host) v = stays ? contiguous(v) : on_host(v);
            if (moves) copy(from, v);
        }
        for (View& v : out) v = moves ? on_host(v) : v;
        PlanLaunch l = host_launch(*n.op, n.attributes, in, out);
        if (n.op->on_host) l.label = label_of(n.op->name);
        append(std::move(l));
        for (std::size_t i = 0; moves && i < out.size(); ++i) copy(out[i], views_.at(&n)[i]);
    }
    View on_host(const View& like)
    {
        const View memory = temporary(like.dtype, like.sizes());
        out_.plan.values[memory.value].on_host = true;
        return memory;
    }

    // Copies results that are views of state which this call overwrites, for the caller or for another cell, so that
    // two cells can be swapped.
    void copy_aside_assigned()
    {
        std::vector<bool> overwritten(out_.plan.values.size(), false);
        for (const Request::Assignment& a : request_.assignments) overwritten[out_.external[a.to]] = true;
        for (View& r : out_.results) {
            if (!overwritten[r.value]) continue;
            const View copied = temporary(r.dtype, r.sizes());
            copy(r, copied);
            r = copied;
            overwritten.push_back(false);
        }
    }

    void copy_into_state()
    {
        for (const Request::Assignment& a : request_.assignments) {
            const View& from = out_.results[a.from];
            const std::uint32_t to = out_.external[a.to];
            out_.state_copies.push_back(static_cast<std::uint32_t>(out_.plan.launches.size()));
            copy(from, {.value = to,
                        .dtype = from.dtype,
                        .layout = {from.sizes(), shape::contiguous_strides(from.sizes()), 0}});
        }
    }

    void keep(std::uint32_t value)
    {
        PlanValue& v = out_.plan.values[value];
        if (v.place == Place::temporary) v.place = Place::output;
    }

    const Request& request_;
    const device::Capabilities& caps_;
    Compiled out_;
    std::unordered_map<const Node*, std::vector<View>> views_;
    const graph::Op& cast_op_ = ops::row_op("cast");
    // The first cast of a value, by node, index, dtype, segment and interior.
    std::map<std::tuple<const Node*, std::uint32_t, DType, std::uint32_t, std::uint32_t>, const Node*> casts_;
    std::deque<autograd::Decomposed> decomposed_; // keeps the nodes alive that views_ refers to
    const Node* node_ = nullptr;
    // Operands of the current node after widening, if its kernels do not take narrow dtypes.
    struct Widening {
        bool of_inputs = false, of_outputs = false;
        Dim condition = 1; // where the copies are needed
        std::unordered_map<std::size_t, View> inputs{};
        std::vector<View> outputs{};
    } wide_;
    Dim condition_ = 1; // product of the conditions of the enclosing when()
    std::unordered_map<const graph::Segment*, std::uint32_t> segments_;
    std::uint32_t current_segment_ = no_segment, current_interior_ = no_segment; // of the current node
    std::uint32_t nodes_ = 0, current_number_ = 0;
};

} // namespace

Compiled lower(const Request& request) { return GraphLowering(request).run(); }

} // namespace reprise::plan
