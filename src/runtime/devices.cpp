// The public Device: lookup of contexts by name, the default device, counters, and devices that an application
// provides.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <typeinfo>
#include <utility>

#include <reprise/device.hpp>
#include <reprise/eager.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/vulkan.hpp>

#include "base/log.hpp"
#include "base/process.hpp"
#include "device/external_handles.hpp"
#include "device/registry.hpp"
#include "eager/context.hpp"
#include "kernels/code_cache.hpp"
#include "ops/registry.hpp"

namespace reprise {

using eager::Context;
using execution::RunAhead;

namespace {

struct Open {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<Context>> contexts; // by id
    std::shared_ptr<Context> default_context;
    std::vector<std::weak_ptr<device::Device>> opened; // including reset ones
    // Devices of the application. They are not accessed at process exit, as they may have been destroyed by then.
    std::vector<std::weak_ptr<device::Device>> external;
};

Open& open_devices()
{
    static Open o;
    return o;
}

void close_devices()
{
    Open& o = open_devices();
    std::map<std::string, std::shared_ptr<Context>> contexts;
    std::shared_ptr<Context> default_context;
    std::vector<std::weak_ptr<device::Device>> opened;
    {
        std::lock_guard lock(o.mutex);
        for (const auto& device : o.external)
            if (const auto held = device.lock()) held->abandon();
        contexts.swap(o.contexts);
        default_context.swap(o.default_context);
        opened.swap(o.opened);
    }
    // Vulkan devices are abandoned before their objects are destroyed. A layer's static objects may be gone, as it may
    // make them when a function is first called (Debian 13's validation layer), so the driver is only called if nothing
    // has shown yet that all work has ended.
    const auto abandon = [&](bool cuda) {
        for (const auto& device : opened)
            if (const auto held = device.lock(); held && held->capabilities().is_cuda() == cuda)
                held->abandon();
    };
    abandon(false);
    contexts.clear();
    default_context = nullptr;
    abandon(true); // tensors and programs in static storage outlive this
}

// Drivers shut down at process exit, so devices must be abandoned before. Since exit handlers run in reverse order, a
// handler registered after the driver was loaded runs before the driver's shutdown.
void close_before_the_driver_ends() { std::atexit(close_devices); }

// Static initialization of the library runs on the main thread.
const std::thread::id main_thread = std::this_thread::get_id();

// Waits for work in flight, which may still compile kernels with static objects that a driver created at its first
// compilation. Those are destroyed before the atexit() handlers registered when the device was opened, but after the
// main thread's thread_local objects, such as this one.
struct WaitAtTheEnd {
    WaitAtTheEnd() = default;
    ~WaitAtTheEnd()
    {
        std::vector<std::weak_ptr<device::Device>> opened;
        {
            std::lock_guard lock(open_devices().mutex);
            opened = open_devices().opened;
        }
        for (const auto& device : opened) {
            try {
                if (const auto held = device.lock()) held->wait_idle();
            } catch (...) { // a lost device has nothing in flight
            }
        }
    }
    WaitAtTheEnd(const WaitAtTheEnd&) = delete;
    WaitAtTheEnd& operator=(const WaitAtTheEnd&) = delete;
};

void wait_before_the_process_ends()
{
    if (std::this_thread::get_id() == main_thread) thread_local const WaitAtTheEnd at_the_end;
}

void log_opened(const device::Capabilities& c)
{
    const bool is_host =
        c.kind == device::Kind::host || c.kind == device::Kind::null; // also used for the host's sums
    detail::log(is_host ? LogLevel::debug : LogLevel::info, "Opened ", c.id, ": ", c.name, " with ", c.driver,
                ".");
    for (const std::string& warning : c.warnings) detail::log(LogLevel::warning, c.id, ": ", warning);
}

std::shared_ptr<Context> context_of(const std::shared_ptr<device::Device>& d)
{
    wait_before_the_process_ends();
    Open& o = open_devices();
    std::shared_ptr<Context> replaced; // released after the lock
    std::lock_guard lock(o.mutex);
    const std::string& id = d->capabilities().id;
    if (const auto found = o.contexts.find(id); found != o.contexts.end() && found->second->device() == d)
        return found->second;
    const auto created = std::make_shared<Context>(d);
    log_opened(d->capabilities());
    replaced = std::exchange(o.contexts[id], created);
    o.opened.push_back(d);
    close_before_the_driver_ends();
    return created;
}

const char* kind_name(device::Kind k)
{
    switch (k) {
    case device::Kind::cpu: return "cpu";
    case device::Kind::integrated: return "integrated";
    case device::Kind::discrete: return "discrete";
    case device::Kind::virtual_gpu: return "virtual";
    case device::Kind::host: return "host";
    case device::Kind::null: return "null";
    }
    return "?";
}

std::vector<std::string> capability_names(const device::Capabilities& c)
{
    std::vector<std::string> out;
    const auto add = [&](bool has, const char* name) {
        if (has) out.emplace_back(name);
    };
    add(c.prefer_texels, "texel slab");
    add(c.subgroup_shuffle, "subgroup shuffle");
    add(c.float16, "f16 arithmetic");
    add(c.f16_matrix_side != 0, "f16 matrices");
    add(c.bf16_matrix_side != 0, "bf16 matrices");
    add(c.float64, "f64 arithmetic");
    add(c.int64, "i64 arithmetic");
    add(c.timestamps, "timestamps");
    add(!c.flushes_subnormals, "subnormals");
    add(c.fuses_fma, "fused fma");
    add(c.is_cuda(), c.product_library.empty() ? "no cuBLASLt" : c.product_library.c_str());
    return out;
}

// Returns what is known of the device: more if it is open.
device::Capabilities known_capabilities(const device::Capabilities& listed)
{
    Open& o = open_devices();
    std::lock_guard lock(o.mutex);
    const auto found = o.contexts.find(listed.id);
    return found == o.contexts.end() ? listed : found->second->device()->capabilities();
}

} // namespace

Device::Device(const std::string& name) : context_(context_of(device::open(name))) {}
Device::Device(DeviceType type, int index)
    : Device((type == DeviceType::CPU    ? std::string("reference")
              : type == DeviceType::CUDA ? "cuda:" + std::to_string(std::max(index, 0))
              : index < 0                ? std::string("vulkan")
                                         : "vulkan:" + std::to_string(index)))
{}
DeviceType Device::type() const
{
    return name().starts_with("cuda")     ? DeviceType::CUDA
           : name().starts_with("vulkan") ? DeviceType::Vulkan
                                          : DeviceType::CPU;
}
int Device::index() const
{
    const std::size_t colon = name().find(':');
    return colon == std::string::npos ? 0 : std::atoi(name().c_str() + colon + 1);
}
const std::string& Device::name() const { return context_->name(); }
const std::string& Device::description() const { return context_->device()->capabilities().name; }
void Device::synchronize() const { context_->device()->wait_idle(); }
std::uint64_t Device::live_bytes() const { return context_->device()->counters().live_bytes; }
std::uint64_t Device::peak_bytes() const { return context_->device()->counters().peak_bytes; }
void Device::set_memory_limit(std::uint64_t bytes) const { context_->device()->set_memory_limit(bytes); }
void Device::set_calls_in_flight(std::uint32_t max_calls) const
{
    if (max_calls == 0 || max_calls > RunAhead::max_calls)
        detail::fail(ErrorKind::argument, "set_calls_in_flight", "(", max_calls,
                     ") calls in flight: give 1 to ", RunAhead::max_calls, ".");
    context_->set_calls_in_flight(max_calls);
}
void Device::set_slice(std::optional<std::chrono::nanoseconds> slice) const
{
    if (slice && slice->count() <= 0)
        detail::fail(ErrorKind::argument, "set_slice", "A slice of (", slice->count(),
                     ") ns: give a positive time, or nothing for no bound.");
    context_->set_slice(slice);
}
bool Device::advance() const { return context_->advance(); }
std::chrono::nanoseconds Device::slice_left() const { return context_->device()->slice_left(); }
std::size_t Device::cancel() const { return context_->cancel(); }
void Device::set_tensor_float32(bool allowed) const { context_->device()->set_tensor_float32(allowed); }

std::vector<DeviceDescription> devices()
{
    std::vector<DeviceDescription> out;
    for (const device::Listed& l : device::enumerate()) {
        const device::Capabilities c = known_capabilities(l.capabilities);
        const bool inspected = l.refused.empty() || !c.driver.empty();
        out.push_back({.name = l.refused.empty() ? c.id : "",
                       .description = c.name,
                       .driver = c.driver,
                       .kind = inspected ? kind_name(c.kind) : "",
                       .memory_bytes = c.memory_bytes,
                       .subgroup_size = inspected ? c.subgroup_size : 0,
                       .capabilities = inspected ? capability_names(c) : std::vector<std::string>{},
                       .refused = l.refused,
                       .warnings = c.warnings});
    }
    return out;
}

int cuda::device_count()
{
    const std::vector<DeviceDescription> all = devices();
    return static_cast<int>(std::count_if(
        all.begin(), all.end(), [](const DeviceDescription& d) { return d.name.starts_with("cuda"); }));
}
bool cuda::is_available() { return device_count() > 0; }

namespace {

thread_local const DeviceGuard* innermost = nullptr;

} // namespace

DeviceGuard::DeviceGuard(const Device& d) : device_(d), outer_(std::exchange(innermost, this)) {}
DeviceGuard::~DeviceGuard() { innermost = outer_; }

Device default_device()
{
    if (innermost) return innermost->device_;
    wait_before_the_process_ends();
    Open& o = open_devices();
    {
        std::lock_guard lock(o.mutex);
        if (o.default_context) return Device(o.default_context);
    }
    const std::string name = detail::environment_variable("REPRISE_DEVICE").value_or("");
    const Device d(name.empty() ? device::default_id() : name);
    std::lock_guard lock(o.mutex);
    if (!o.default_context) o.default_context = d.context();
    return Device(o.default_context);
}

void set_default_device(const Device& d)
{
    Open& o = open_devices();
    std::shared_ptr<Context> context = d.context(); // the former one is released after the lock
    std::lock_guard lock(o.mutex);
    context.swap(o.default_context);
}

void reset_default_device()
{
    Open& o = open_devices();
    std::shared_ptr<Context> before; // released after the lock
    std::lock_guard lock(o.mutex);
    before.swap(o.default_context);
}

void Device::close() const
{
    {
        std::lock_guard lock(context_->mutex());
        context_->device()->close();
    }
    Open& o = open_devices();
    bool named = false;
    {
        std::lock_guard lock(o.mutex);
        const auto found = o.contexts.find(name());
        named = found != o.contexts.end() && found->second == context_;
        if (named) o.contexts.erase(found);
        if (o.default_context == context_) o.default_context = nullptr;
    }
    if (named) device::reset(name());
}

void reset_device(const std::string& name)
{
    Open& o = open_devices();
    std::string id = name;
    if (name == "vulkan") // names the first usable Vulkan device
        for (const device::Listed& l : device::enumerate())
            if (l.refused.empty() && l.capabilities.id.rfind("vulkan:", 0) == 0) {
                id = l.capabilities.id;
                break;
            }
    device::reset(id);
    std::shared_ptr<Context> by_default; // both are released after the lock
    std::map<std::string, std::shared_ptr<Context>>::node_type by_name;
    std::lock_guard lock(o.mutex);
    if (o.default_context && o.default_context->name() == id) by_default.swap(o.default_context);
    by_name = o.contexts.extract(id);
}

Stats stats()
{
    Open& o = open_devices();
    std::lock_guard lock(o.mutex);
    Stats s;
    s.shader_compilations = kernels::shader_compilations();
    for (const auto& [name, c] : o.contexts) c->add_to(s);
    return s;
}

Stats stats(const Device& device)
{
    Stats s;
    s.shader_compilations = kernels::shader_compilations();
    device.context()->add_to(s);
    return s;
}

void set_eager_plans(std::size_t max_plans, const Device& device)
{
    device.context()->set_eager_plans(max_plans);
}
std::string describe_eager_plans(const Device& device) { return device.context()->describe_eager_plans(); }

std::shared_ptr<graph::Evaluator> ops::evaluator_for(const CreationOptions& options)
{
    if (!options.device && graph::current_tracer()) return graph::current_tracer()->evaluator();
    return (options.device ? *options.device : default_device()).context();
}

// -- an application's own Vulkan device --

vulkan::RequiredFeatures::RequiredFeatures(void* instance, void* physical_device)
{
    if (!instance || !physical_device)
        detail::fail(ErrorKind::argument, "vulkan",
                     "The instance or the physical device is null: give live handles.");
    implementation_ = device::external_features(instance, physical_device);
}

const void* vulkan::RequiredFeatures::chain() const
{
    return device::external_feature_chain(implementation_);
}

Device vulkan::make_device(const Handles& h)
{
    const std::pair<const char*, const void*> handles[] = {{"instance", h.instance},
                                                           {"physical_device", h.physical_device},
                                                           {"device", h.device},
                                                           {"queue", h.queue}};
    for (const auto& [name, handle] : handles)
        if (!handle)
            detail::fail(ErrorKind::argument, "vulkan", "The handle (", name, ") is null: give a live one.");
    const auto device =
        device::open_external({.instance = h.instance,
                               .physical_device = h.physical_device,
                               .device = h.device,
                               .queue = h.queue,
                               .queue_family = h.queue_family,
                               .enabled = h.enabled ? h.enabled->implementation().get() : nullptr,
                               .lock_queue = h.lock_queue,
                               .unlock_queue = h.unlock_queue,
                               .barrier_per_launch = h.barrier_per_launch});
    {
        Open& o = open_devices();
        const std::lock_guard lock(o.mutex);
        std::erase_if(o.external, [](const auto& d) { return d.expired(); });
        o.external.push_back(device);
    }
    close_before_the_driver_ends();
    log_opened(device->capabilities());
    return Device(std::make_shared<Context>(device));
}

vulkan::TensorBuffer vulkan::buffer_of(const Tensor& t)
{
    const graph::Value pending = graph::read(t);
    const std::shared_ptr<Context> context = t.device().context();
    if (!context || pending.node->trace)
        detail::fail(
            ErrorKind::state, "buffer_of",
            "A tensor of a program that is being recorded has no memory: take a result of the program.");
    pending.node->evaluator->evaluate({&pending, 1});
    const execution::Stored& s = execution::Stored::of(pending);
    context->require_computed(s);
    if (!s.row_major())
        detail::fail(
            ErrorKind::argument, "buffer_of",
            "The tensor is a view whose elements do not lie in row-major order from the start of its "
            "memory: call clone() and keep its result.");
    const device::BufferRange range =
        device::buffer_range(*context->device(), "buffer_of", s.memory->address, s.bytes, s.written);
    context->require_computed(s); // the call may have been dropped while this thread waited
    return {range.buffer, range.offset, s.bytes, range.timeline, range.written};
}

Tensor vulkan::from_buffer(const Device& device, void* buffer, std::uint64_t buffer_bytes,
                           std::uint64_t offset, const std::vector<std::int64_t>& sizes, DType dtype)
{
    const graph::TensorType type{dtype, Shape(sizes.begin(), sizes.end())};
    for (const std::int64_t n : sizes)
        if (n < 0) detail::fail(ErrorKind::argument, "from_buffer", "A size is negative (", n, ").");
    if (!buffer)
        detail::fail(ErrorKind::argument, "from_buffer", "The buffer is null: give a live VkBuffer.");
    const std::shared_ptr<Context>& context = device.context();
    context->accept("from_buffer", nullptr, dtype);
    const std::uint64_t bytes = execution::bytes_of(type);
    const std::uint64_t padded = (bytes + 15) / 16 * 16; // kernels store 16 bytes at a time
    if (offset % 16 != 0)
        detail::fail(ErrorKind::argument, "from_buffer", "The offset (", offset,
                     ") is no multiple of 16: begin the tensor at one.");
    if (offset > buffer_bytes || padded > buffer_bytes - offset)
        detail::fail(ErrorKind::argument, "from_buffer", "The (", padded, ") bytes of the shape (",
                     to_string(type.shape), ", padded to a multiple of 16) do not fit into the buffer of (",
                     buffer_bytes, ") bytes from offset (", offset, ").");
    auto memory =
        device::memory_in_buffer(context->device(), "from_buffer", buffer, buffer_bytes, offset, bytes);
    return graph::make_tensor(
        graph::leaf(type, context, std::make_shared<execution::Stored>(std::move(memory), bytes), false));
}

void vulkan::wait_for(const Device& device, void* semaphore, std::uint64_t value)
{
    if (!semaphore)
        detail::fail(ErrorKind::argument, "wait_for", "The semaphore is null: give a timeline VkSemaphore.");
    device::wait_for_semaphore(*device.context()->device(), "wait_for", semaphore, value);
}

void vulkan::signal(const Device& device, void* semaphore, std::uint64_t value)
{
    if (!semaphore)
        detail::fail(ErrorKind::argument, "signal", "The semaphore is null: give a timeline VkSemaphore.");
    device::signal_semaphore(*device.context()->device(), "signal", semaphore, value);
}

Device Tensor::device() const
{
    const std::shared_ptr<graph::Evaluator>& evaluator = graph::evaluator_of(*this);
    const graph::Evaluator& e = *evaluator;
    if (typeid(e) != typeid(Context)) return Device(std::shared_ptr<Context>()); // in a probe
    return Device(std::static_pointer_cast<Context>(evaluator));
}

} // namespace reprise
