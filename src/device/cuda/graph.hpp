// The launches of a recording as a CUDA graph: a node each, behind all of the epoch before.  Where cuBLASLt makes a
// product, the node is a graph inside the graph, one behind the other in an epoch, as they share the workspace.
//
// Kernels read addresses and sizes from their records, so their grids follow each call, and one without groups is
// disabled.  cuBLASLt's are baked in: an operand elsewhere is one inner graph captured anew, other sizes are another graph.
#pragma once
#include "device/cuda/blas.hpp"
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
    std::optional<Numbers> product; // that the kernel makes
};

// Of a call, for each launch.
struct GraphCall {
    std::uint64_t groups = 0;
    std::optional<Product> product;
    std::shared_ptr<const Blas::Prepared> library; // makes the product; null: the kernel does
};

class Graph {
public:
    Graph(Context&, Blas&, const std::vector<GraphLaunch>&, const std::vector<GraphCall>&);
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // Whether it can make a call: one with the same products, but for their addresses.
    bool fits(const std::vector<GraphCall>&) const;
    std::size_t elsewhere(
        const std::vector<GraphCall>&) const; // products, of a call that it fits, with other addresses
    // To the grids and addresses of a call that it fits; false where the driver wants another graph for it.
    bool update(const std::vector<GraphCall>&);
    void launch();

private:
    struct Node {
        CUgraphNode handle = nullptr;
        std::uint64_t groups = 0; // that its parameters have; 1 where none had any yet
        bool enabled = true;
        std::optional<Product> product; // that the library makes
    };
    CUDA_KERNEL_NODE_PARAMS parameters(const GraphLaunch&, std::uint64_t groups, void** arguments) const;
    void make(CUgraph, const std::vector<GraphCall>&);
    CUgraphNode add_empty(CUgraph, const std::vector<CUgraphNode>& before);
    CUgraphNode add_kernel(CUgraph, const std::vector<CUgraphNode>& before, const GraphLaunch&);
    CUgraphNode add_product(CUgraph, const std::vector<CUgraphNode>& before, const GraphCall&);
    template <class Use> void with_captured(const GraphCall&, Use&&);
    void set_groups(std::size_t launch, std::uint64_t groups);
    bool set_product(std::size_t launch, const GraphCall&);

    Context& context_;
    Blas& blas_;
    const std::vector<GraphLaunch>& launches_;
    std::vector<Node> nodes_;
    CUgraph graph_ = nullptr;
    CUgraphExec executable_ = nullptr;
};

// Blocks of a launch; throws Error(argument) above the device's limit.
std::uint32_t blocks_of(const Function&, std::uint64_t groups);

} // namespace reprise::device::cuda
