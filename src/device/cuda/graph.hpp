// The launches of a recording as a CUDA graph: a node each, behind all of the epoch before.  A node without groups is
// disabled; the others' grids follow each call.
#pragma once
#include "device/cuda/modules.hpp"

namespace reprise::device::cuda {

// As cuda/common/kernel.cuh: Constants.
struct Constants {
    static constexpr std::size_t most = 24;
    std::uint32_t count = 0;
    std::uint32_t v[most] = {};
};

struct GraphLaunch {
    Function function;
    CUdeviceptr record = 0;
    Constants constants;
    std::uint32_t epoch = 0;
};

class Graph {
public:
    Graph(Context&, std::vector<GraphLaunch>);
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // Groups of one launch from the next launch() on.
    void set(std::size_t launch, std::uint64_t groups);
    void launch();

private:
    struct Node {
        CUgraphNode handle = nullptr;
        std::uint64_t groups = 0; // that its parameters have; 1 where none had any yet
        bool enabled = true;
    };
    CUDA_KERNEL_NODE_PARAMS parameters(const GraphLaunch&, std::uint64_t groups, void** arguments) const;
    void make(CUgraph);
    CUgraphNode add_empty(CUgraph, const std::vector<CUgraphNode>& before);

    Context& context_;
    std::vector<GraphLaunch> launches_;
    std::vector<Node> nodes_;
    CUgraph graph_ = nullptr;
    CUgraphExec executable_ = nullptr;
};

// Blocks of a launch; throws Error(argument) above the device's limit.
std::uint32_t blocks_of(const Function&, std::uint64_t groups);

} // namespace reprise::device::cuda
