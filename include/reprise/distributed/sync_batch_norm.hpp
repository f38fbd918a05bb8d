// Batch normalisation over the batches of all ranks.
#pragma once
#include <cstdint>

#include <reprise/distributed/world.hpp>
#include <reprise/nn/normalization.hpp>

namespace reprise::nn {

// BatchNorm of x [N, C, ...] whose mean and variance in training are those of the batches of all ranks, as
// torch.nn.SyncBatchNorm.  All ranks must call it.  A rank may have no rows; a channel with one value on all ranks
// together becomes its bias.  Where batches differ in size, DistributedDataParallel needs weight_by_samples = false:
// else gradients are wrong, as those that pass through the statistics of other ranks get the weight of this one.
class SyncBatchNorm : public BatchNorm {
public:
    REPRISE_LAYER(SyncBatchNorm)
    using BatchNorm::BatchNorm;
    // Throws Error(argument) for num_features below 1 and options out of range.
    SyncBatchNorm(std::int64_t num_features, const distributed::World&,
                  const BatchNormSettings& options = {});

    // Lets all BatchNorm layers of a module do the same, from now on; it changes neither their classes nor their names.
    static void convert_sync_batchnorm(Module&, const distributed::World&);
};

} // namespace reprise::nn
