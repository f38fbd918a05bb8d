// The interface of a device.  The contract:
//
// Memory.      allocate() returns a range of device addresses, 256-byte aligned, padded to 16 bytes.  The
//              host may free a range while submitted work still uses it: work submitted later may reuse it
//              immediately, since a device has one queue and every recording begins with a full barrier.
//              Host writes go through upload(), which is ordered with submissions; download() waits for
//              all that was submitted before, download_result() at least for the submission that wrote the range.
// Launches.    A kernel gets one record (shaders/common/abi.glsl): operands, floats, ints.  It accesses nothing but the
//              operands that its launch declares, in the way that the launch declares (read, write, or both).
// Epochs.      Launches of one epoch are independent of each other: a device may run them in any order or
//              concurrently.  Epochs are separated by one global memory barrier.  The caller guarantees that no two
//              launches of one epoch conflict (plan/verify.hpp checks this); the device does not check.
// Recording.   It is recorded once and replayed with other arguments each time.  A replay is begin(), one set() for
//              every launch, submit().  A launch with 0 groups does nothing and costs almost nothing.
//              At most `slots` replays are in flight; begin() waits for the oldest.  A submit() that
//              throws leaves the replay open: submit() may be called again, or begin() to start over.  If launches
//              had already run (CUDA, one by one), only begin() may be called.
//              Recordings and memory keep their device alive and may be destroyed while submitted work
//              uses them.
// Time.        Every submit() returns a ticket, a value of one timeline; done(t) implies done(u)
//              for u < t.
// Host calls.  A launch with `on_host` is a function that the host runs in a thread of the device, once all launches of
//              earlier epochs are done.  Launches of its epoch and of those before `joins` may run meanwhile; launches
//              from the epoch `joins` on, and the end of the call, wait for it.  Host calls run one after the other, in
//              the order of their submissions and of their launches.  On Vulkan no thread that submits waits for them.
//              If a function throws, the device counts as lost, and all further calls throw that error.  A StreamCall
//              has the same place among launches, on a stream of its own.  Native launches, on devices that are the
//              host's CPU, have a thread of their own, so that they don't wait for exchanges with other machines.
// Slices.      After set_slice(), submissions wait in a queue, in their order.  The driver gets them in parts that take
//              about the time of a slice: by advance(), and while a thread waits for a ticket.  cancel() drops the
//              newest calls of droppable recordings, back to the first one that has begun to write state or that a
//              call of another kind reads.  Their tickets count as done, and dropped() tells them from others.
// Errors.      Every driver call goes through one checker (fail_next() makes it fail).  Out of memory
//              throws Error(out_of_memory) and changes nothing.  After Error(device_lost) all further
//              calls throw it.
// Threads.     All members may be called from several threads, but one Recording from one thread at a
//              time.
// Validation.  The device trusts its caller: bounds, hazards and group counts below 2^32 are checked by
//              higher layers.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.hpp"

namespace reprise::device {

using Address = std::uint64_t;
using Ticket = std::uint64_t; // 0: nothing was submitted yet

enum class Access : std::uint8_t { read, write, read_write };

struct Operand {
    Address address = 0; // bytes; 0: this variant does not access the operand
    std::uint64_t bytes = 0;
    friend bool operator==(const Operand&, const Operand&) = default;
};

// The arguments of one launch in one call.  Floats are double: host devices use them as they are, others round to f32.
struct LaunchArguments {
    std::span<const Operand> operands;
    std::span<const double> floats;
    std::span<const std::int32_t> ints;
    std::uint64_t groups = 0; // number of workgroups, in one dimension
};

// The function of a kernel on host devices, stored in `Kernel::host`.
using HostFunction = std::function<void(const LaunchArguments&)>;

// A computation that another library adds to a stream of CUDA, such as a collective of NCCL.
struct StreamCall {
    // Runs in the thread that submits, with the device's context current; `stream` is a CUstream.
    std::function<void(void* stream, const LaunchArguments&)> enqueue{};
    // Runs in the thread of host calls, from before `enqueue`: returns once `has_ended` tells that the computation has
    // ended, for which tickets wait.  If a function that it calls throws, it ends the computation and throws, and the
    // device counts as lost.
    std::function<void(const LaunchArguments&, const std::function<void()>& await_begin,
                       const std::function<bool()>& has_ended)>
        supervise{};
};

struct Kernel {
    std::string name;                         // shaders/<name>.comp or a listed variant of it
    std::vector<std::uint32_t> constants;     // specialization constants 0, 1, 2, ...
    std::shared_ptr<const HostFunction> host; // for devices whose `host_kernels` is true
    // SPIR-V, or on CUDA a module image such as a cubin, of a kernel compiled at run time; no other code has its name.
    std::shared_ptr<const std::vector<std::uint32_t>> code;
    bool doubles = false;                          // the floats of its record are f64
    std::shared_ptr<const StreamCall> on_stream{}; // in place of `host`, of a launch with `on_host`
};

struct LaunchDeclaration {
    Kernel kernel;
    std::vector<Access> operands;
    std::uint32_t floats = 0; // counts in the record
    std::uint32_t ints = 0;
    std::uint32_t epoch = 0; // never decreases from launch to launch
    // It has no groups in almost all calls and costs nothing in these; the warm-up leaves it out.
    bool rarely_dispatched = false;
    bool writes_state = false; // memory whose value from before the call is needed if the call is dropped
    // The host runs Kernel::host, on every device.  Its operands lie in memory of allocate_readable(), and the function
    // gets their addresses on the host.  On CUDA Kernel::on_stream may take its place, with operands in any memory.
    bool on_host = false;
    std::uint32_t joins = 0; // with on_host: the first epoch that waits for the function, after `epoch`
    // With on_host, on a device with Capabilities::native_from: its operands lie in any memory.
    bool native = false;
};

struct RecordingOptions {
    std::uint32_t slots = 3; // replays in flight
    // End record() with a run of 0 groups, so that drivers compile now.  Without, Vulkan's pipelines of rarely
    // dispatched launches are created in the first call that gives them groups, from the code that is registered then.
    bool warm_up = true;
    bool timestamps = false;     // one per launch, read with Recording::times()
    bool one_shot = false;       // submitted once, cheapest to record; ignores slots and warm_up
    bool droppable = false;      // cancel() may drop its calls
    detail::Progress progress{}; // of the pipelines
};

class Recording {
public:
    virtual ~Recording() = default;
    virtual void begin() = 0; // waits until a slot is free
    virtual void set(std::uint32_t launch, const LaunchArguments&) = 0;
    virtual Ticket submit() = 0;
    // Between begin() and submit(): the call reads what the ticket's call computes, which is then not dropped.
    virtual void depends_on(Ticket) {}
    // For the newest finished call: the nanoseconds from its start until each launch began, then until the call ended.
    // Empty if no call has finished, or without timestamps.
    struct Times {
        Ticket call = 0;
        std::vector<double> begun{};
    };
    virtual Times times() = 0;
};

// An owned range of device memory, freed when destroyed.
class Memory {
public:
    virtual ~Memory() = default;
    Address address = 0;
    std::uint64_t bytes = 0;
    // Only from allocate_readable(): the same bytes in host memory, valid once the ticket that wrote them is done.
    const std::byte* host = nullptr;
    bool external = false; // a buffer of the application, which may write it, too
};

enum class Kind : std::uint8_t { cpu, integrated, discrete, virtual_gpu, host, null };

struct Capabilities {
    std::string id;     // "vulkan:0": what a user writes
    std::string name;   // "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver; // name and version
    Kind kind = Kind::cpu;
    std::uint64_t memory_bytes = 0; // of the largest device-local heap
    std::uint64_t memory_limit = 0; // of all allocations together, until set_memory_limit()
    std::uint32_t subgroup_size = 1;
    std::uint32_t shared_bytes = 0;            // shared memory of a workgroup
    std::uint32_t workgroup_invocations = 256; // at most
    std::uint32_t compute_units = 0;           // multiprocessors of a GPU; 0: unknown
    bool host_kernels = false;                 // runs Kernel::host
    bool computes = true;                      // false: the null device
    bool subgroup_shuffle = false;
    bool float16 = false, float64 = false, int64 = false; // arithmetic in kernels
    bool half_products = false; // products and convolutions take f16 operands directly (CUDA)
    bool bf16_products = false; // and bf16: tensor cores support it
    bool half_access = false;   // the kernels of GPUs may load and store single elements of 16 bits
    // The sides of the matrices of f16 and bf16 that a subgroup multiplies with sums in f32 (Vulkan); 0: none.
    std::uint32_t f16_matrix_side = 0, bf16_matrix_side = 0;
    bool timestamps = false;
    // The slab: the range that the texel view and the windows cover; 0 bytes if there are no such views.
    Address slab_address = 0;
    std::uint64_t slab_bytes = 0;
    std::uint64_t window_bytes = 0;  // no tensor up to this size crosses a multiple of it; 0: no windows
    bool texel_view = false;         // the texel view covers the whole slab
    bool prefer_texels = false;      // measured to be faster (lavapipe)
    bool force_gpu_kernels = false;  // a CPU is to run the kernels of GPUs (REPRISE_KERNELS=gpu), for tests
    bool flushes_subnormals = false; // of Vulkan devices known when they are open
    bool fuses_fma = false;          // fma rounds once; of Vulkan devices known when they are open
    bool unpacks_subnormals = false; // unpackHalf2x16 keeps them; of Vulkan devices known when they are open
    std::vector<std::string> warnings;    // sentences: results that its driver is known to compute wrongly
    std::uint32_t compute_capability = 0; // CUDA's, times ten: 90; on other devices 0
    // The library that computes products in place of gemm_address and gemm_half: "cuBLASLt 13.0.2"; empty: none.
    std::string product_library;
    // From so many multiplications on the host computes products and convolutions by native code: the device is the
    // host's CPU, and its addresses are those of the host.  nullopt: never.
    std::optional<std::uint64_t> native_from{};
    std::string shader_class; // key of variant tables: "lavapipe", "swiftshader", "gpu", "cuda", "host"

    bool is_cuda() const noexcept { return compute_capability != 0; }
    // Whether kernels with shared memory and barriers are chosen, which are slow on CPUs.  They have 256 invocations,
    // where Vulkan guarantees 128.
    bool gpu_kernels() const noexcept
    {
        return (kind != Kind::cpu || force_gpu_kernels) && workgroup_invocations >= 256;
    }
};

// An entry of the list of devices.
struct Listed {
    Capabilities capabilities; // if it can't be opened, perhaps only id and name
    std::string refused;       // why it can't be opened; empty: it can
};

// Counts since the device was created.
struct Counters {
    std::uint64_t recordings = 0, transfers = 0; // command buffers recorded, for launches and for copies
    std::uint64_t pipelines = 0, shader_modules = 0, submits = 0, replays = 0;
    // Captures of products by product_library into graphs, caused by new sizes or by operands at other addresses.
    std::uint64_t captures = 0;
    std::uint64_t live_bytes = 0, peak_bytes = 0, allocations = 0; // allocations: calls, including freed ones
    std::uint64_t memory_limit = 0;                                // current
    std::uint64_t objects = 0; // live buffers, command buffers and query pools of the driver
};

class Device {
public:
    virtual ~Device() = default;
    virtual const Capabilities& capabilities() const = 0;
    virtual Counters counters() const = 0;

    virtual std::unique_ptr<Memory> allocate(std::uint64_t bytes) = 0;
    // For small outputs and operands of host calls: the host reads it through Memory::host, without a submission for
    // the read.
    virtual std::unique_ptr<Memory> allocate_readable(std::uint64_t bytes) = 0;
    virtual void set_memory_limit(std::uint64_t bytes) = 0;
    virtual void reset_peak() = 0; // sets peak_bytes to live_bytes
    virtual void upload(Address to, std::span<const std::byte> from) = 0;
    virtual void download(Address from, std::span<std::byte> to) = 0;
    // download() of a range, not empty, that the submission `by` has written and no later one changes: a device may
    // read it without waiting for those that are queued behind it.
    virtual void download_result(Address from, std::span<std::byte> to, Ticket /* by */)
    {
        download(from, to);
    }

    virtual std::unique_ptr<Recording> record(std::span<const LaunchDeclaration>,
                                              const RecordingOptions&) = 0;

    // Sets the code of a kernel name: SPIR-V, or on CUDA a module image.  It replaces embedded code; older recordings
    // keep theirs.  Registering the same code again changes nothing.
    virtual void register_kernel(const std::string& name, std::vector<std::uint32_t> words) = 0;

    // On CUDA: calls the function with the device's context current.  Others throw Error(unsupported).
    virtual void with_context(const std::function<void()>&);

    // Allows f32 products by product_library to round operands to 10 mantissa bits (TF32), from the next set() on.
    virtual void set_tensor_float32(bool) {}

    virtual Ticket submitted() const = 0; // the last ticket given out
    virtual bool done(Ticket) = 0;
    virtual void wait(Ticket) = 0;
    virtual void wait_idle() = 0;

    // See Slices above, and the members of the same names in include/reprise/device.hpp.
    virtual void set_slice(std::optional<std::chrono::nanoseconds>); // throws Error(unsupported)
    virtual bool advance() { return done(submitted()); }
    virtual std::chrono::nanoseconds slice_left() { return {}; }
    virtual std::size_t cancel() { return 0; } // returns the number of calls that it dropped
    virtual bool dropped(Ticket) const { return false; }

    // For tests: makes the n-th next driver call of this kind fail (n = 1: the very next one).
    // Kinds: "allocate" (with each allocate()), "submit", "wait", "record".
    enum class Fault : std::uint8_t { out_of_memory, lost };
    virtual void fail_next(const std::string& kind, std::uint32_t n, Fault) = 0;
    virtual void clear_faults() = 0;
    virtual bool lost() const = 0;

    // Waits until the device is idle, then frees all memory and all objects of the driver; no other thread may use the
    // device during this.  Memory and recordings may be destroyed afterwards without a driver call; all other calls
    // throw Error(device).  Further calls of close() do nothing.
    virtual void close() = 0;

    // For a device that is still held while the process exits, when the driver's static storage is being destroyed:
    // waits until the device is idle, then leaves its driver objects to the operating system.  An application's own
    // device may already be destroyed, so nothing of it is accessed.  Memory and recordings may be destroyed afterwards
    // without a driver call; all other calls throw Error(device_lost).
    virtual void abandon() noexcept {}
};

} // namespace reprise::device
