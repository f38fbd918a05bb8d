// Devices: listing, opening and choosing them, and counters of their work.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

namespace eager {
class Context; // src/eager/context.hpp
}

// The types of devices by libtorch's names.
enum class DeviceType : std::uint8_t { CPU, CUDA, Vulkan };
// The device "reference", which computes on the host, exactly but slowly.  Vulkan's software drivers are faster.
inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;     // an NVIDIA GPU through CUDA
inline constexpr DeviceType kVulkan = DeviceType::Vulkan; // a Vulkan device: a GPU or a software driver

// A handle to an open device.  Copies share the device.
class Device {
public:
    // Opens a device by its name: "vulkan" (the best Vulkan device), "vulkan:1", "cuda:0", "reference"
    // (computes on the host) or "null".  Error(device), with the names that exist, for another name or a
    // device that cannot be used.
    explicit Device(const std::string& name);
    // Opens the device of a type with an index; without an index the first one, of Vulkan the best.  Errors as above.
    Device(DeviceType type, int index = -1);
    // For the library itself: a handle to an open device.
    explicit Device(std::shared_ptr<eager::Context> context) : context_(std::move(context)) {}

    const std::string& name() const;                 // as Device() takes it: "vulkan:0"
    std::string str() const { return name(); }       // as name()
    DeviceType type() const;                         // its type; CPU for "reference" and "null"
    int index() const;                               // the number in its name; 0 where there is none
    bool is_cpu() const { return type() == kCPU; }   // whether its type is CPU
    bool is_cuda() const { return type() == kCUDA; } // whether its type is CUDA
    const std::string& description() const;          // the driver's name for the device
    void synchronize() const;                        // waits until all submitted work is done
    std::uint64_t live_bytes() const;                // bytes allocated now
    std::uint64_t peak_bytes() const; // the maximum of live_bytes() so far (MemoryTracker::reset_peak)
    // Limits the bytes that may be allocated; an allocation that would exceed the limit throws
    // Error(out_of_memory).  The default is 90 % of the heap.
    void set_memory_limit(std::uint64_t bytes) const;

    // Allows cuBLASLt to compute matrix products of f32 tensors on tensor cores with factors rounded to TF32
    // (10 bits of mantissa, a relative error of up to 2^-11 each).  The default is false.  The setting holds for
    // all handles of the device and all threads, from the next evaluation or call on, also for recomputed
    // checkpoints; a call that another thread is making may use it for some products.  It has no effect on
    // other dtypes, convolutions (except with kernels of one element), devices other than CUDA's, and compute
    // capability 7.5.
    void set_tensor_float32(bool allowed) const;

    // Limits the calls of programs and eager evaluations that a thread has in flight: from 1 to 16, else
    // Error(argument); the default is 16.  A call beyond the limit waits until a quarter of the limit is left in
    // flight.  It also waits where 3 or more calls are in flight that would take more than about two seconds,
    // estimated from the last calls.  The limit holds for all handles of the device.  A small number suits an
    // application that shares the queue, as its own work waits for these calls.
    void set_calls_in_flight(std::uint32_t most) const;

    // Bounds the time for which the device works without a pause, for an application that also draws.  Calls of
    // programs and evaluations are then queued, and the driver gets their launches in parts of about this time:
    // one with each advance(), and one after the other while a thread waits for a result.  A call of a program is
    // cut between launches that depend on each other, so that a longer launch takes as long as it takes; eager
    // code that runs for the first time is cut every 64 launches.  Parts are chosen by the times of the program's
    // last call; those of its first call are short.  The results have the same bits.  Empty: no bound (the
    // default), which also hands over all that is queued.  Error(argument) unless the time is positive,
    // Error(unsupported) except on Vulkan devices.
    void set_slice(std::optional<std::chrono::nanoseconds> slice) const;
    // Starts a new slice: hands the next part of the queue to the driver, unless the device is still busy with
    // the last one.  It does not wait for the device.  Returns whether the queue is empty and the slice has time
    // left, so that another call would begin at once.  Without set_slice(), returns whether the device is idle.
    //
    //     device.set_slice(4ms);
    //     while (window.draw()) // once a frame
    //         for (device.advance(); device.slice_left() > 0ns;) loss = step(batch());
    bool advance() const;
    // The estimated time that is left of the slice that the last advance() started: work up to it begins at once.
    // Zero while work is queued, and without set_slice().
    std::chrono::nanoseconds slice_left() const;
    // Drops calls of programs that are queued by set_slice(), from any thread, and returns their number.  What the
    // driver has been given runs on, for about a slice.  Calls are dropped from the newest one back, up to one that
    // has begun to write the program's state or whose result an evaluation reads: that one and all before it stay,
    // as do evaluations and uploads.  State and gradients keep their values from before a dropped call.  Using one
    // of its results throws Error(cancelled).  Hooks of dropped calls are undone on this thread (on_each_call()),
    // such as an optimizer's count of steps, and random numbers that nothing has drawn since are drawn again.
    std::size_t cancel() const;

    // Waits until all submitted work is done, frees all memory and all objects of the driver, and closes the
    // device for all its handles.  An application's own VkDevice is no longer used and may be destroyed.
    // Tensors and programs of the device may be destroyed later, but using them throws Error(device), and so
    // does using this handle.  Device(name) opens the device again.  A second call does nothing.
    void close() const;

    // For the library itself.
    const std::shared_ptr<eager::Context>& context() const { return context_; }
    friend bool operator==(const Device& a, const Device& b) { return a.context_ == b.context_; }

private:
    std::shared_ptr<eager::Context> context_;
};

// A device of the machine, usable or not, as `reprise devices` prints it.  Where a driver is missing, only
// `description` and `refused` are set.
struct DeviceDescription {
    std::string name;        // "vulkan:0"; empty where the device cannot be used
    std::string description; // the driver's name for the device
    std::string driver;      // the driver's name and version
    // "cpu", "integrated", "discrete", "virtual", "host" or "null"; empty where it is unknown.
    std::string kind;
    std::uint64_t memory_bytes = 0;        // size of its heap
    std::uint32_t subgroup_size = 0;       // invocations of a subgroup (a warp)
    std::vector<std::string> capabilities; // "texel slab", "f16", ...
    std::string refused;                   // why the device cannot be used; empty where it can
    // Sentences: results that its driver is known to compute wrongly.  Some are only found when the device is opened.
    std::vector<std::string> warnings;
};
// Returns all devices of the machine, including those that cannot be used.
std::vector<DeviceDescription> devices();

namespace cuda {
int device_count();  // the number of CUDA devices that can be used
bool is_available(); // whether there is a CUDA device
} // namespace cuda

// Returns the device on which tensors are created unless another is given.  Initially it is the one that the
// environment variable REPRISE_DEVICE names, else the best: discrete, integrated, virtual, then software.  It is
// opened at first use.
Device default_device();
// Sets default_device() for all threads.  The library holds the handle, and so the device, until another one
// is set.  Tensors stay on their devices.
void set_default_device(const Device&);

// While it exists, this device is the default_device() of this thread, whatever set_default_device() is given: as
// torch::DeviceGuard.
class DeviceGuard {
public:
    explicit DeviceGuard(const Device&); // the device
    ~DeviceGuard();                      // on the same thread; gives the device of before back
    DeviceGuard(const DeviceGuard&) = delete;
    DeviceGuard& operator=(const DeviceGuard&) = delete;

private:
    friend Device default_device();
    Device device_;
    const DeviceGuard* outer_;
};

// Releases the default device; the next default_device() chooses one again, where no DeviceGuard names one.
void reset_default_device();
// Forgets a lost device after Error(device_lost), so that Device(name) opens it again.  Error(device) for a
// name that does not exist.
void reset_device(const std::string& name);

// Counters since the start of the process.
struct Stats {
    std::uint64_t plans = 0;          // plans compiled by record() and by eager evaluations
    std::uint64_t launches = 0;       // launches in those plans
    std::uint64_t recordings = 0;     // command buffers of launches begun (vkBeginCommandBuffer)
    std::uint64_t transfers = 0;      // command buffers of copies from and to the host begun
    std::uint64_t captures = 0;       // captures of cuBLASLt products, each for new sizes or addresses
    std::uint64_t replays = 0;        // submissions of recordings: calls of programs and evaluations
    std::uint64_t eager_replays = 0;  // eager evaluations that used the plan of an earlier one (eager.hpp)
    std::uint64_t eager_plans = 0;    // cached structures of eager evaluations (set_eager_plans)
    std::uint64_t eager_nodes = 0;    // nodes that eager evaluations have computed
    std::uint64_t pipelines = 0;      // pipelines created (vkCreateComputePipelines)
    std::uint64_t shader_modules = 0; // shader modules created (vkCreateShaderModule)
    std::uint64_t shader_compilations = 0; // compilations of GLSL at run time
    // Bytes of the arenas of temporaries, counted once for each plan and combination of sizes.
    std::uint64_t bytes_placed = 0;
};
Stats stats();              // the sums over all devices that Device(name) opened
Stats stats(const Device&); // those of one device; shader_compilations are of all devices

} // namespace reprise
