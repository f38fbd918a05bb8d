// What a device is.  The contract:
//
// Memory.      allocate() gives a range of device addresses, 256-byte aligned, padded to 16 bytes.  The
//              host may free a range while submitted work still uses it: work submitted later may reuse
//              it at once, since one device has one queue and every recording begins with a full barrier.
//              Host writes go through upload(), which is ordered with submissions; download() waits for
//              all that was submitted before.
// Launches.    A kernel gets one record (shaders/common/abi.glsl): operands, floats, ints.  It touches
//              nothing but the operands that its launch declares, with the access that it declares.
// Epochs.      Launches of one epoch are independent of each other: a device may run them in any order or
//              at once.  Between epochs stands one global memory barrier.  The caller guarantees that no
//              two launches of one epoch conflict (plan/verify.hpp checks); the device does not look.
// Recording.   Made once, replayed with other arguments each time.  A replay is begin(), one set() for
//              every launch, submit().  A launch with 0 groups does nothing and costs next to nothing.
//              At most `slots` replays are in flight; begin() waits for the oldest.  A submit() that
//              throws leaves the replay open: submit() may be called again, or begin() to start over; where
//              launches had run by then (CUDA, one by one), only begin().
//              Recordings and memory keep their device alive and may be destroyed while submitted work
//              uses them.
// Time.        Every submit() returns a ticket, a value of one timeline; done(t) implies done(u)
//              for u < t.
// Errors.      Every driver call goes through one checker (fail_next() makes it fail).  Out of memory
//              throws Error(out_of_memory) and changes nothing.  After Error(device_lost) all further
//              calls throw it.
// Threads.     All members may be called from several threads, but one Recording from one thread at a
//              time.
// Validation.  The device trusts its caller: bounds, hazards and group counts below 2^32 are checked
//              above.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace reprise::device {

using Address = std::uint64_t;
using Ticket = std::uint64_t; // 0: nothing was submitted yet

enum class Access : std::uint8_t { read, write, read_write };

struct Operand {
    Address address = 0; // bytes; 0: an operand that this variant does not touch
    std::uint64_t bytes = 0;
    friend bool operator==(const Operand&, const Operand&) = default;
};

// What one launch gets for one call.  Floats are double: host devices take them whole, others round to f32.
struct LaunchArguments {
    std::span<const Operand> operands;
    std::span<const double> floats;
    std::span<const std::int32_t> ints;
    std::uint64_t groups = 0; // flat count of workgroups
};

// A host device's kernel; `Kernel::host` holds it.
using HostFunction = std::function<void(const LaunchArguments&)>;

struct Kernel {
    std::string name;                         // shaders/<name>.comp or a listed variant of it
    std::vector<std::uint32_t> constants;     // specialization constants 0, 1, 2, ...
    std::shared_ptr<const HostFunction> host; // for devices whose `host_kernels` is true
    // SPIR-V, or on CUDA an image, of a kernel that was made at run time; its name belongs to this code alone.
    std::shared_ptr<const std::vector<std::uint32_t>> code;
    bool doubles = false; // the floats of its record have 64 bits
};

struct LaunchDeclaration {
    Kernel kernel;
    std::vector<Access> operands;
    std::uint32_t floats = 0; // counts in the record
    std::uint32_t ints = 0;
    std::uint32_t epoch = 0; // not decreasing from launch to launch
    // It has no groups in almost all calls, which then cost nothing for it; it is not warmed up.
    bool rarely_dispatched = false;
};

struct RecordingOptions {
    std::uint32_t slots = 3; // replays in flight
    bool warm_up = true;     // end with a run of all groups zero, so that drivers compile now
    bool timestamps = false; // one a launch, read with Recording::times()
    bool one_shot = false;   // submitted once: cheapest to make; slots and warm_up mean nothing
};

class Recording {
public:
    virtual ~Recording() = default;
    virtual void begin() = 0; // waits until a slot is free
    virtual void set(std::uint32_t launch, const LaunchArguments&) = 0;
    virtual Ticket submit() = 0;
    // Of the newest finished call: nanoseconds from its start at which each launch began, and last when it ended;
    // empty where there is none and without timestamps.
    struct Times {
        Ticket call = 0;
        std::vector<double> begun{};
    };
    virtual Times times() = 0;
};

// An owned range of device memory, given back when destroyed.
class Memory {
public:
    virtual ~Memory() = default;
    Address address = 0;
    std::uint64_t bytes = 0;
    // Of allocate_readable(): the same bytes for the host, valid once the ticket that wrote them is done.
    const std::byte* host = nullptr;
};

enum class Kind : std::uint8_t { cpu, integrated, discrete, virtual_gpu, host, null };

struct Capabilities {
    std::string id;     // "vulkan:0": what a user writes
    std::string name;   // "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver; // name and version
    Kind kind = Kind::cpu;
    std::uint64_t memory_bytes = 0; // of the largest device-local heap
    std::uint64_t memory_limit = 0; // what allocate() gives in all, until set_memory_limit()
    std::uint32_t subgroup_size = 1;
    bool host_kernels = false; // runs Kernel::host
    bool computes = true;      // false: the null device
    bool subgroup_shuffle = false;
    bool float16 = false, float64 = false, int64 = false; // arithmetic in kernels
    bool half_products = false; // its products and convolutions take f16 as it is (CUDA)
    bool bf16_products = false; // and bf16: from tensor cores that have it
    bool timestamps = false;
    // The slab: the range that the texel view and the windows cover; 0 bytes where there are no such views.
    Address slab_address = 0;
    std::uint64_t slab_bytes = 0;
    std::uint64_t window_bytes = 0; // no tensor up to this size crosses a multiple of it; 0: no windows
    bool texel_view = false;        // the texel view covers the whole slab
    bool prefer_texels = false;     // measured to win (lavapipe)
    bool flushes_subnormals = false;
    std::uint32_t compute_capability = 0; // of CUDA, times ten: 90; elsewhere 0
    std::string
        product_library; // makes what gemm_address and gemm_half would: "cuBLASLt 13.0.2"; empty: they do
    std::string shader_class; // key of variant tables: "lavapipe", "swiftshader", "gpu", "cuda", "host"

    bool is_cuda() const noexcept { return compute_capability != 0; }
};

// An entry of a list of devices.
struct Listed {
    Capabilities capabilities; // of one that can not be opened perhaps id and name only
    std::string refused;       // why it can not be opened; empty: it can
};

// Counted since the device was made.
struct Counters {
    std::uint64_t recordings = 0, transfers = 0; // command buffers begun, of launches and of copies
    std::uint64_t pipelines = 0, shader_modules = 0, submits = 0, replays = 0;
    std::uint64_t captures =
        0; // of products of product_library in graphs: for other sizes, or operands elsewhere
    std::uint64_t live_bytes = 0, peak_bytes = 0, allocations = 0; // allocations: calls, freed ones included
    std::uint64_t memory_limit = 0;                                // in force now
    std::uint64_t objects = 0; // the driver's buffers, command buffers and query pools that live now
};

class Device {
public:
    virtual ~Device() = default;
    virtual const Capabilities& capabilities() const = 0;
    virtual Counters counters() const = 0;

    virtual std::unique_ptr<Memory> allocate(std::uint64_t bytes) = 0;
    // For small outputs: the host reads it through Memory::host with no submission of its own.
    virtual std::unique_ptr<Memory> allocate_readable(std::uint64_t bytes) = 0;
    virtual void set_memory_limit(std::uint64_t bytes) = 0;
    virtual void reset_peak() = 0; // peak_bytes starts anew at live_bytes
    virtual void upload(Address to, std::span<const std::byte> from) = 0;
    virtual void download(Address from, std::span<std::byte> to) = 0;

    virtual std::unique_ptr<Recording> record(std::span<const LaunchDeclaration>,
                                              const RecordingOptions&) = 0;

    // SPIR-V, or on CUDA an image, for a kernel name, in place of the embedded code if there is any; older recordings
    // keep theirs.
    // The same code again changes nothing.
    virtual void register_kernel(const std::string& name, std::vector<std::uint32_t> words) = 0;

    // Whether products of f32 by product_library may round their operands to 10 bits (TF32), from the next set() on.
    virtual void set_tensor_float32(bool) {}

    virtual bool done(Ticket) = 0;
    virtual void wait(Ticket) = 0;
    virtual void wait_idle() = 0;

    // Tests: the n-th next driver call of this kind fails (n = 1: the very next one).
    // Kinds: "allocate" (with each allocate()), "submit", "wait", "record".
    enum class Fault : std::uint8_t { out_of_memory, lost };
    virtual void fail_next(const std::string& kind, std::uint32_t n, Fault) = 0;
    virtual void clear_faults() = 0;
    virtual bool lost() const = 0;

    // Waits until it is idle, then gives all memory and all objects of the driver back; nothing else uses it meanwhile.
    // Memory and recordings may go after that without a call of the driver; all else throws Error(device).
    // More than once does nothing more.
    virtual void close() = 0;

    // The process ends, and with it what the driver keeps in static storage, but something still holds this device:
    // waits until it is idle, then leaves its driver objects to the system.  A device that is the application's may be
    // destroyed by now: of that, nothing is touched.  Memory and recordings may go after
    // that without a call of the driver; all else throws Error(device_lost).
    virtual void abandon() noexcept {}
};

} // namespace reprise::device
