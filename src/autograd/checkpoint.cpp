#include <reprise/autograd/checkpoint.hpp>

#include <algorithm>

#include <reprise/error.hpp>
#include <reprise/ops/elementwise.hpp>

#include "graph/cell.hpp"
#include "graph/segment.hpp"

namespace reprise {

namespace detail {

CheckpointRun::CheckpointRun(const CheckpointOptions& options) : saved_dtype_(options.saved_dtype)
{
    if (saved_dtype_ && !is_floating(*saved_dtype_))
        fail(ErrorKind::argument, "checkpoint", "saved_dtype (", *saved_dtype_,
             ") is no floating-point dtype: give f16 or bf16.");
    if (graph::ambient().checkpoints && graph::grad_mode())
        segment_ = std::make_unique<graph::SegmentScope>(
            options.policy == CheckpointOptions::Policy::selective, options.layer);
    ++graph::ambient().running_checkpoints;
}

CheckpointRun::~CheckpointRun() { --graph::ambient().running_checkpoints; }

bool CheckpointRun::rounds(const Tensor& t) const
{
    return saved_dtype_ && t.defined() && is_floating(t.dtype()) &&
           size_of(*saved_dtype_) < size_of(t.dtype()) && t.dim() > 0;
}

// The narrow value is computed outside of the segment, which so saves it; the wide one is a part of its interior.
Tensor CheckpointRun::rounded(const Tensor& t)
{
    if (!rounds(t)) return t;
    const auto [found, is_new] = of_cell_.try_emplace(t.cell().get());
    if (!is_new) return found->second;
    Tensor narrow;
    {
        graph::Segment*& current = graph::current_segment();
        const graph::Scoped<graph::Segment*> outside(current, segment_ ? segment_->outer() : current);
        narrow = cast(t, *saved_dtype_);
    }
    return found->second = cast(narrow, t.dtype());
}

std::vector<Tensor> CheckpointRun::rounded(const std::vector<Tensor>& tensors)
{
    std::vector<Tensor> all;
    for (const Tensor& t : tensors) all.push_back(rounded(t));
    return all;
}

void CheckpointRun::narrow(const std::vector<Tensor*>& outputs)
{
    of_cell_.clear();
    std::vector<Tensor> given; // alive, so that no other tensor gets the address of their cell
    for (Tensor* t : outputs) {
        if (!rounds(*t)) continue;
        narrowed_.push_back({t, t->dtype()});
        given.push_back(*t);
        const auto [found, is_new] = of_cell_.try_emplace(t->cell().get());
        if (is_new) found->second = cast(*t, *saved_dtype_);
        *t = found->second;
    }
}

// Of a rounded result the narrow value is the segment's output; the wide one that the function gave is a part of its
// interior, to which no handle remains.
void CheckpointRun::close(const std::vector<Tensor>& outputs)
{
    of_cell_.clear();
    if (!segment_) return;
    std::vector<graph::Value> values;
    for (const Tensor& t : outputs)
        if (t.defined()) values.push_back(graph::read(t));
    segment_->close(values);
    segment_.reset();
}

void CheckpointRun::widen()
{
    of_cell_.clear();
    std::vector<Tensor> narrow; // alive, as above
    for (const auto& [t, dtype] : narrowed_) {
        narrow.push_back(*t);
        const auto [found, is_new] = of_cell_.try_emplace(t->cell().get());
        if (is_new) found->second = cast(*t, dtype);
        *t = found->second;
    }
    of_cell_.clear();
}

void fail_without_function(const char* op)
{
    fail(ErrorKind::argument, op, "The function is null: give one that can be called.");
}

CheckpointMode::CheckpointMode(bool on) : before_(std::exchange(graph::ambient().checkpoints, on)) {}
CheckpointMode::~CheckpointMode() { graph::ambient().checkpoints = before_; }

} // namespace detail

bool is_checkpointing() { return graph::ambient().running_checkpoints > 0; }

bool checkpoint_mode() { return graph::ambient().checkpoints; }

Tensor checkpoint_sequential(const std::vector<std::function<Tensor(Tensor)>>& functions,
                             std::size_t segments, Tensor x, const CheckpointOptions& options)
{
    constexpr const char* op = "checkpoint_sequential";
    if (segments < 1)
        detail::fail(ErrorKind::argument, op, "The number of segments is (0): give at least one.");
    for (const auto& f : functions) detail::require_function(op, f);
    if (functions.empty()) return x;
    segments = std::min(segments, functions.size());
    const std::size_t each = functions.size() / segments, longer = functions.size() % segments;
    auto next = functions.begin();
    for (std::size_t s = 0; s < segments; ++s) {
        const auto end = next + static_cast<std::ptrdiff_t>(each + (s < longer ? 1 : 0));
        const auto run = [&](Tensor in) {
            for (auto f = next; f != end; ++f) in = (*f)(in);
            return in;
        };
        x = s + 1 < segments ? checkpoint(options, run, x) : run(x);
        next = end;
    }
    return x;
}

} // namespace reprise
