// record() and Program.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/ops/creation.hpp>
#include <reprise/program.hpp>

#include "binding.hpp"
#include "structure.hpp"

namespace reprise::python {
namespace {

// A recorded function of Python.
struct RecordedFunction {
    Program program;
    Structure arguments{Structure::Kind::tuple}, result;
    std::vector<std::string> names; // of the parameters, as far as they are known
    Device device;

    nb::any call(const nb::args& given, const nb::kwargs& keywords) const
    {
        Leaves in;
        if (given.size() + keywords.size() != arguments.size())
            throw nb::type_error(("The program takes " + std::to_string(arguments.size()) +
                                  " arguments, but " + std::to_string(given.size() + keywords.size()) +
                                  " were given.")
                                     .c_str());
        if (keywords.size() == 0) arguments.flatten(given, in, device);
        else arguments.flatten(in_order(given, keywords), in, device);
        std::vector<Tensor> out;
        {
            const Unlocked unlocked;
            out = program.call(in.tensors, in.sizes);
        }
        return nb::borrow<nb::any>(result.value(out));
    }

    // The arguments in the order of the specs.
    nb::tuple in_order(const nb::args& given, const nb::kwargs& keywords) const
    {
        nb::list all(given);
        for (std::size_t i = given.size(); i < arguments.size(); ++i) {
            const std::string name = i < names.size() ? names[i] : std::string();
            if (name.empty() || !keywords.contains(name.c_str()))
                throw nb::type_error(("The program's argument " + std::to_string(i + 1) +
                                      (name.empty() ? "" : " (" + name + ")") + " was not given.")
                                         .c_str());
            all.append(keywords[name.c_str()]);
        }
        return nb::tuple(all);
    }
};

RecordedFunction record(const nb::callable& function, const nb::sequence& specs, bool keep_grads,
                        std::uint32_t slots, bool timestamps, bool fuse,
                        const std::optional<DeviceName>& device, std::optional<std::uint64_t> memory_budget,
                        const std::vector<std::string>& names)
{
    RecordedFunction out{.names = names, .device = device ? device->device() : default_device()};
    std::vector<Spec> tensors;
    Leaves placeholders;
    const auto given = nb::tuple(specs);
    out.arguments = Structure::of_specs(given, tensors, placeholders.sizes);
    const DimVector sizes = placeholders.sizes;
    const auto run = [&](const std::vector<Tensor>& in) {
        const nb::gil_scoped_acquire locked;
        placeholders.tensors = in;
        std::size_t next_tensor = 0, next_size = 0;
        const nb::object arguments = out.arguments.value(placeholders, next_tensor, next_size);
        const nb::object returned = function(*nb::borrow<nb::args>(arguments));
        std::vector<Tensor> results;
        out.result = Structure::of_result(returned, results);
        return results;
    };
    const Unlocked unlocked;
    const RecordOptions options{.keep_grads = keep_grads,
                                .slots = slots,
                                .timestamps = timestamps,
                                .fuse = fuse,
                                .device = out.device,
                                .memory_budget = memory_budget};
    out.program = record_function(run, tensors, options, sizes);
    return out;
}

void bind_descriptions(nb::class_<RecordedFunction>& program)
{
    using Sizes = std::vector<std::int64_t>;
    program
        .def(
            "text", [](const RecordedFunction& f) { return f.program.text(); },
            "Describes inputs, symbols, conditions, state, results, values and launches.",
            nb::call_guard<Unlocked>())
        .def(
            "dot", [](const RecordedFunction& f) { return f.program.dot(); },
            "The plan as a graph for Graphviz.", nb::call_guard<Unlocked>())
        .def(
            "svg", [](const RecordedFunction& f, const Sizes& sizes) { return f.program.svg(sizes); },
            "sizes"_a,
            "Draws the memory of the temporaries for values of the symbols, in the order of text().",
            nb::call_guard<Unlocked>())
        .def("launches", [](const RecordedFunction& f) { return f.program.launches(); })
        .def(
            "times", [](const RecordedFunction& f) { return f.program.times(); },
            "The launches of the newest finished call, if it was recorded with timestamps.",
            nb::call_guard<Unlocked>())
        .def(
            "memory", [](const RecordedFunction& f, const Sizes& sizes) { return f.program.memory(sizes); },
            "sizes"_a, "The memory that a call holds for values of the symbols, in the order of text().",
            nb::call_guard<Unlocked>())
        .def(
            "memory_by_launch",
            [](const RecordedFunction& f, const Sizes& sizes) { return f.program.memory_by_launch(sizes); },
            "sizes"_a, "The bytes of temporaries in use at each launch.", nb::call_guard<Unlocked>());
}

void bind_results(nb::module_& m)
{
    nb::class_<LaunchTime>(m, "LaunchTime",
                           "The time of one launch; times in ns after the start of the call.")
        .def_ro("label", &LaunchTime::label)
        .def_ro("begin", &LaunchTime::begin)
        .def_ro("end", &LaunchTime::end)
        .def_ro("flops", &LaunchTime::flops)
        .def_ro("bytes", &LaunchTime::bytes);
    nb::class_<CallMemory>(m, "CallMemory", "The device memory that a call holds, in bytes.")
        .def_ro("peak", &CallMemory::peak)
        .def_ro("lower_bound", &CallMemory::lower_bound)
        .def_ro("outputs", &CallMemory::outputs)
        .def_ro("state", &CallMemory::state);
    nb::class_<Spec>(m, "Spec", "The type of a tensor argument of a recorded function.")
        .def_prop_ro("shape", [](const Spec& s) { return s.shape; })
        .def_prop_ro("dtype", [](const Spec& s) { return s.dtype; })
        .def("__repr__",
             [](const Spec& s) { return "spec(" + to_string(s.shape) + ", " + name_of(s.dtype) + ")"; });
}

} // namespace

void bind_programs(nb::module_& m)
{
    bind_results(m);
    m.def(
        "spec", [](const Shape& shape, DType dtype) { return spec(shape, dtype); }, "shape"_a,
        "dtype"_a = f32,
        "The type of a tensor argument: its sizes are numbers, symbols or expressions of symbols.");
    nb::class_<RecordedFunction> program(m, "Program", nb::is_weak_referenceable(), nb::dynamic_attr(),
                                         "A recorded function: it is called with the same arguments.");
    program.def("__call__", &RecordedFunction::call,
                "Replays the recording at the sizes of the arguments: tensors, arrays, sizes and structures "
                "of them.");
    bind_descriptions(program);
    m.def("_record", &record, "function"_a, "specs"_a, nb::kw_only(), "keep_grads"_a = false, "slots"_a = 16,
          "timestamps"_a = false, "fuse"_a = true, "device"_a = nb::none(), "memory_budget"_a = nb::none(),
          "names"_a = std::vector<std::string>());
    m.def("is_recording", &is_recording, "Whether this thread is recording a program.");
    m.def(
        "on_each_call",
        [](std::function<void()> f, std::function<void()> undo) {
            const Unlocked unlocked;
            on_each_call(std::move(f), std::move(undo));
        },
        "f"_a, "undo"_a = nb::none(),
        "Runs f at the start of each call of the program that is being recorded; in eager code, "
        "immediately.");
    m.def(
        "host_scalar",
        [](std::function<double()> value) {
            const Unlocked unlocked;
            return host_scalar(std::move(value));
        },
        "value"_a, "A tensor of one element that value() gives at each call of a program.");
}

} // namespace reprise::python
