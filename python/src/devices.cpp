// Devices, their memory, random numbers and the library's counters.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nanobind/stl/filesystem.h>

#include <reprise/device.hpp>
#include <reprise/eager.hpp>
#include <reprise/memory.hpp>
#include <reprise/ops/promotion.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "binding.hpp"

namespace reprise::python {
namespace {

void bind_dtypes(nb::module_& m)
{
    nb::enum_<DType> dtype(m, "DType", "The type of a tensor's elements.");
    const auto add = [&](const char* name, DType value) {
        dtype.value(name, value);
        m.attr(name) = nb::cast(value);
    };
    add("float32", f32);
    add("float16", f16);
    add("bfloat16", bf16);
    add("float64", f64);
    add("int64", i64);
    add("int32", i32);
    add("int16", i16);
    add("int8", i8);
    add("uint8", u8);
    dtype.value("bool",
                boolean); // the package exports it, as stubs of this module mean Python's type by the name
    dtype.def_prop_ro(
        "itemsize", [](DType d) { return size_of(d); }, "The bytes of an element.");
    dtype.def_prop_ro("is_floating_point", [](DType d) { return is_floating(d); });
    m.def("promote_types", &promote_types, "a"_a, "b"_a, "The dtype in which an op of both computes.");
}

void bind_descriptions(nb::module_& m)
{
    nb::class_<DeviceDescription>(m, "DeviceDescription", "A device of this machine.")
        .def_ro("name", &DeviceDescription::name, "Its name, \"vulkan:0\"; empty where it can't be used.")
        .def_ro("description", &DeviceDescription::description)
        .def_ro("driver", &DeviceDescription::driver)
        .def_ro("kind", &DeviceDescription::kind)
        .def_ro("memory_bytes", &DeviceDescription::memory_bytes)
        .def_ro("subgroup_size", &DeviceDescription::subgroup_size)
        .def_ro("capabilities", &DeviceDescription::capabilities)
        .def_ro("refused", &DeviceDescription::refused, "Why it can't be used; empty where it can.")
        .def_ro("warnings", &DeviceDescription::warnings)
        .def("__repr__", [](const DeviceDescription& d) {
            return "<" + (d.name.empty() ? "refused" : d.name) + ": " + d.description + ">";
        });
    m.def("devices", &devices, "The devices of this machine.", nb::call_guard<Unlocked>());
}

void bind_stats(nb::module_& m)
{
    nb::class_<Stats>(m, "Stats", "Counters since the start of the process.")
        .def_ro("plans", &Stats::plans)
        .def_ro("launches", &Stats::launches)
        .def_ro("recordings", &Stats::recordings)
        .def_ro("transfers", &Stats::transfers)
        .def_ro("captures", &Stats::captures)
        .def_ro("replays", &Stats::replays)
        .def_ro("eager_replays", &Stats::eager_replays)
        .def_ro("eager_plans", &Stats::eager_plans)
        .def_ro("eager_nodes", &Stats::eager_nodes)
        .def_ro("pipelines", &Stats::pipelines)
        .def_ro("shader_modules", &Stats::shader_modules)
        .def_ro("shader_compilations", &Stats::shader_compilations)
        .def_ro("bytes_placed", &Stats::bytes_placed);
    m.def(
        "stats",
        [](const std::optional<DeviceName>& device) { return device ? stats(device->device()) : stats(); },
        "device"_a = nb::none(), "The counters of a device, or the sums over all.",
        nb::call_guard<Unlocked>());
}

void bind_random(nb::module_& m)
{
    nb::class_<GeneratorState>(m, "GeneratorState", "The state of the random generator.")
        .def(nb::init<std::uint64_t, std::uint64_t>(), "seed"_a = 0, "ordinal"_a = 0)
        .def_rw("seed", &GeneratorState::seed)
        .def_rw("ordinal", &GeneratorState::ordinal)
        .def(
            "__eq__", [](const GeneratorState& a, const GeneratorState& b) { return a == b; },
            nb::is_operator());
    m.def("manual_seed", &manual_seed, "seed"_a, "Sets the seed of all random ops.",
          nb::call_guard<Unlocked>());
    m.def("generator_state", &generator_state, "The state of the random generator.",
          nb::call_guard<Unlocked>());
    m.def("set_generator_state", &set_generator_state, "state"_a,
          "Sets the state; programs use it from their next call on.", nb::call_guard<Unlocked>());
}

} // namespace

void bind_devices(nb::module_& m)
{
    bind_dtypes(m);
    nb::class_<Device>(m, "Device", "A device that computes: \"vulkan:0\", \"cuda:0\" or \"reference\".")
        .def(
            "__init__", [](Device* self, const DeviceName& name) { new (self) Device(name.device()); },
            "name"_a, nb::call_guard<Unlocked>())
        .def_prop_ro("name", &Device::name)
        .def_prop_ro("index", &Device::index)
        .def_prop_ro("description", &Device::description, "The driver's name for the device.")
        .def_prop_ro("is_cpu", &Device::is_cpu)
        .def_prop_ro("is_cuda", &Device::is_cuda)
        .def("synchronize", &Device::synchronize, "Waits until all submitted work is done.",
             nb::call_guard<Unlocked>())
        .def("live_bytes", &Device::live_bytes, "The bytes that are allocated now.",
             nb::call_guard<Unlocked>())
        .def("peak_bytes", &Device::peak_bytes, "The maximum of live_bytes() so far.",
             nb::call_guard<Unlocked>())
        .def(
            "reset_peak", [](const Device& d) { MemoryTracker(d).reset_peak(); }, nb::call_guard<Unlocked>())
        .def("set_memory_limit", &Device::set_memory_limit, "bytes"_a, nb::call_guard<Unlocked>())
        .def("set_tensor_float32", &Device::set_tensor_float32, "allowed"_a, nb::call_guard<Unlocked>())
        .def("set_calls_in_flight", &Device::set_calls_in_flight, "most"_a, nb::call_guard<Unlocked>())
        .def("close", &Device::close, nb::call_guard<Unlocked>())
        .def(
            "__eq__", [](const Device& a, const Device& b) { return a == b; }, nb::is_operator())
        .def("__hash__", [](const Device& d) { return std::hash<std::string>()(d.name()); })
        .def("__str__", &Device::name)
        .def("__repr__", [](const Device& d) { return "Device('" + d.name() + "')"; });
    bind_descriptions(m);
    bind_stats(m);
    bind_random(m);
    m.def("default_device", &default_device, "The device of new tensors.", nb::call_guard<Unlocked>());
    m.def(
        "set_default_device", [](const DeviceName& device) { set_default_device(device.device()); },
        "device"_a, "Sets the device of new tensors, for all threads.", nb::call_guard<Unlocked>());
    m.def("reset_device", &reset_device, "name"_a, nb::call_guard<Unlocked>());
    m.def(
        "set_memory_budget",
        [](std::optional<std::uint64_t> bytes, const std::optional<DeviceName>& device) {
            set_memory_budget(bytes, device ? device->device() : default_device());
        },
        "bytes"_a.none(), "device"_a = nb::none(),
        "Limits the memory of each eager evaluation; None: no limit.", nb::call_guard<Unlocked>());
    m.def(
        "set_cache_directory", [](const std::filesystem::path& path) { set_cache_directory(path); }, "path"_a,
        "Sets the folder of compiled kernels; \"\": no cache.", nb::call_guard<Unlocked>());
}

} // namespace reprise::python
