// Recordings.  A call copies its slot, which the host has written, to the block that the kernels read, then runs the
// launches: as a graph, or one after the other for a recording that is submitted once or has timestamps.  One graph,
// created with the recording, serves all calls, unless cuBLASLt computes products: then each set of their sizes gets a
// graph at its second call, and the most recently used graphs are retained.  A call without a graph runs its launches
// one by one, with the same bits.  Those of a recording with host calls always run so (calls.cpp).
#pragma once
#include "device/cuda/calls.hpp"
#include "device/cuda/graph.hpp"
#include "device/cuda/parts.hpp"
#include "device/records.hpp"

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
        std::vector<std::unique_ptr<Graph>> graphs; // most recently used last
        std::vector<std::unique_ptr<Graph>> old;    // to be retired with the next submission
    };
    struct Slot {
        Ticket ticket = 0; // of the slot's last call
        std::byte* host = nullptr;
        std::vector<CUevent> events; // with timestamps: before each launch and after the last
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
    std::unique_ptr<Resources> resources_; // handed to the queue on destruction
    std::vector<Slot> slots_;
    std::vector<GraphCall> call_; // the arguments that were set last
    Calls calls_;
    std::map<std::uint64_t, unsigned> calls_without_graph_; // by hash of the call's products
    Ticket last_ = 0;
    std::uint32_t current_ = 0, set_ = 0;
    bool open_ = false, one_shot_, timed_;
};

} // namespace reprise::device::cuda
