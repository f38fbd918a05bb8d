// Graphs of the emulated driver, and streams that are captured into one.
#include "work.hpp"

using namespace cuda_emulation;

RP_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode)
{
    RP_ENTER_CONTEXT
    auto* s = reinterpret_cast<Stream*>(stream);
    if (s->captured) return CUDA_ERROR_ILLEGAL_STATE;
    s->captured = std::make_unique<Graph>();
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph)
{
    RP_ENTER_CONTEXT
    auto* s = reinterpret_cast<Stream*>(stream);
    if (!s->captured) return CUDA_ERROR_ILLEGAL_STATE;
    *graph = reinterpret_cast<CUgraph>(s->captured.release());
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuGraphCreate(CUgraph* graph, unsigned)
{
    RP_ENTER_CONTEXT
    *graph = reinterpret_cast<CUgraph>(new Graph);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
    delete reinterpret_cast<Graph*>(graph);
    return CUDA_SUCCESS;
}

namespace {

CUgraphNode add_node(CUgraph graph, const CUgraphNode* after, std::size_t count, Launch launch)
{
    auto* g = reinterpret_cast<Graph*>(graph);
    auto node = std::make_unique<Node>();
    node->launch = std::move(launch);
    node->index = g->nodes.size();
    for (std::size_t i = 0; i < count; ++i) node->after.push_back(reinterpret_cast<Node*>(after[i])->index);
    g->nodes.push_back(std::move(node));
    return reinterpret_cast<CUgraphNode>(g->nodes.back().get());
}

} // namespace

RP_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                           std::size_t count, const CUDA_KERNEL_NODE_PARAMS* p)
{
    RP_ENTER_CONTEXT
    if (p->gridDimX == 0) return CUDA_ERROR_INVALID_VALUE;
    *node = add_node(graph, after, count, launch_of(p->func, p->gridDimX, p->kernelParams));
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                       std::size_t count)
{
    RP_ENTER_CONTEXT
    *node = add_node(graph, after, count, {});
    return CUDA_SUCCESS;
}
namespace {

// The nodes of a captured stream stand in a row.
Launch launch_of(CUgraph inner)
{
    Launch l;
    for (const auto& node : reinterpret_cast<Graph*>(inner)->nodes)
        l.inner.insert(l.inner.end(), node->launch.inner.begin(), node->launch.inner.end());
    return l;
}

} // namespace

RP_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                            std::size_t count, CUgraph inner)
{
    RP_ENTER_CONTEXT
    *node = add_node(graph, after, count, launch_of(inner));
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph inner)
{
    RP_ENTER_CONTEXT
    Launch& l = reinterpret_cast<Executable*>(executable)->launches[reinterpret_cast<Node*>(node)->index];
    Launch next = launch_of(inner);
    if (l.kernel || next.inner.size() != l.inner.size()) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    l.inner = std::move(next.inner);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long)
{
    RP_ENTER_CONTEXT
    auto e = std::make_unique<Executable>();
    for (const auto& node : reinterpret_cast<Graph*>(graph)->nodes) {
        e->launches.push_back(node->launch);
        e->after.push_back(node->after);
    }
    *executable = reinterpret_cast<CUgraphExec>(e.release());
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphExecDestroy(CUgraphExec executable)
{
    delete reinterpret_cast<Executable*>(executable);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                                     const CUDA_KERNEL_NODE_PARAMS* p)
{
    RP_ENTER_CONTEXT
    if (p->gridDimX == 0) return CUDA_ERROR_INVALID_VALUE;
    Launch& l = reinterpret_cast<Executable*>(executable)->launches[reinterpret_cast<Node*>(node)->index];
    if (!l.kernel) return CUDA_ERROR_INVALID_VALUE;
    const bool enabled = l.enabled;
    l = launch_of(p->func, p->gridDimX, p->kernelParams);
    l.enabled = enabled;
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled)
{
    RP_ENTER_CONTEXT
    reinterpret_cast<Executable*>(executable)->launches[reinterpret_cast<Node*>(node)->index].enabled =
        enabled != 0;
    return CUDA_SUCCESS;
}
// What is changed later counts for later launches.
RP_EXPORT CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream)
{
    RP_ENTER_CONTEXT
    send(stream, {[e = *reinterpret_cast<Executable*>(executable)] { run(e); }});
    return CUDA_SUCCESS;
}
