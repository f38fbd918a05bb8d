// Devices: which there are, which one is used, and what it did so far.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace reprise {

namespace program {
class Context; // src/program/context.hpp
}

// A handle to an open device; copies share it.
class Device {
public:
    // "vulkan" (the best Vulkan device), "vulkan:1", "cuda:0", "reference", "null".  Throws Error(device) for a name
    // that does not exist or a device that was refused, with the names that there are.
    explicit Device(const std::string& name);
    // For the library itself: a handle to a device that is open.
    explicit Device(std::shared_ptr<program::Context> context) : context_(std::move(context)) {}

    const std::string& name() const;        // as Device() takes it: "vulkan:0"
    const std::string& description() const; // the driver's name for it
    void synchronize() const;               // waits until everything submitted is done
    std::uint64_t live_bytes() const;       // bytes allocated now
    std::uint64_t peak_bytes() const;       // the most that were allocated at one time
    void set_memory_limit(
        std::uint64_t bytes) const; // Error(out_of_memory) above it; the default is 90 % of the heap

    // Whether cuBLASLt may round what products of f32 tensors multiply to 10 bits behind the first (TF32, a relative
    // error of up to 2^-11 each), which tensor cores take.  Off at first.  For all handles of the device and all threads,
    // from the next evaluation or call on, a replayed checkpoint's too; in a call that another thread is making, for some
    // products.  Without effect on all else: other dtypes, convolutions (but of windows of one element), other devices, those
    // of compute capability 7.5.
    void set_tensor_float32(bool allowed) const;

    // The most calls of programs, and evaluations of eager code, that a thread submits before they are done: 1 to 16, 16 at
    // first, else Error(argument).  One beyond them waits, until a quarter is left; so does one beyond about two seconds of
    // the device's time, by what the last calls took, where there are 3 or more.  For all handles of the device.  Fewer suit a
    // queue that an application shares, whose own work runs behind them.
    void set_calls_in_flight(std::uint32_t most) const;

    // Waits until everything submitted is done, gives all memory and all objects of the driver back, and lets go of the
    // device, for all handles of it; of an application's own VkDevice nothing is used after that, so it may be
    // destroyed.  Tensors and programs of it may live on and go later, but using them throws Error(device); so does
    // every later use of this handle.  Device(name) opens a device of that name anew.  A second call does nothing.
    void close() const;

    // For the library itself.
    const std::shared_ptr<program::Context>& context() const { return context_; }
    friend bool operator==(const Device& a, const Device& b) { return a.context_ == b.context_; }

private:
    std::shared_ptr<program::Context> context_;
};

// What `reprise devices` prints: every device that was seen, usable or not.
struct DeviceDescription {
    std::string name;                      // "vulkan:0"; empty where it was refused
    std::string description;               // the driver's name for the device
    std::string driver;                    // name and version
    std::string kind;                      // "cpu", "integrated", "discrete", "virtual", "host", "null"
    std::uint64_t memory_bytes = 0;        // of its heap
    std::uint32_t subgroup_size = 0;       // invocations that run in step
    std::vector<std::string> capabilities; // "texel slab", "f16", ...
    std::string refused;                   // why it can't be used; empty: it can
};
// Every device of the machine, refused ones included.
std::vector<DeviceDescription> devices();

// REPRISE_DEVICE if set, else the best device: discrete, integrated, virtual, software.  Opened at first use.
Device default_device();
// What default_device() gives from now on, to all threads.  The library keeps this handle, and the device with it, until
// another one takes its place.  Tensors stay where they are.
void set_default_device(const Device&);
// Lets go of the default device; default_device() chooses again.
void reset_default_device();
// After Error(device_lost): forgets the lost device, so that Device(name) opens it anew.  Throws Error(device) for a
// name that does not exist.
void reset_device(const std::string& name);

// Counted since the process started, over all devices that Device(name) opened.
struct Stats {
    std::uint64_t plans = 0;      // graphs compiled: by record(), and by evaluations of eager code
    std::uint64_t launches = 0;   // launches in those plans
    std::uint64_t recordings = 0; // command buffers of launches begun (vkBeginCommandBuffer)
    std::uint64_t transfers = 0;  // command buffers of copies from and to the host begun
    std::uint64_t captures = 0;   // of products of cuBLASLt in graphs: for other sizes, or operands elsewhere
    std::uint64_t replays = 0;    // submits of recordings: calls of programs, and evaluations
    std::uint64_t eager_replays = 0;       // evaluations that the plan of an earlier one served (eager.hpp)
    std::uint64_t eager_plans = 0;         // structures of evaluations that are kept
    std::uint64_t eager_nodes = 0;         // that evaluations of eager code have computed
    std::uint64_t pipelines = 0;           // made (vkCreateComputePipelines)
    std::uint64_t shader_modules = 0;      // made (vkCreateShaderModule)
    std::uint64_t shader_compilations = 0; // of GLSL, at run time
    std::uint64_t bytes_placed =
        0; // of the arenas of temporaries, one for each plan and size that it first met
};
Stats stats();              // of all devices
Stats stats(const Device&); // of one device; compilations are of all

} // namespace reprise
