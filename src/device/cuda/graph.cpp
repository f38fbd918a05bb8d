#include "device/cuda/graph.hpp"
#include <reprise/error.hpp>

namespace reprise::device::cuda {

std::uint32_t blocks_of(const Function& f, std::uint64_t groups)
{
    constexpr std::uint64_t most = 0x7FFFFFFF; // in x, of every device
    if (groups > most / f.blocks) {
        reprise::detail::fail(ErrorKind::argument, "launch", "(", groups, ") workgroups of (", f.blocks,
                              ") blocks are more than (", most, ") blocks: split the launch.");
    }
    return static_cast<std::uint32_t>(groups * f.blocks);
}

Graph::Graph(Context& context, std::vector<GraphLaunch> launches)
    : context_(context), launches_(std::move(launches))
{
    const Driver& d = context_.driver;
    context_.check("record", "cuGraphCreate", [&] { return d.cuGraphCreate(&graph_, 0); });
    try {
        make(graph_);
        context_.check("", "cuGraphInstantiate",
                       [&] { return d.cuGraphInstantiate(&executable_, graph_, 0); });
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

CUgraphNode Graph::add_empty(CUgraph graph, const std::vector<CUgraphNode>& before)
{
    CUgraphNode node = nullptr;
    context_.check("", "cuGraphAddEmptyNode", [&] {
        return context_.driver.cuGraphAddEmptyNode(&node, graph, before.data(), before.size());
    });
    return node;
}

void Graph::make(CUgraph graph)
{
    std::vector<CUgraphNode> before, here; // what this epoch waits for; its own nodes
    nodes_.reserve(launches_.size());
    for (std::size_t first = 0, last = 0; first < launches_.size(); first = last) {
        while (last < launches_.size() && launches_[last].epoch == launches_[first].epoch) ++last;
        if (before.size() > 1 && last - first > 1)
            before = {add_empty(graph, before)}; // edges would be their product
        here.clear();
        for (std::size_t i = first; i < last; ++i) {
            void* arguments[2];
            const CUDA_KERNEL_NODE_PARAMS p = parameters(launches_[i], 1, arguments);
            Node node;
            node.groups = 1;
            context_.check("", "cuGraphAddKernelNode", [&] {
                return context_.driver.cuGraphAddKernelNode(&node.handle, graph, before.data(), before.size(),
                                                            &p);
            });
            here.push_back(node.handle);
            nodes_.push_back(node);
        }
        before = here;
    }
}

void Graph::set(std::size_t launch, std::uint64_t groups)
{
    Node& node = nodes_[launch];
    const bool enabled = groups > 0;
    if (enabled && node.groups != groups) {
        void* arguments[2];
        const CUDA_KERNEL_NODE_PARAMS p = parameters(launches_[launch], groups, arguments);
        context_.check("", "cuGraphExecKernelNodeSetParams", [&] {
            return context_.driver.cuGraphExecKernelNodeSetParams(executable_, node.handle, &p);
        });
        node.groups = groups;
    }
    if (enabled != node.enabled) {
        context_.check("", "cuGraphNodeSetEnabled", [&] {
            return context_.driver.cuGraphNodeSetEnabled(executable_, node.handle, enabled ? 1 : 0);
        });
        node.enabled = enabled;
    }
}

void Graph::launch()
{
    context_.check("submit", "cuGraphLaunch",
                   [&] { return context_.driver.cuGraphLaunch(executable_, context_.stream()); });
}

} // namespace reprise::device::cuda
