#include <reprise/distributed/data_parallel.hpp>

#include <algorithm>
#include <optional>

#include <reprise/autograd/grad.hpp>
#include <reprise/distributed/collectives.hpp>
#include <reprise/grad_mode.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "autograd/walk.hpp"
#include "ops/registry.hpp"

namespace reprise {

namespace {

using nn::DistributedDataParallelOptions, nn::Module;

using Tensors = std::vector<Tensor>;

Tensor flat(const Tensor& t) { return reshape(t, {-1}); }

// Calls f with lists of tensors of one dtype and device, each of at most about so many bytes.
template <class F>
void each_bucket(const Tensors& tensors, std::int64_t first_bytes, std::int64_t bytes, const F& f)
{
    Tensors bucket;
    std::int64_t size = 0, limit = first_bytes;
    const auto end_bucket = [&] {
        if (bucket.empty()) return;
        f(bucket);
        bucket.clear();
        size = 0;
        limit = bytes;
    };
    for (const Tensor& t : tensors) {
        if (!bucket.empty() && (t.dtype() != bucket[0].dtype() || t.device() != bucket[0].device()))
            end_bucket();
        bucket.push_back(t);
        size += t.numel().value() * static_cast<std::int64_t>(size_of(t.dtype()));
        if (size >= limit) end_bucket();
    }
    end_bucket();
}

// Cuts a vector into tensors of the shapes of `like`.
Tensors cut(const Tensor& vector, const Tensors& like)
{
    Tensors out;
    Dim at = 0;
    for (const Tensor& t : like) {
        out.push_back(reshape(narrow(vector, 0, at, t.numel()), t.shape()));
        at += t.numel();
    }
    return out;
}

Tensor joined(Tensors parts)
{
    for (Tensor& t : parts) t = flat(t);
    return parts.size() == 1 ? parts[0] : cat(parts, 0);
}

} // namespace

struct detail::GradientReducer::Shared : std::enable_shared_from_this<Shared> {
    Shared(Module& m, distributed::World w, const DistributedDataParallelOptions& o)
        : module(m), world(std::move(w)), options(o)
    {}

    // Assigns rank 0's values.
    void broadcast_all(std::vector<Variable> variables)
    {
        const no_grad off;
        const Tensors values(variables.begin(), variables.end());
        std::size_t next = 0;
        each_bucket(values, options.bucket_bytes, options.bucket_bytes, [&](const Tensors& bucket) {
            const Tensors received = cut(distributed::broadcast(joined(bucket), world), bucket);
            for (const Tensor& t : received) variables[next++].assign(t);
        });
    }

    void called(const Tensors& inputs)
    {
        if (grad_enabled()) {
            samples.reset();
            if (!inputs.empty() && inputs[0].dim() > 0) samples = inputs[0].shape()[0];
        }
        if (world.size() > 1 && options.broadcast_buffers && module.is_training())
            broadcast_all(module.buffers());
    }

    void arrived()
    {
        if (!exchanges || !queued.expired() || !autograd::stores_gradients()) return;
        const auto token = std::make_shared<bool>(true); // gone with the callback, even if that never runs
        queued = token;
        autograd::queue_callback([self = shared_from_this(), token] {
            self->queued.reset();
            if (self->is_alive) self->reduce();
        });
    }

    // The last layers' gradients are computed first.
    void reduce()
    {
        const no_grad off;
        std::vector<Variable> variables;
        Tensors gradients;
        for (const Variable& p : module.parameters())
            if (p.grad().defined()) {
                variables.push_back(p);
                gradients.push_back(p.grad());
            }
        if (gradients.empty()) return;
        std::reverse(variables.begin(), variables.end());
        std::reverse(gradients.begin(), gradients.end());
        const Tensor share = share_of_samples(gradients[0]);
        std::size_t next = 0;
        each_bucket(gradients, options.first_bucket_bytes, options.bucket_bytes, [&](const Tensors& bucket) {
            const Tensor own = joined(bucket);
            const Tensor mean = share.defined()
                                    ? distributed::all_reduce(own * share.to(own.dtype()), world)
                                    : distributed::all_reduce(own, world, distributed::ReduceOp::mean);
            for (const Tensor& t : cut(mean, bucket)) variables[next++].set_grad(t);
        });
        samples.reset();
    }

    // Returns this rank's part of all samples, f32; undefined: all ranks count alike.
    Tensor share_of_samples(const Tensor& like) const
    {
        const bool is_known = samples && (samples->is_constant() || is_recording());
        if (!options.weight_by_samples || !is_known) return {};
        const Tensor one = ones({1}, {.device = like.device()});
        const Tensor own = one * ops::size_like(one, *samples);
        return own / distributed::all_reduce(own, world);
    }

    Module& module;
    distributed::World world;
    DistributedDataParallelOptions options;
    std::vector<HookHandle> hooks{};
    std::optional<Dim> samples{}; // of the last call
    std::weak_ptr<bool> queued{}; // expired: no backward pass is going to exchange
    bool exchanges = true, is_alive = true;
};

detail::GradientReducer::GradientReducer(Module& module, distributed::World world,
                                         const DistributedDataParallelOptions& options)
    : shared_(std::make_shared<Shared>(module, std::move(world), options))
{
    if (options.bucket_bytes < 1 || options.first_bucket_bytes < 1)
        detail::fail(ErrorKind::argument, "DistributedDataParallel", "Buckets of (", options.bucket_bytes,
                     ") and (", options.first_bucket_bytes, ") bytes: give at least 1.");
    Shared& s = *shared_;
    if (s.world.size() == 1) return;
    s.broadcast_all(module.parameters());
    s.broadcast_all(module.buffers());
    s.hooks.push_back(
        module.register_forward_pre_hook([&s](Module&, const Tensors& inputs) { s.called(inputs); }));
    for (const Variable& p : module.parameters())
        if (p.requires_grad()) s.hooks.push_back(p.register_hook([&s](const Tensor&) { s.arrived(); }));
}

detail::GradientReducer::~GradientReducer()
{
    for (const HookHandle& h : shared_->hooks) h.remove();
    shared_->is_alive = false;
}

bool detail::GradientReducer::exchange(bool on) { return std::exchange(shared_->exchanges, on); }

} // namespace reprise
