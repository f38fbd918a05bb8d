#include "distributed/gradient_reducer.hpp"

#include <algorithm>
#include <utility>

#include <reprise/autograd/grad.hpp>
#include <reprise/distributed/collectives.hpp>
#include <reprise/error.hpp>
#include <reprise/grad_mode.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "autograd/walk.hpp"
#include "distributed/shards.hpp"
#include "graph/cell.hpp"
#include "ops/random.hpp"
#include "ops/registry.hpp"

namespace reprise::detail {

using distributed::all_reduce, distributed::Bucket, distributed::buckets_of, distributed::chosen,
    distributed::cut, distributed::joined, distributed::reduce_scatter, distributed::ReduceOp,
    distributed::Tensors;
using nn::DistributedDataParallelOptions, nn::Module;

GradientReducer::Shared::Shared(Module& m, distributed::World w, const DistributedDataParallelOptions& o)
    : module(m), world(std::move(w)), options(o)
{}

void GradientReducer::Shared::broadcast_all(std::vector<Variable> variables)
{
    const no_grad off;
    const Tensors values(variables.begin(), variables.end());
    for (const Bucket& bucket : buckets_of(values, options.bucket_bytes, options.bucket_bytes)) {
        const Tensors own = chosen(values, bucket),
                      received = cut(distributed::broadcast(joined(own), world), own);
        for (std::size_t k = 0; k < bucket.size(); ++k) variables[bucket[k]].assign(received[k]);
    }
}

void GradientReducer::Shared::called(const Tensors& inputs)
{
    if (grad_enabled()) {
        samples.reset();
        if (!inputs.empty() && inputs[0].dim() > 0) samples = inputs[0].shape()[0];
    }
    if (world.size() > 1 && options.broadcast_buffers && module.is_training())
        broadcast_all(module.buffers());
}

void GradientReducer::Shared::arrived()
{
    if (!exchanges || !queued.expired() || !autograd::stores_gradients()) return;
    const auto token = std::make_shared<bool>(true); // gone with the callback, even if that never runs
    queued = token;
    autograd::queue_callback([self = shared_from_this(), token] {
        self->queued.reset();
        if (self->is_alive) self->reduce();
    });
}

void GradientReducer::Shared::reduce()
{
    const no_grad off;
    std::vector<Gradient> whole, to_shards;
    for (const Variable& p : module.parameters())
        if (p.grad().defined())
            (shards.contains(p.cell().get()) ? to_shards : whole).push_back({p, p.grad()});
    if (whole.empty() && to_shards.empty()) return;
    // The last layers' gradients are computed first.
    std::reverse(whole.begin(), whole.end());
    std::reverse(to_shards.begin(), to_shards.end());
    const Tensor share = share_of_samples((whole.empty() ? to_shards : whole)[0].value);
    reduce_whole(whole, share);
    reduce_to_shards(to_shards, share);
    samples.reset();
}

namespace {

// Returns the mean of all ranks' gradients, weighted by this rank's share if that is defined.
template <class Reduce> Tensor mean_of(const Tensor& own, const Tensor& share, const Reduce& reduce)
{
    return share.defined() ? reduce(own * share.to(own.dtype()), ReduceOp::sum) : reduce(own, ReduceOp::mean);
}

} // namespace

void GradientReducer::Shared::reduce_whole(const std::vector<Gradient>& gradients, const Tensor& share)
{
    Tensors values;
    for (const Gradient& g : gradients) values.push_back(g.value);
    for (const Bucket& bucket : buckets_of(values, options.first_bucket_bytes, options.bucket_bytes)) {
        const Tensors own = chosen(values, bucket);
        const Tensor mean =
            mean_of(joined(own), share, [&](const Tensor& t, ReduceOp r) { return all_reduce(t, world, r); });
        const Tensors means = cut(mean, own);
        for (std::size_t k = 0; k < bucket.size(); ++k)
            Variable(gradients[bucket[k]].parameter).set_grad(means[k]);
    }
}

void GradientReducer::Shared::reduce_to_shards(const std::vector<Gradient>& gradients, const Tensor& share)
{
    Tensors own_shards;
    for (const Gradient& g : gradients) own_shards.push_back(shards.at(g.parameter.cell().get()));
    const auto of_rank = [&](std::int64_t bytes) { return std::max<std::int64_t>(bytes / world.size(), 1); };
    for (const Bucket& bucket :
         buckets_of(own_shards, of_rank(options.first_bucket_bytes), of_rank(options.bucket_bytes))) {
        Tensors rows; // a row for each rank, of all tensors
        for (const std::size_t i : bucket)
            rows.push_back(distributed::to_shards(gradients[i].value, world.size()));
        const Tensor own = rows.size() == 1 ? rows[0] : cat(rows, 1);
        const Tensor mean =
            mean_of(own, share, [&](const Tensor& t, ReduceOp r) { return reduce_scatter(t, world, r); });
        const Tensors reduced = cut(reshape(mean, {-1}), chosen(own_shards, bucket));
        for (std::size_t k = 0; k < bucket.size(); ++k) {
            Variable parameter = gradients[bucket[k]].parameter;
            Variable& shard = shards.at(parameter.cell().get());
            parameter.zero_grad();
            const std::shared_ptr<graph::Cell> before = graph::grad_to_add_to(shard);
            shard.set_grad(before ? Tensor(before) + reduced[k] : reduced[k]);
        }
    }
}

Tensor GradientReducer::Shared::share_of_samples(const Tensor& like) const
{
    const bool is_known = samples && (samples->is_constant() || is_recording());
    if (!options.weight_by_samples || !is_known) return {};
    const Tensor one = ones({1}, {.device = like.device()});
    const Tensor own = one * ops::size_like(one, *samples);
    return own / all_reduce(own, world);
}

GradientReducer::GradientReducer(Module& module, distributed::World world,
                                 const DistributedDataParallelOptions& options)
    : shared_(std::make_shared<Shared>(module, std::move(world), options))
{
    if (options.bucket_bytes < 1 || options.first_bucket_bytes < 1)
        fail(ErrorKind::argument, "DistributedDataParallel", "Buckets of (", options.bucket_bytes, ") and (",
             options.first_bucket_bytes, ") bytes: give at least 1.");
    Shared& s = *shared_;
    if (s.world.size() == 1) return;
    s.broadcast_all(module.parameters());
    s.broadcast_all(module.buffers());
    s.hooks.push_back(
        module.register_forward_pre_hook([&s](Module&, const Tensors& inputs) { s.called(inputs); }));
    for (const Variable& p : module.parameters())
        if (p.requires_grad()) s.hooks.push_back(p.register_hook([&s](const Tensor&) { s.arrived(); }));
}

GradientReducer::~GradientReducer()
{
    for (const HookHandle& h : shared_->hooks) h.remove();
    shared_->is_alive = false;
}

std::int64_t GradientReducer::random_part() const
{
    return ops::random_part() * shared_->world.size() + shared_->world.rank();
}
bool GradientReducer::exchange(bool on) { return std::exchange(shared_->exchanges, on); }

} // namespace reprise::detail
