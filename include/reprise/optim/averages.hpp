// Averages of parameters over the steps of a training, which often test better than the latest values.
#pragma once
#include <memory>
#include <vector>

#include <reprise/optim/optimizer.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/tensor.hpp>

namespace reprise::optim {

// Options of ExponentialMovingAverage.
struct ExponentialMovingAverageOptions {
    double decay = 0.999; // the share of the old average in the new one, from 0 to 1
    // Update number n, counted from 1, uses the decay (1 + n) / (10 + n) if it is less than `decay`, so that the first
    // values are forgotten sooner.
    bool use_num_updates = true;
};
// Keeps average = decay * average + (1 - decay) * parameter for each parameter, from its value at the construction
// on, as the Python package torch-ema.  Averages of f16 and bf16 parameters are f32, others have the parameter's
// dtype; they lie on the parameter's device.  The parameters may also be buffers of a floating dtype, such as the
// running statistics of batch norms.
//
//     optim::ExponentialMovingAverage ema(net->parameters());
//     ... optimizer.step(); ema.update();                     // eager, or inside of record()
//     { const auto averaged = ema.average_parameters(); test(net); }
class ExponentialMovingAverage {
public:
    using Options = ExponentialMovingAverageOptions; // the options in braces

    // Throws Error(argument) where there is no parameter or one is undefined, and for a decay out of range;
    // Error(dtype) for parameters that are not floating; Error(state) while a program is recorded.
    explicit ExponentialMovingAverage(std::vector<Variable> parameters, const Options& = {});
    ExponentialMovingAverage(const ExponentialMovingAverage&) = delete;
    ExponentialMovingAverage& operator=(const ExponentialMovingAverage&) = delete;

    // Takes the present values into the averages.  In a recorded program it is part of each call, which reads decay()
    // from the host.
    void update();
    const std::vector<Variable>& parameters() const noexcept { return parameters_; } // in the order given
    const std::vector<Variable>& averages() const noexcept { return averages_; }     // of each parameter
    double decay() const noexcept { return *decay_; } // as set, whatever the number of updates is
    void set_decay(double);                           // Error(argument) for a decay out of range

    // While this object exists, the parameters have the values of the averages, rounded to their dtypes.
    class [[nodiscard]] Averaged {
    public:
        ~Averaged(); // calls restore(), but leaves the averages in the parameters where it throws
        Averaged(const Averaged&) = delete;
        Averaged& operator=(const Averaged&) = delete;
        // Gives the parameters the values that they had, in their present dtypes and on their present devices.  Changes
        // since the construction are lost.  Further calls do nothing.
        void restore();

    private:
        friend class ExponentialMovingAverage;
        explicit Averaged(const ExponentialMovingAverage&);
        std::vector<Variable> parameters_;
        std::vector<Tensor> before_;
    };
    // Lends the averages to the parameters.  Programs that read the parameters use the averages at their calls.
    // Error(state) while a program is recorded.
    Averaged average_parameters() const { return Averaged(*this); }
    // Gives the parameters the values of the averages for good, as at the end of a training.  Error(state) while a
    // program is recorded.
    void copy_to() const;

    // Returns "average.0" and so on, and "updates" (i32 {}), which a run needs to go on.  The decay is not part of it.
    StateDict state_dict() const;
    // Loads a result of state_dict().  Throws Error(argument), Error(shape) or Error(dtype), after which nothing has
    // changed, for that of other parameters; Error(state) while a program is recorded.
    void load_state_dict(const StateDict&);

private:
    Tensor weight() const;
    std::vector<Variable> parameters_, averages_;
    Variable updates_;              // i32 {}
    std::shared_ptr<double> decay_; // shared with programs, which read it at each call
    bool use_num_updates_;
};

} // namespace reprise::optim
