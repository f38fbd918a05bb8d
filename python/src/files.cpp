// Files of tensors, and checkpoints of a training.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <reprise/io.hpp>
#include <reprise/optim/grad_scaler.hpp>
#include <reprise/optim/lr_scheduler.hpp>
#include <reprise/train.hpp>
#include <reprise/train/checkpoint.hpp>

#include "arrays.hpp"
#include "binding.hpp"
#include "optimizers.hpp"

namespace reprise::python {
namespace {

using State = std::map<std::string, Tensor>;

// An object of Python with state_dict() and load_state_dict(), as a part of a checkpoint.
struct StatefulObject {
    Shared object;

    State state_dict() const
    {
        const nb::gil_scoped_acquire locked;
        State state;
        for (auto [name, value] : nb::cast<nb::dict>(object->get().attr("state_dict")()))
            state.emplace(nb::cast<std::string>(name), tensor_of(value));
        return state;
    }
    void load_state_dict(const State& values) const
    {
        const nb::gil_scoped_acquire locked;
        object->get().attr("load_state_dict")(values);
    }
};

// The parts of a checkpoint: objects with a state, and numbers and texts.  load() returns the latter.
struct Parts {
    std::vector<StatefulObject> objects;
    std::map<std::string, std::int64_t> whole;
    std::map<std::string, double> numbers;
    std::map<std::string, std::string> texts;
    std::vector<train::Part> parts;

    explicit Parts(const nb::dict& given)
    {
        objects.reserve(given.size()); // parts refer to them
        for (auto [key, value] : given) add(nb::cast<std::string>(key), value);
    }
    void add(const std::string& name, nb::handle value)
    {
        if (nb::isinstance<nb::int_>(value))
            parts.emplace_back(name, whole[name] = nb::cast<std::int64_t>(value));
        else if (nb::isinstance<nb::float_>(value))
            parts.emplace_back(name, numbers[name] = nb::cast<double>(value));
        else if (nb::isinstance<nb::str>(value))
            parts.emplace_back(name, texts[name] = nb::cast<std::string>(value));
        else if (nb::hasattr(value, "state_dict"))
            parts.emplace_back(name, objects.emplace_back(StatefulObject{share(value)}));
        else
            throw nb::type_error(
                ("The part (" + name + ") is no number or text and has no state_dict().").c_str());
    }
    nb::dict loaded() const
    {
        nb::dict out;
        for (const auto& [name, value] : whole) out[name.c_str()] = value;
        for (const auto& [name, value] : numbers) out[name.c_str()] = value;
        for (const auto& [name, value] : texts) out[name.c_str()] = value;
        return out;
    }
};

} // namespace

void bind_files(nb::module_& m, nb::module_& train_module)
{
    m.def(
        "save_safetensors",
        [](const std::filesystem::path& path, const nb::dict& tensors,
           const std::map<std::string, std::string>& metadata) {
            State state;
            for (auto [name, value] : tensors) state.emplace(nb::cast<std::string>(name), tensor_of(value));
            const Unlocked unlocked;
            save_safetensors(path, state, {.metadata = metadata});
        },
        "path"_a, "tensors"_a, nb::kw_only(), "metadata"_a = nb::dict(),
        "Writes tensors or arrays by name to a safetensors file.");
    m.def(
        "load_safetensors",
        [](const std::filesystem::path& path, const std::optional<DeviceName>& device) {
            const Unlocked unlocked;
            return load_safetensors(path, device_or_none(device));
        },
        "path"_a, "device"_a = nb::none(), "Reads the tensors of a safetensors file.");
    train_module.def(
        "save_checkpoint",
        [](const std::filesystem::path& path, const nb::kwargs& given) {
            const Parts parts(given);
            const Unlocked unlocked;
            train::save_checkpoint(path, parts.parts);
        },
        "path"_a, "parts"_a,
        "Saves objects with state_dict(), numbers and texts, and the random generator's state, in one file.");
    train_module.def(
        "load_checkpoint",
        [](const std::filesystem::path& path, bool strict, bool generator, const nb::kwargs& given) {
            const Parts parts(given);
            {
                const Unlocked unlocked;
                train::load_checkpoint(path, parts.parts, {.strict = strict, .generator = generator});
            }
            return parts.loaded();
        },
        "path"_a, "strict"_a = true, "generator"_a = true, "parts"_a,
        "Loads the parts of a checkpoint into the objects; returns the numbers and texts.");
}

} // namespace reprise::python
