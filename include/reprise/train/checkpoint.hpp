// Checkpoints of a training run: one file with everything that it needs to go on to the bits of a run that never
// stopped.  (Activation checkpointing, which saves memory, is in autograd/checkpoint.hpp.)
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/data/loader.hpp>
#include <reprise/tensor.hpp>

namespace reprise::train {

// What can be a part of a checkpoint: modules, optimizers, schedules, GradScaler, nn::Lora, and classes of the
// program's own with these two functions.
template <class T>
concept Stateful = requires(T& object, const std::map<std::string, Tensor>& values)
{
    {
        object.state_dict()
        } -> std::convertible_to<std::map<std::string, Tensor>>;
    object.load_state_dict(values);
};

// A named part of a run, {"net", net}: it refers to the object or variable, which must exist as long as the part.
class Part {
public:
    // An object with a state.  Throws Error(argument), as do the other constructors, for a name that is empty, does not
    // begin with a letter or has other characters than letters, digits, _ and -, and for "generator".
    template <Stateful T> Part(const std::string& name, T& object)
        : Part(name, Access{[&object]() -> State { return object.state_dict(); },
                            [&object](const State& values) { object.load_state_dict(values); },
                            [&object]() -> Restore {
                                return [&object, before = snapshots(object.state_dict())] {
                                    object.load_state_dict(before);
                                };
                            }})
    {}
    Part(const std::string& name, data::DataLoader&); // its place within an epoch
    // An integer, such as the number of the next step, or a bool; loading one that the type can't hold is an
    // Error(argument).
    template <std::integral N> Part(const std::string& name, N& number)
        : Part(
              name, [&number] { return static_cast<std::int64_t>(number); },
              [&number](std::int64_t value) {
                  const auto fitting = static_cast<N>(value);
                  if (static_cast<std::int64_t>(fitting) != value) return false;
                  number = fitting;
                  return true;
              })
    {}
    Part(const std::string& name, double& number);               // a number, such as the best loss
    Part(const std::string& name, std::vector<double>& numbers); // numbers, such as the losses of all steps
    Part(const std::string& name, std::string& text);            // a text
    Part(const std::string& name, Tensor& tensor); // a tensor, which is replaced by one on the same device

    // Returns a function that restores the part's present value.
    std::function<void()> backup() const { return access_.backup(); }

private:
    friend class Parts;
    using State = std::map<std::string, Tensor>;
    using Restore = std::function<void()>; // gives the part the value that it had
    struct Access {
        std::function<State()> save;
        std::function<void(const State&)> load;
        std::function<Restore()> backup;
    };
    Part(const std::string& name, Access);
    Part(const std::string& name, std::function<std::int64_t()> get, std::function<bool(std::int64_t)> set);
    static State snapshots(State); // tensors that no later assignment changes
    std::string name_;
    Access access_;
};

// Writes the parts and the state of the random generator (random.hpp) to a safetensors file, in full or, with
// Error(file), not at all.  Waits for the values.  Call it between steps: gradients are not saved.  The tensors are
// named "net.0.weight" and so on, a number or a text by its part.  Throws Error(argument) where two parts have the same
// name, and for a file name that ends in .json, which load_checkpoint() would take for an index.
void save_checkpoint(const std::filesystem::path&, const std::vector<Part>&);

// Options of load_checkpoint().
struct LoadCheckpointOptions {
    bool strict = true;    // a part of the file that is not asked for is an Error(argument)
    bool generator = true; // sets the random generator's state, too
};
// Loads a file of save_checkpoint() into the same parts, by way of host memory.  Until the end the previous values
// exist, too, on the devices of the parts.  Throws Error(file) for a file that is missing or damaged;
// Error(argument) for one that is no checkpoint or has other parts, with their names; and the errors of the parts'
// load_state_dict(), which name the file and the part.  After an error all parts are as they were before.
void load_checkpoint(const std::filesystem::path&, const std::vector<Part>&,
                     const LoadCheckpointOptions& = {});

// Options of Checkpoints.
struct CheckpointsOptions {
    std::size_t keep_last = 2;     // the number of latest checkpoints that stay, at least 1
    bool higher_is_better = false; // of the metric: false for losses, true for accuracies
};
// The checkpoints of a run in a folder of its own: the latest ones, step-000000000120.safetensors, and the one with the
// best metric, best.safetensors.  A process may be killed at any time, also while it saves: each file is whole.  Other
// processes may read the folder; only one may save.
class Checkpoints {
public:
    using Options = CheckpointsOptions; // the options in braces
    // Throws Error(argument) for a keep_last of 0.  The folder need not exist: save() creates it.
    explicit Checkpoints(std::filesystem::path folder, Options = {});

    // Saves the parts under the number of the next step, from 0 to 999999999999, and removes older checkpoints.  If
    // the metric is better than that of the best one, or the first, saves them as the best, too; a NaN never is.  The
    // first call removes what a killed process left half-written.  Throws as save_checkpoint() does; Error(argument)
    // for a step out of this range; and Error(state) where the folder has a checkpoint of a later step, of another run
    // or from before load_best(): call remove_after().
    void save(std::int64_t step, const std::vector<Part>&, std::optional<double> metric = std::nullopt);
    // Removes the checkpoints of later steps, but for the best one.  Error(file) where it can't.
    void remove_after(std::int64_t step);
    // Loads the latest checkpoint, and returns its step; nullopt, and nothing is loaded, where there is none.  Throws
    // as load_checkpoint() does.
    std::optional<std::int64_t> load_last(const std::vector<Part>&, const LoadCheckpointOptions& = {}) const;
    // Loads the best one, in the same way.
    std::optional<std::int64_t> load_best(const std::vector<Part>&, const LoadCheckpointOptions& = {}) const;

    std::vector<std::filesystem::path> files() const;       // the latest checkpoints, oldest first
    std::optional<std::filesystem::path> best_file() const; // the best one
    std::optional<double> best_metric() const; // its metric; Error(file) where the file is damaged

private:
    std::filesystem::path path_of(std::int64_t step) const;
    void prepare();
    std::filesystem::path folder_;
    Options options_;
    bool is_prepared_ = false;
    std::optional<double> best_; // the metric of the best one, once the folder is prepared
};

} // namespace reprise::train
