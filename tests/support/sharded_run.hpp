// A run that several ranks train and save together.
#pragma once
#include <memory>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>
#include <reprise/train.hpp>

#include "support/data_parallel.hpp"

namespace reprise::test {

// The optimizer is in shards where there are several ranks.
struct ShardedRun {
    ShardedRun(const distributed::World& w, const Device& d) : world(w), device(d)
    {
        set_parameters(net, w.rank());
        net.to(d);
        ddp = std::make_unique<nn::DistributedDataParallel<Net>>(
            net, w, nn::DistributedDataParallelOptions{.bucket_bytes = 256, .first_bucket_bytes = 256});
        optimizer = std::make_unique<optim::ZeroRedundancyOptimizer<optim::AdamW>>(
            *ddp, optim::AdamW::Options{.lr = 0.01});
    }
    std::vector<train::Part> parts() { return {{"net", net}, {"optimizer", *optimizer}, {"step", step}}; }
    // Makes steps up to this number.
    void train_to(int end)
    {
        for (; step < end; ++step) {
            optimizer->zero_grad();
            const Begins begins = even(world.size(), 24);
            const auto r = static_cast<std::size_t>(world.rank());
            const Batch b = batch(step, begins[r], begins[r + 1], device);
            cross_entropy((*ddp)(b.x), b.y).backward();
            optimizer->step();
        }
    }
    std::vector<float> weights() const
    {
        std::vector<float> all;
        for (const Variable& p : net.parameters())
            for (const float v : p.to_vector<float>()) all.push_back(v);
        return all;
    }

    distributed::World world;
    Device device;
    Net net{false};
    std::unique_ptr<nn::DistributedDataParallel<Net>> ddp;
    std::unique_ptr<optim::ZeroRedundancyOptimizer<optim::AdamW>> optimizer;
    int step = 0;
};

} // namespace reprise::test
