#include "distributed/shards.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <reprise/autograd/grad.hpp>
#include <reprise/distributed/collectives.hpp>
#include <reprise/distributed/zero_redundancy.hpp>
#include <reprise/error.hpp>
#include <reprise/grad_mode.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "distributed/gradient_reducer.hpp"
#include "optim/clear_gradients.hpp"
#include "optim/clip_norm.hpp"
#include "optim/state_parts.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace distributed {

std::int64_t shard_size(std::int64_t elements, int ranks) { return (elements + ranks - 1) / ranks; }

Tensor to_shards(const Tensor& t, int ranks)
{
    const std::int64_t n = t.numel().value(), size = shard_size(n, ranks);
    const Tensor flat = reshape(t, {-1});
    return reshape(n == size * ranks ? flat : pad(flat, {0, size * ranks - n}), {ranks, size});
}

Tensor shard_of(const Tensor& t, int rank, int ranks)
{
    const std::int64_t n = t.numel().value(), size = shard_size(n, ranks);
    const std::int64_t begin = std::min(size * rank, n), end = std::min(begin + size, n);
    const Tensor own = narrow(reshape(t, {-1}), 0, begin, end - begin);
    return end - begin == size ? own : pad(own, {0, size - (end - begin)});
}

Tensor from_shards(const Tensor& shards, const Shape& shape)
{
    return reshape(narrow(reshape(shards, {-1}), 0, 0, shape::element_count(shape)), shape);
}

} // namespace distributed

namespace detail {

namespace {

constexpr const char* op = "ZeroRedundancyOptimizer";

// Calls f(index, name, value) for the entries of elements of a state, and returns the state with the entries that f
// returns in their place.
template <class Entries, class F>
optim::StateDict replaced(const optim::StateDict& state, const Entries& entries,
                          const Shards::HasElements& has_elements, const F& f)
{
    optim::StateDict out = state;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string prefix = std::to_string(i) + '.';
        for (auto at = state.lower_bound(prefix); at != state.end() && at->first.starts_with(prefix); ++at) {
            if (!has_elements(i, at->first.substr(prefix.size()))) continue;
            out.erase(at->first);
            out.insert(f(i, at->first, at->second));
        }
    }
    return out;
}

} // namespace

Shards::Shards(GradientReducer& reducer) : reducer_(reducer.shared()) {}

Shards::~Shards()
{
    for (const Entry& e : entries_) reducer_->shards.erase(e.parameter.cell().get());
}

Parameters Shards::of(const Parameters& parameters)
{
    const distributed::World& world = reducer_->world;
    if (world.size() == 1) return parameters;
    if (!reducer_->is_alive)
        fail(ErrorKind::state, op, "The DistributedDataParallel of its parameters is gone.");
    const no_grad off;
    const std::vector<Variable> known = reducer_->module.parameters();
    std::vector<Entry> entries;
    for (const Variable& p : parameters) {
        const auto is_p = [&](const Variable& other) { return p.defined() && other.cell() == p.cell(); };
        const std::size_t index = entries_.size() + entries.size();
        if (!std::any_of(known.begin(), known.end(),
                         [&](const Variable& k) { return is_p(k) && k.requires_grad(); }))
            fail(ErrorKind::argument, op, "The parameter with index (", index,
                 ") is none of the module of DistributedDataParallel that require a gradient.");
        if (reducer_->shards.contains(p.cell().get()) ||
            std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return is_p(e.parameter); }))
            fail(ErrorKind::argument, op, "The parameter with index (", index,
                 ") comes twice: give each once.");
        entries.push_back(
            {p, Variable(distributed::shard_of(p.detach(), world.rank(), world.size()).clone())});
    }
    Parameters out;
    for (const Entry& e : entries) {
        reducer_->shards.emplace(e.parameter.cell().get(), e.shard);
        entries_.push_back(e);
        out.push_back(e.shard);
    }
    return out;
}

Tensor Shards::value(std::size_t index) const
{
    const distributed::World& world = reducer_->world;
    return distributed::shard_of(entries_[index].parameter.detach(), world.rank(), world.size());
}

void Shards::check_exchanged() const
{
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (entries_[i].parameter.grad().defined())
            fail(ErrorKind::state, op, "The parameter with index (", i,
                 ") has a gradient that was not exchanged: call ",
                 "backward() outside of no_sync(), while the DistributedDataParallel of the optimizer "
                 "exists.");
}

void Shards::gather() const
{
    const no_grad off;
    const int ranks = reducer_->world.size();
    distributed::Tensors shards;
    std::vector<Variable> parameters;
    for (const Entry& e : entries_)
        if (e.shard.grad().defined()) { // else the step has left it as it was
            shards.push_back(e.shard.detach());
            parameters.push_back(e.parameter);
        }
    const std::int64_t bytes = std::max<std::int64_t>(reducer_->options.bucket_bytes / ranks, 1);
    for (const distributed::Bucket& bucket : distributed::buckets_of(shards, bytes, bytes)) {
        const Tensor own = distributed::joined(distributed::chosen(shards, bucket));
        const Tensor all = reshape(distributed::all_gather(own, reducer_->world),
                                   {ranks, own.numel()}); // a row for each rank
        Dim at = 0;
        for (const std::size_t i : bucket) {
            const Dim size = shards[i].numel();
            parameters[i].assign(distributed::from_shards(narrow(all, 1, at, size), parameters[i].shape()));
            at += size;
        }
    }
}

void Shards::clear_gradients(bool set_to_none)
{
    std::vector<Variable> all;
    for (const Entry& e : entries_) all.push_back(e.parameter);
    optim::clear_gradients(all, set_to_none);
}

Tensor Shards::any_rank(const Tensor& skip) const
{
    if (reducer_->world.size() == 1) return skip;
    const no_grad off;
    return distributed::all_reduce(cast(skip != 0, f32), reducer_->world, distributed::ReduceOp::max);
}

optim::GradNorm Shards::clip(const Parameters& shards, double max_norm,
                             const optim::ClipGradNormOptions& options) const
{
    constexpr const char* clip_op = "clip_grad_norm_";
    const double p = options.norm_type;
    const distributed::World& world = reducer_->world;
    if (world.size() > 1 && p <= 0)
        fail(ErrorKind::argument, clip_op, "The norm_type (", p,
             ") must be above 0, as each rank has a part of the gradients.");
    return optim::clip_by_norm(clip_op, shards, max_norm, options, [&](const Tensor& own) {
        using distributed::all_reduce, distributed::ReduceOp;
        if (world.size() == 1) return own;
        if (std::isinf(p)) return all_reduce(own, world, ReduceOp::max);
        return pow(all_reduce(pow(own, p), world), 1 / p);
    });
}

optim::StateDict Shards::named_parts(const optim::StateDict& of_shards, const HasElements& has_elements) const
{
    const distributed::World& world = reducer_->world;
    return replaced(of_shards, entries_, has_elements,
                    [&](std::size_t, const std::string& name, const Tensor& shard) {
                        return std::pair(optim::part_name(name, world.rank(), world.size()), shard);
                    });
}

optim::StateDict Shards::whole(const optim::StateDict& of_shards, const HasElements& has_elements) const
{
    const no_grad off;
    const distributed::World& world = reducer_->world;
    return replaced(of_shards, entries_, has_elements,
                    [&](std::size_t i, const std::string& name, const Tensor& shard) {
                        if (shard.dtype() == u8)
                            fail(ErrorKind::unsupported, op, "The entry (", name,
                                 ") is a moment in 8 bits, whose blocks are those of a shard.");
                        const Tensor all = reshape(distributed::all_gather(shard, world), {world.size(), -1});
                        return std::pair(name, distributed::from_shards(all, entries_[i].parameter.shape()));
                    });
}

optim::StateDict Shards::of_shards(const optim::StateDict& state, const HasElements& has_elements) const
{
    const no_grad off;
    const distributed::World& world = reducer_->world;
    optim::StateDict out = state;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const std::string prefix = std::to_string(i) + '.';
        const Shape& shape = entries_[i].parameter.shape();
        std::set<std::string> names; // of entries of elements, of which the state may have parts
        for (auto at = state.lower_bound(prefix); at != state.end() && at->first.starts_with(prefix); ++at) {
            const std::string name = optim::without_part(at->first);
            if (!has_elements(i, name.substr(prefix.size()))) continue;
            names.insert(name);
            out.erase(at->first);
        }
        for (const std::string& name : names) {
            const auto own = state.find(optim::part_name(name, world.rank(), world.size()));
            if (own != state.end()) {
                out.emplace(name, own->second);
                continue;
            }
            const Tensor all = *optim::whole_entry(state, name, shape);
            if (!all.defined() || to_string(all.shape()) != to_string(shape))
                fail(ErrorKind::shape, op, "The entry (", name, ") has the shape ",
                     all.defined() ? to_string(all.shape()) : "of an undefined tensor", " but should have ",
                     to_string(shape), ".");
            out.emplace(name, distributed::shard_of(all, world.rank(), world.size()).clone());
        }
    }
    return out;
}

} // namespace detail

} // namespace reprise
