#include "device/registry.hpp"
#include "base/log.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/null/null_device.hpp"
#include "device/reference/reference_device.hpp"
#include "device/vulkan/vulkan_device.hpp"
#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <reprise/error.hpp>

namespace reprise::device {

namespace {

struct Registry {
    std::mutex mutex;
    std::vector<Listed> list; // empty: drivers were not queried yet
    std::map<std::string, std::weak_ptr<Device>> open;
};

Registry& registry()
{
    static Registry instance;
    return instance;
}

std::vector<Listed> vulkan_devices()
{
    try {
        return vulkan::find_devices();
    } catch (const Error& error) {
        return {{.capabilities = {.id = "vulkan", .name = "Vulkan"}, .refused = error.what()}};
    }
}

const std::vector<Listed>& listed(Registry& r)
{
    if (r.list.empty()) {
        std::vector<Listed> list = cuda::find_devices();
        const std::vector<Listed> vulkan = vulkan_devices();
        list.insert(list.end(), vulkan.begin(), vulkan.end());
        list.push_back({reference_capabilities(), ""});
        list.push_back({null_capabilities({}), ""});
        r.list = std::move(list);
        for (const Listed& entry : r.list)
            if (!entry.refused.empty())
                reprise::detail::log(LogLevel::info, "Refused ", entry.capabilities.id, " (",
                                     entry.capabilities.name, "): ", entry.refused);
    }
    return r.list;
}

// Parses the number in "vulkan:0", where `interface` is "vulkan".
std::optional<std::size_t> number_of(const std::string& id, const std::string& interface)
{
    if (id.rfind(interface + ":", 0) != 0) {
        return std::nullopt;
    }
    std::size_t number = 0;
    const char* end = id.data() + id.size();
    const auto parsed = std::from_chars(id.data() + interface.size() + 1, end, number);
    return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

// Replaces "vulkan" and "cuda" by the id of the first usable device of that interface.
std::string resolve(Registry& r, const std::string& id)
{
    if (id == "vulkan" || id == "cuda") {
        for (const Listed& entry : listed(r)) {
            if (number_of(entry.capabilities.id, id) && entry.refused.empty()) {
                return entry.capabilities.id;
            }
        }
    }
    return id;
}

[[noreturn]] void fail_unknown(Registry& r, const char* op, const std::string& id)
{
    std::string names;
    for (const Listed& entry : listed(r)) {
        names += names.empty() ? " " : ", ";
        names += entry.capabilities.id + (entry.refused.empty() ? "" : " (refused: " + entry.refused + ")");
    }
    const char* hint =
        id == "cpu" ? " On the processor run \"reference\", which checks the others, and Vulkan's software "
                      "drivers (lavapipe), which are among \"vulkan:N\"."
                    : "";
    reprise::detail::fail(ErrorKind::device, op, "The device (", id, ") was not found. Available:", names,
                          ".", hint);
}

std::shared_ptr<Device> make(Registry& r, const std::string& id, const DeviceOptions& options)
{
    if (id == "reference") {
        return make_reference_device();
    }
    if (id == "null") {
        return make_null_device();
    }
    for (const Listed& entry : listed(r)) {
        if (entry.capabilities.id != id || !entry.refused.empty()) {
            continue;
        }
        if (const auto number = number_of(id, "cuda")) {
            return cuda::open_device(*number, options);
        }
        if (const auto number = number_of(id, "vulkan")) {
            return vulkan::open_device(*number, options);
        }
    }
    fail_unknown(r, "open", id);
}

} // namespace

std::vector<Listed> enumerate()
{
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    std::vector<Listed> list = listed(r);
    // Loads a large library, so open() does not do this.
    for (Listed& entry : list)
        if (entry.capabilities.is_cuda() && entry.refused.empty())
            entry.capabilities.product_library = cuda::product_library();
    return list;
}

std::string default_id()
{
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    for (const char* interface : {"cuda", "vulkan"}) {
        const std::string best = resolve(r, interface);
        if (best != interface) {
            return best;
        }
    }
    return "reference";
}

std::shared_ptr<Device> open(const std::string& id, const DeviceOptions& options)
{
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const std::string name = resolve(r, id);
    if (std::shared_ptr<Device> device = r.open[name].lock()) {
        return device;
    }
    try {
        std::shared_ptr<Device> device = make(r, name, options);
        r.open[name] = device;
        return device;
    } catch (...) {
        r.open.erase(name);
        throw;
    }
}

void reset(const std::string& id)
{
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const std::string name = resolve(r, id);
    const auto is_named = [&](const Listed& entry) { return entry.capabilities.id == name; };
    if (r.open.erase(name) == 0 && std::none_of(listed(r).begin(), listed(r).end(), is_named)) {
        fail_unknown(r, "reset", id);
    }
    r.list.clear();
}

} // namespace reprise::device
