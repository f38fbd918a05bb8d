// Data parallelism: each rank of a world trains the same module on its part of each batch.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <reprise/distributed/world.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/random.hpp>

namespace reprise::nn {

// Options of DistributedDataParallel.
struct DistributedDataParallelOptions {
    // Gradients are exchanged in buckets of about this size, so that an exchange begins while others are computed.
    std::int64_t bucket_bytes = 25 << 20;
    std::int64_t first_bucket_bytes = 1 << 20; // of the first one, of the last layers
    // Weights each rank's gradients by the samples of its last call, which are the size of dimension 0 of the first
    // tensor that the module got: so the mean over batches of unequal size is that over all samples.
    bool weight_by_samples = true;
    // Before each call in training mode, buffers such as running statistics become those of rank 0.
    bool broadcast_buffers = true;
};

} // namespace reprise::nn

namespace reprise::detail {

class GradientReducer { // src/distributed/data_parallel.cpp
public:
    struct Shared;
    GradientReducer(nn::Module&, distributed::World, const nn::DistributedDataParallelOptions&);
    ~GradientReducer();
    GradientReducer(const GradientReducer&) = delete;
    GradientReducer& operator=(const GradientReducer&) = delete;
    bool exchange(bool on);           // returns the previous setting
    std::int64_t random_part() const; // of RandomPart
    const std::shared_ptr<Shared>& shared() const { return shared_; }

private:
    std::shared_ptr<Shared> shared_;
};

} // namespace reprise::detail

namespace reprise::nn {

// Lets the ranks of a world train a module together, as torch.nn.parallel.DistributedDataParallel.  Each rank has a
// module of the same structure, calls it with its part of the batch, and backward() leaves the mean of all ranks'
// gradients in grad() on each of them (a ZeroRedundancyOptimizer takes them from there).  Exchanges run beside the rest
// of the backward pass in recorded programs.
//
//     nn::DistributedDataParallel ddp(net, world);
//     const auto step = record([&](Tensor x, Tensor y) {
//         optimizer.zero_grad();
//         const Tensor loss = cross_entropy(ddp(x), y);
//         loss.backward();
//         optimizer.step();
//         return loss; // of this rank's part
//     }, {spec({n, 784}), spec({n}, i64)});
//
// The loss must be a mean over samples.  Ranks must use the same parameters in each backward pass; those without
// a gradient are left out.  Hooks on the module and its parameters do the work, until this object is destroyed,
// which must be before the module is destroyed or moved.
template <std::derived_from<Module> M> class DistributedDataParallel {
public:
    // Copies the parameters and buffers of rank 0 to all ranks.  Errors are those of broadcast().
    DistributedDataParallel(M& module, const distributed::World& world,
                            const DistributedDataParallelOptions& options = {})
        : module_(&module), reducer_(module, world, options)
    {}

    // Calls the module.  Random numbers, such as those of dropout, are those of this rank's part of a batch
    // (RandomPart): where all ranks have the same generator state and as many samples, each sample gets the numbers
    // that it would get in one process, which computes the batches of all ranks one after the other.
    template <class... Arguments> auto operator()(Arguments&&... arguments)
    {
        const RandomPart part(reducer_.random_part());
        return (*module_)(std::forward<Arguments>(arguments)...);
    }
    M& module() const { return *module_; }    // the module
    M* operator->() const { return module_; } // its members, as in ddp->parameters()

    // While the returned object exists, backward passes exchange nothing: gradients of several batches add up on each
    // rank.  A backward pass after that exchanges the sums.
    class NoSync {
    public:
        // For no_sync().
        explicit NoSync(reprise::detail::GradientReducer& r) : reducer_(r), before_(r.exchange(false)) {}
        ~NoSync() { reducer_.exchange(before_); } // exchanges again, unless another one exists
        NoSync(const NoSync&) = delete;
        NoSync& operator=(const NoSync&) = delete;

    private:
        reprise::detail::GradientReducer& reducer_;
        bool before_;
    };
    // Returns such an object.
    [[nodiscard]] NoSync no_sync() { return NoSync(reducer_); }
    // For the library itself.
    reprise::detail::GradientReducer& reducer() { return reducer_; }

private:
    M* module_;
    reprise::detail::GradientReducer reducer_;
};

} // namespace reprise::nn
