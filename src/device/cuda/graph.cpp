#include "device/cuda/graph.hpp"
#include <algorithm>
#include <reprise/error.hpp>

namespace reprise::device::cuda {

std::uint32_t blocks_of(const Function& f, std::uint64_t groups)
{
    constexpr std::uint64_t max_blocks = 0x7FFFFFFF; // in x, on every device
    if (groups > max_blocks / f.blocks) {
        reprise::detail::fail(ErrorKind::argument, "launch", "(", groups, ") workgroups of (", f.blocks,
                              ") blocks are more than (", max_blocks, ") blocks: split the launch.");
    }
    return static_cast<std::uint32_t>(groups * f.blocks);
}

namespace {

bool same_except_addresses(const Product& a, const Product& b)
{
    return a.problem == b.problem && a.repeats == b.repeats;
}
bool same_addresses(const Product& a, const Product& b)
{
    return a.at == b.at && a.steps == b.steps && a.bias == b.bias;
}

} // namespace

Graph::Graph(Context& context, Blas& blas, const std::vector<GraphLaunch>& launches,
             const std::vector<GraphCall>& call)
    : context_(context), blas_(blas), launches_(launches)
{
    const Driver& d = context_.driver;
    context_.call("cuGraphCreate", &Driver::cuGraphCreate, &graph_, 0);
    try {
        make(graph_, call);
        context_.call("cuGraphInstantiate", &Driver::cuGraphInstantiate, &executable_, graph_, 0);
    } catch (...) {
        d.cuGraphDestroy(graph_);
        throw;
    }
}

Graph::~Graph()
{
    const Context::Current current(context_);
    if (executable_) context_.driver.cuGraphExecDestroy(executable_);
    context_.driver.cuGraphDestroy(graph_);
}

bool Graph::fits(const std::vector<GraphCall>& call) const
{
    return std::equal(nodes_.begin(), nodes_.end(), call.begin(), [](const Node& n, const GraphCall& c) {
        return n.product ? c.library && same_except_addresses(*n.product, *c.product) : !c.library;
    });
}

CUDA_KERNEL_NODE_PARAMS Graph::parameters(const GraphLaunch& l, std::uint64_t groups, void** arguments) const
{
    arguments[0] = const_cast<CUdeviceptr*>(&l.record);
    arguments[1] = const_cast<Constants*>(&l.constants);
    CUDA_KERNEL_NODE_PARAMS p{};
    p.func = l.function.handle;
    p.gridDimX = blocks_of(l.function, groups);
    p.gridDimY = p.gridDimZ = 1;
    p.blockDimX = l.function.threads;
    p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = arguments;
    return p;
}

CUgraphNode Graph::add_empty(CUgraph graph, const std::vector<CUgraphNode>& dependencies)
{
    CUgraphNode node = nullptr;
    context_.call("cuGraphAddEmptyNode", &Driver::cuGraphAddEmptyNode, &node, graph, dependencies.data(),
                  dependencies.size());
    return node;
}

CUgraphNode Graph::add_kernel(CUgraph graph, const std::vector<CUgraphNode>& dependencies,
                              const GraphLaunch& l)
{
    void* arguments[2];
    const CUDA_KERNEL_NODE_PARAMS p = parameters(l, 1, arguments);
    CUgraphNode node = nullptr;
    context_.call("cuGraphAddKernelNode", &Driver::cuGraphAddKernelNode, &node, graph, dependencies.data(),
                  dependencies.size(), &p);
    return node;
}

template <class Use> void Graph::with_captured(const GraphCall& call, Use&& use)
{
    const CUgraph inner = blas_.capture(*call.product, *call.library);
    try {
        use(inner);
    } catch (...) {
        context_.driver.cuGraphDestroy(inner);
        throw;
    }
    context_.driver.cuGraphDestroy(inner); // the graph contains a copy
}

CUgraphNode Graph::add_product(CUgraph graph, const std::vector<CUgraphNode>& dependencies,
                               const GraphCall& call)
{
    CUgraphNode node = nullptr;
    with_captured(call, [&](CUgraph inner) {
        context_.call("cuGraphAddChildGraphNode", &Driver::cuGraphAddChildGraphNode, &node, graph,
                      dependencies.data(), dependencies.size(), inner);
    });
    return node;
}

void Graph::make(CUgraph graph, const std::vector<GraphCall>& call)
{
    std::vector<CUgraphNode> dependencies, epoch_nodes; // nodes that this epoch waits for; its own nodes
    nodes_.reserve(launches_.size());
    for (std::size_t first = 0, last = 0; first < launches_.size(); first = last) {
        while (last < launches_.size() && launches_[last].epoch == launches_[first].epoch) ++last;
        if (dependencies.size() > 1 && last - first > 1)
            dependencies = {add_empty(graph, dependencies)}; // fewer edges
        epoch_nodes.clear();
        std::vector<CUgraphNode> product_dependencies = dependencies;
        for (std::size_t i = first; i < last; ++i) {
            Node node;
            if (call[i].library) {
                node.product = call[i].product;
                node.handle = add_product(graph, product_dependencies, call[i]);
                product_dependencies = {node.handle};
            } else {
                node.handle = add_kernel(graph, dependencies, launches_[i]);
                node.groups = 1;
            }
            epoch_nodes.push_back(node.handle);
            nodes_.push_back(node);
        }
        dependencies = epoch_nodes;
    }
}

void Graph::set_groups(std::size_t launch, std::uint64_t groups)
{
    Node& node = nodes_[launch];
    const bool enabled = groups > 0;
    if (enabled && node.groups != groups) {
        void* arguments[2];
        const CUDA_KERNEL_NODE_PARAMS p = parameters(launches_[launch], groups, arguments);
        context_.call("cuGraphExecKernelNodeSetParams", &Driver::cuGraphExecKernelNodeSetParams, executable_,
                      node.handle, &p);
        node.groups = groups;
    }
    if (enabled != node.enabled) {
        context_.call("cuGraphNodeSetEnabled", &Driver::cuGraphNodeSetEnabled, executable_, node.handle,
                      enabled ? 1 : 0);
        node.enabled = enabled;
    }
}

bool Graph::set_product(std::size_t launch, const GraphCall& call)
{
    Node& node = nodes_[launch];
    const Product& product = *call.product;
    if (same_addresses(*node.product, product)) return true;
    bool taken = false;
    with_captured(call, [&](CUgraph inner) {
        context_.check("", "cuGraphExecChildGraphNodeSetParams", [&] {
            const CUresult answer =
                context_.driver.cuGraphExecChildGraphNodeSetParams(executable_, node.handle, inner);
            taken = answer == CUDA_SUCCESS;
            return is_sticky(answer) || answer == CUDA_ERROR_OUT_OF_MEMORY ? answer : CUDA_SUCCESS;
        });
    });
    if (taken) node.product = product;
    return taken;
}

std::size_t Graph::moved_products(const std::vector<GraphCall>& call) const
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < call.size(); ++i)
        if (nodes_[i].product && !same_addresses(*nodes_[i].product, *call[i].product)) ++count;
    return count;
}

bool Graph::update(const std::vector<GraphCall>& call)
{
    for (std::size_t i = 0; i < call.size(); ++i) {
        if (!call[i].library) set_groups(i, call[i].groups);
        else if (!set_product(i, call[i])) return false;
    }
    return true;
}

void Graph::launch()
{
    context_.check("submit", "cuGraphLaunch",
                   [&] { return context_.driver.cuGraphLaunch(executable_, context_.stream()); });
}

} // namespace reprise::device::cuda
