// The state of a GradientReducer, which its hooks and the shards of ZeroRedundancyOptimizer share.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/distributed/data_parallel.hpp>
#include <reprise/hooks.hpp>

#include "distributed/buckets.hpp"

namespace reprise::detail {

struct GradientReducer::Shared : std::enable_shared_from_this<Shared> {
    Shared(nn::Module&, distributed::World, const nn::DistributedDataParallelOptions&);

    void broadcast_all(std::vector<Variable>); // assigns rank 0's values
    void called(const std::vector<Tensor>& inputs);
    void arrived(); // a gradient, in a backward pass
    void reduce();  // the gradients of all parameters
    // Returns this rank's part of all samples, f32; undefined: all ranks count alike.
    Tensor share_of_samples(const Tensor& like) const;

    nn::Module& module;
    distributed::World world;
    nn::DistributedDataParallelOptions options;
    std::vector<HookHandle> hooks{};
    std::optional<Dim> samples{}; // of the last call
    std::weak_ptr<bool> queued{}; // expired: no backward pass is going to exchange
    bool exchanges = true, is_alive = true;
    // This rank's shards of parameters, by the parameter's cell.  Gradients of such parameters are reduced to them.
    std::map<const void*, Variable> shards{};

private:
    struct Gradient {
        Variable parameter;
        Tensor value;
    };
    void reduce_whole(const std::vector<Gradient>&, const Tensor& share);
    void reduce_to_shards(const std::vector<Gradient>&, const Tensor& share);
};

} // namespace reprise::detail
