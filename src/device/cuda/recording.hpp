// Recordings.  A call copies its slot, which the host has written, to the block that the kernels read; then come the
// launches: one graph, made once, or for a recording that is submitted once or timed, one after the other.
#pragma once
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
        std::unique_ptr<Graph> graph; // null: launched one by one
    };
    struct Slot {
        Ticket ticket = 0; // of its last call
        std::byte* host = nullptr;
        std::vector<CUevent> events; // with timestamps: before each launch and behind the last
    };
    void launch_one_by_one(Slot&);
    void mark(Slot&, std::size_t);

    std::shared_ptr<Parts> parts_;
    Records records_;
    std::vector<GraphLaunch> launches_;
    std::unique_ptr<Resources> resources_; // handed to the queue at the end
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> groups_; // of this call
    std::uint32_t current_ = 0, set_ = 0;
    bool open_ = false, one_shot_, timed_;
};

} // namespace reprise::device::cuda
