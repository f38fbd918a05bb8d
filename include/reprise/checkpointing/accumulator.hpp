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
// you like; the gradients' sizes must be numbers.  While a program that uses it is called, no other thread
// uses the accumulator.
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

    // Whether some name has `steps` gradients or more; others may have skipped steps.  Ask at the end of a
    // step.  A fact of eager code; while a program is recorded it tells nothing about its calls.
    bool should_apply_gradients() const;
    // The sums since the last reset, computed; names without one do not come.  While recording: of all names
    // that there are, as they are at the call, with zeros for a name without one.
    Gradients get_accumulated_gradients() const;
    Gradients get_accumulated_gradients_and_reset();
    // Names keep their types while a program has them.  Otherwise their memory goes, and the next gradient
    // may be of another type.
    void reset();
    // Whether there was one.  Programs that have the name go on with their sum, which nothing else sees.
    bool remove(const std::string& name);

    std::int64_t steps() const noexcept { return steps_; }
    std::int64_t count(const std::string& name) const; // since the last reset; 0 for a name that there is not

private:
    struct Sum;
    struct Before;
    struct State; // outlives this in programs
    using Sums = std::map<std::string, std::shared_ptr<Sum>>;
    using Befores = std::map<std::string, Before>;
    Befores find(const Gradients&) const;
    bool has_found(const Befores&) const;
    void add(const Gradients&, bool now);
    void record_sums(const Gradients&);
    Befores look() const;
    static Gradients read(const Befores&);
    Gradients record_reading() const;
    bool forget(const Befores&);

    std::int64_t steps_;
    std::shared_ptr<State> state_;
};

} // namespace reprise
