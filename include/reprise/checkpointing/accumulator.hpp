// Gradients of several steps, added up.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// Sums by name, of values without their tapes; the bits are those of backward() adding to grad() as
// often.  Several threads may use it at once.
//
// In record() the sums are state of the program: its calls add to them and count, in turn with eager code if
// you like; the gradients' sizes must be numbers.  Programs that share names are called by one thread at a
// time.
class CheckpointedGradientAccumulator {
public:
    using Gradients = std::map<std::string, Tensor>;

    explicit CheckpointedGradientAccumulator(std::int64_t steps); // Error(argument) below 1
    ~CheckpointedGradientAccumulator();
    CheckpointedGradientAccumulator(const CheckpointedGradientAccumulator&) = delete;
    CheckpointedGradientAccumulator& operator=(const CheckpointedGradientAccumulator&) = delete;

    // Adds to the sum of the name.  Error(argument) for an empty name or an undefined gradient; Error(shape,
    // dtype, device) where the gradient is not of the type of the name's first one.  Nothing has changed
    // then.
    void accumulate(const std::string& name, const Tensor& gradient);
    // One step: all or, with an Error, none.  In eager code the sums are computed here, in one evaluation, so
    // that checkpoints compute nothing twice and no graph of the step lives on; sums of single names are
    // computed when they are asked for, and their graphs live until then.
    void accumulate(const Gradients&);

    // Whether there are sums, each of `steps` gradients or more: ask at the end of a step.  A fact of eager
    // code; while a program is recorded it tells nothing about its calls.
    bool should_apply_gradients() const;
    // The sums since the last reset; names without one do not come.  While recording: of all names that there
    // are, as they are at the call.
    Gradients get_accumulated_gradients() const;
    Gradients get_accumulated_gradients_and_reset();
    void reset(); // names keep their types

    std::int64_t steps() const noexcept { return steps_; }
    std::int64_t count(const std::string& name) const; // since the last reset; 0 for a name that there is not

private:
    struct Sum;
    struct State; // outlives this in programs
    using Sums = std::map<std::string, std::shared_ptr<Sum>>;
    Sums sums_for(const Gradients&);
    std::vector<Tensor> add_all(const Gradients&);
    Tensor add(Sum&, const Tensor& gradient);
    Tensor add_recorded(const std::shared_ptr<Sum>&, const Tensor& gradient);

    std::int64_t steps_;
    std::shared_ptr<State> state_;
};

} // namespace reprise
