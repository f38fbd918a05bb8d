// Recordings.  A call copies its slot, which the host has written, to the block that the kernels read; then come the
// launches: a graph, or for a recording that is submitted once or timed, one after the other.  There is one graph for all
// calls, made with the recording; or where cuBLASLt makes products, one for each set of their sizes that has come twice,
// of which the ones used last are kept.  Without a graph a call's launches go one by one, which has the same bits.
#pragma once
#include "device/cuda/graph.hpp"
#include "device/cuda/parts.hpp"
#include "device/records.hpp"
#include <map>

namespace reprise::device::cuda {

class CudaRecording : public Recording {
public:
    CudaRecording(std::shared_ptr<Parts>, std::span<const LaunchDeclaration>, const RecordingOptions&);
    ~CudaRecording() override;
    CudaRecording(const CudaRecording&) = delete;
    CudaRecording& operator=(const CudaRecording&) = delete;

    void begin() override;
    void set(std::uint32_t launch, const LaunchArguments&) override;
    Ticket submit() override;
    Times times() override;

private:
    struct Resources : Retired {
        Slice slots, block;
        std::vector<GraphLaunch> launches;
        std::vector<std::unique_ptr<Graph>> graphs; // the last one used at the end
        std::vector<std::unique_ptr<Graph>> old;    // that go after the calls until now
    };
    struct Slot {
        Ticket ticket = 0; // of its last call
        std::byte* host = nullptr;
        std::vector<CUevent> events; // with timestamps: before each launch and behind the last
    };
    Graph* graph_for_call();
    Graph* fitting_graph();
    bool deserves_graph();
    Graph& make_graph();
    void drop_graph(std::size_t);
    void launch_one_by_one(Slot&);
    void mark(Slot&, std::size_t);

    std::shared_ptr<Parts> parts_;
    Records records_;
    std::unique_ptr<Resources> resources_; // handed to the queue at the end
    std::vector<Slot> slots_;
    std::vector<GraphCall> call_;               // the last one that was set
    std::map<std::uint64_t, unsigned> without_; // products, by their hash: calls of them without a graph
    Ticket last_ = 0;
    std::uint32_t current_ = 0, set_ = 0;
    bool open_ = false, one_shot_, timed_;
};

} // namespace reprise::device::cuda
