// Gradient accumulation over several steps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// Sums of gradients by name, through which no gradients flow. They are bitwise equal to grad() after the same number of
// backward() calls. Several threads may use one accumulator concurrently.
//
// In record() the sums are state of the program: its calls add to them and count, and eager code may add to them
// between the calls. The gradients' sizes must be numbers, otherwise Error(shape). While a program that uses an
// accumulator is called, no other thread may use the accumulator.
class CheckpointedGradientAccumulator {
public:
    using Gradients = std::map<std::string, Tensor>; // gradients by name

    // `steps` is the number of gradients that should_apply_gradients() waits for.  Error(argument) below 1.
    explicit CheckpointedGradientAccumulator(std::int64_t steps);
    ~CheckpointedGradientAccumulator();
    CheckpointedGradientAccumulator(const CheckpointedGradientAccumulator&) = delete;
    CheckpointedGradientAccumulator& operator=(const CheckpointedGradientAccumulator&) = delete;

    // Adds a gradient to the sum of its name. Errors, after which nothing has changed: argument for an empty name or an
    // undefined gradient; shape, dtype or device if they differ from those of the name's first gradient.
    void accumulate(const std::string& name, const Tensor& gradient);
    // Adds the gradients of one step: all or, with an Error, none. In eager code the sums are computed immediately, in
    // one evaluation, so that checkpoints recompute nothing twice and the step's graph is freed. The sums of the
    // overload above are computed when they are read, and retain their graphs until then.
    void accumulate(const Gradients&);

    // Whether some name has at least `steps` gradients; call it at the end of a step. While a program is recorded, the
    // result says nothing about the program's calls.
    bool should_apply_gradients() const;
    // The sums since the last reset, computed; names without a gradient are left out.  While recording: the
    // sums of all names as they are at each call of the program, with zeros for names without a gradient.
    Gradients get_accumulated_gradients() const;
    // Returns get_accumulated_gradients(), then calls reset().
    Gradients get_accumulated_gradients_and_reset();
    // Starts new sums. The memory of a name that no program uses is freed, and its next gradient may have another
    // shape, dtype and device.
    void reset();
    // Removes a name; returns whether there was one. Programs that use the name continue with a separate sum.
    bool remove(const std::string& name);

    std::int64_t steps() const noexcept { return steps_; } // the number given to the constructor
    // The number of gradients of a name since the last reset; 0 for an unknown name.
    std::int64_t count(const std::string& name) const;

private:
    struct Sum;
    struct Before;
    struct State; // shared with programs, which may outlive this object
    using Sums = std::map<std::string, std::shared_ptr<Sum>>;
    using Befores = std::map<std::string, Before>;
    Befores find(const Gradients&) const;
    bool has_found(const Befores&) const;
    void add(const Gradients&, bool now);
    void record_sums(const Gradients&);
    Befores snapshot() const;
    static Gradients read(const Befores&);
    Gradients record_reading() const;
    bool forget(const Befores&);

    std::int64_t steps_;
    std::shared_ptr<State> state_;
};

} // namespace reprise
