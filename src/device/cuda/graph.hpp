// The launches of a recording as a CUDA graph: one node per launch, which depends on all nodes of the preceding epoch.
// A product that cuBLASLt computes is a child graph; the products of an epoch depend on each other in order, as they
// share the workspace.
//
// Kernels read addresses and sizes from their records, so only their grids are set for each call, and a node without
// groups is disabled. cuBLASLt's launches have constant arguments: an operand at another address needs a new capture of
// the child graph, other sizes need another graph.
#pragma once
#include "device/cuda/blas.hpp"
#include "device/cuda/modules.hpp"

namespace reprise::device::cuda {

// The layout of Constants in cuda/common/kernel.cuh.
struct Constants {
    static constexpr std::size_t max_count = 24;
    std::uint32_t count = 0;
    std::uint32_t v[max_count] = {};
};

struct GraphLaunch {
    Function function;
    CUdeviceptr record = 0;
    Constants constants;
    std::uint32_t epoch = 0;
    std::optional<ProductKernel> product; // if the kernel computes one
};

// The arguments of one launch in a call.
struct GraphCall {
    std::uint64_t groups = 0;
    std::optional<Product> product;
    std::shared_ptr<const Blas::Prepared> library; // computes the product; null: the kernel does
};

class Graph {
public:
    Graph(Context&, Blas&, const std::vector<GraphLaunch>&, const std::vector<GraphCall>&);
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // Whether the graph can run a call: its products must be the same except for their addresses.
    bool fits(const std::vector<GraphCall>&) const;
    // For a call that the graph fits: the number of products whose addresses differ.
    std::size_t moved_products(const std::vector<GraphCall>&) const;
    // Sets the grids and addresses of a call that the graph fits; false if the driver requires a new graph for it.
    bool update(const std::vector<GraphCall>&);
    void launch();

private:
    struct Node {
        CUgraphNode handle = nullptr;
        std::uint64_t groups = 0; // in the node's parameters, initially 1
        bool enabled = true;
        std::optional<Product> product; // computed by the library
    };
    CUDA_KERNEL_NODE_PARAMS parameters(const GraphLaunch&, std::uint64_t groups, void** arguments) const;
    void make(CUgraph, const std::vector<GraphCall>&);
    CUgraphNode add_empty(CUgraph, const std::vector<CUgraphNode>& dependencies);
    CUgraphNode add_kernel(CUgraph, const std::vector<CUgraphNode>& dependencies, const GraphLaunch&);
    CUgraphNode add_product(CUgraph, const std::vector<CUgraphNode>& dependencies, const GraphCall&);
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

// The number of blocks of a launch; throws Error(argument) above the device's limit.
std::uint32_t blocks_of(const Function&, std::uint64_t groups);

} // namespace reprise::device::cuda
