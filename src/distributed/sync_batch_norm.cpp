#include <reprise/distributed/sync_batch_norm.hpp>

#include <reprise/distributed/collectives.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"

namespace reprise::nn {

namespace {

// Combines the mean, the sum of squared deviations and the count of each rank's batch (Chan et al., 1979).
BatchNorm::Statistics statistics_of_all(const Tensor& x, const distributed::World& world)
{
    const Dim channels = x.shape()[1];
    std::vector<std::int64_t> others; // all dimensions but the channels
    Shape by_channel;                 // [1, C, 1, ...]
    Dim per_channel = 1;
    for (std::size_t d = 0; d < x.shape().size(); ++d) {
        by_channel.push_back(d == 1 ? channels : Dim(1));
        if (d == 1) continue;
        others.push_back(static_cast<std::int64_t>(d));
        per_channel *= x.shape()[d];
    }
    const Tensor one = ones({1}, {.dtype = x.dtype(), .device = x.device()});
    const Tensor count_here = one * ops::size_like(one, per_channel);
    const Tensor mean_here = x.sum(others) / clamp_min(count_here, 1); // a rank may have no rows
    const Tensor deviations = (x - reshape(mean_here, by_channel)).square().sum(others);
    const Tensor here = cat({mean_here, deviations, count_here}, 0);
    const Tensor all =
        distributed::all_gather(reshape(here, {1, channels * 2 + 1}), world); // a row for each rank
    const Tensor means = narrow(all, 1, 0, channels), squares = narrow(all, 1, channels, channels),
                 counts = narrow(all, 1, channels * 2, 1);
    const Tensor count = counts.sum({0}), mean = (means * counts).sum({0}) / count;
    return {mean, (squares + counts * (means - mean).square()).sum({0}) / count, count};
}

void set_world(BatchNorm& layer, const distributed::World& world)
{
    if (world.size() == 1) return layer.synchronize(nullptr);
    layer.synchronize([world](const Tensor& x) { return statistics_of_all(x, world); });
}

} // namespace

SyncBatchNorm::SyncBatchNorm(std::int64_t num_features, const distributed::World& world,
                             const BatchNormSettings& options)
    : BatchNorm("SyncBatchNorm", num_features, options, {2, 3, 4, 5})
{
    set_world(*this, world);
}

void SyncBatchNorm::convert_sync_batchnorm(Module& module, const distributed::World& world)
{
    module.apply([&](Module& m) {
        if (auto* layer = dynamic_cast<BatchNorm*>(&m)) set_world(*layer, world);
    });
}

} // namespace reprise::nn
