// Checkpoints of a training run: one file with everything that it needs to go on to the bits of a run that never
// stopped.  (Those of gradients, which save memory, are in autograd/checkpoint.hpp.)
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::train {

// What can be a part of a checkpoint: modules, optimizers, schedules, GradScaler, DataLoader, nn::Lora, and classes of
// the program's own with these two functions.
template <class T>
concept Stateful = requires(T& object, const std::map<std::string, Tensor>& values)
{
    {
        object.state_dict()
        } -> std::convertible_to<std::map<std::string, Tensor>>;
    object.load_state_dict(values);
};

// A named part of a run, {"net", net}: it refers to the object or variable, which must exist as long as it is used.
class Part {
public:
    // An object with a state.  Throws Error(argument), as all constructors, for a name that is empty, has other
    // characters than letters, digits, _ and -, or is "generator".
    template <Stateful T> Part(const std::string& name, T& object)
        : Part(
              name, [&object]() -> State { return object.state_dict(); },
              [&object](const State& values) { object.load_state_dict(values); })
    {}
    Part(const std::string& name, std::int64_t& number);         // a number, such as that of the next step
    Part(const std::string& name, double& number);               // a number, such as the best loss
    Part(const std::string& name, std::vector<double>& numbers); // numbers, such as the losses of all steps
    Part(const std::string& name, std::string& text);            // a text

private:
    friend class Parts;
    using State = std::map<std::string, Tensor>;
    Part(const std::string& name, std::function<State()> save, std::function<void(const State&)> load);
    std::string name_;
    std::function<State()> save_;
    std::function<void(const State&)> load_;
};

// Writes the parts and the state of the random generator (random.hpp) to a safetensors file, in full or, with
// Error(file), not at all.  Waits for the values.  Call it between steps: gradients are not saved.  The tensors are
// named "net.0.weight" and so on, a number or a text by its part.  Throws Error(argument) where two parts have a name.
void save_checkpoint(const std::filesystem::path&, const std::vector<Part>&);

// Options of load_checkpoint().
struct LoadCheckpointOptions {
    bool strict = true;    // a part of the file that is not asked for is an Error(argument)
    bool generator = true; // sets the random generator's state, too
};
// Loads a file of save_checkpoint() into the same parts.  Throws Error(file) for a file that is missing or damaged;
// Error(argument) for one that is no checkpoint or has other parts, with their names; and the errors of the parts'
// load_state_dict(), which name the file and the part.  After an error all parts are as they were before.
void load_checkpoint(const std::filesystem::path&, const std::vector<Part>&,
                     const LoadCheckpointOptions& = {});

// Options of Checkpoints.
struct CheckpointsOptions {
    std::size_t keep_last = 2;     // the number of latest checkpoints that stay, at least 1
    bool higher_is_better = false; // of the metric: false for losses, true for accuracies
};
// The checkpoints of a run in a folder of its own: the latest ones, step-000000000120.safetensors, and the one with the best
// metric, best.safetensors.  A process may be killed at any time, also while it saves: each file is whole.
class Checkpoints {
public:
    using Options = CheckpointsOptions; // the options in braces
    // Creates the folder if it does not exist, and removes what a killed process left there half-written.  Throws
    // Error(file) where it can't; Error(argument) for a keep_last of 0.
    explicit Checkpoints(std::filesystem::path folder, Options = {});

    // Saves the parts under the number of the next step, from 0 to 999999999999, and removes older checkpoints.  If
    // the metric is better than that of the best one, or the first, saves them as the best, too; a NaN never is.
    // Errors of save_checkpoint(); Error(argument) for other numbers.
    void save(std::int64_t step, const std::vector<Part>&, std::optional<double> metric = std::nullopt);
    // Loads the latest checkpoint, and returns its step; nullopt, and nothing is loaded, where there is none.
    // Errors of load_checkpoint().
    std::optional<std::int64_t> load_last(const std::vector<Part>&, const LoadCheckpointOptions& = {}) const;
    // Loads the best one, in the same way.
    std::optional<std::int64_t> load_best(const std::vector<Part>&, const LoadCheckpointOptions& = {}) const;

    std::vector<std::filesystem::path> files() const;       // the latest checkpoints, oldest first
    std::optional<std::filesystem::path> best_file() const; // the best one
    std::optional<double> best_metric() const;              // its metric

private:
    std::filesystem::path best_path() const { return folder_ / "best.safetensors"; }
    std::filesystem::path folder_;
    Options options_;
};

} // namespace reprise::train
