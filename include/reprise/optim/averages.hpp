// Averages of parameters over the steps of a training, which often test better than the latest values.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/optim/optimizer.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/tensor.hpp>

namespace reprise::optim {

// Options of ExponentialMovingAverage.
struct ExponentialMovingAverageOptions {
    double decay = 0.999; // the share of the old average in the new one, from 0 to 1
    // At update number n, counted from 1, the decay is (1 + n) / (10 + n), if that is less: the first values, which are
    // far from the later ones, are forgotten sooner.
    bool warm_up = true;
};
// Keeps average = decay * average + (1 - decay) * parameter for each parameter, from its value at the construction on.
// Averages of f16 and bf16 parameters are f32, others have the parameter's dtype.  The parameters may also be buffers of
// floating dtype, such as the running statistics of batch norms.
//
//     optim::ExponentialMovingAverage ema(net->parameters());
//     ... optimizer.step(); ema.update();                     // eager, or inside of record()
//     { const auto averaged = ema.average_parameters(); test(net); }
class ExponentialMovingAverage {
public:
    using Options = ExponentialMovingAverageOptions; // the options in braces

    // Throws Error(argument) where there is no parameter or one is undefined, and for a decay out of range; Error(dtype)
    // for parameters that are not floating; Error(state) while a program is recorded.
    explicit ExponentialMovingAverage(std::vector<Variable> parameters, const Options& = {});
    // Takes the present values into the averages.  In a recorded program it is part of each call; a program reads the
    // decay from the host at each call.
    void update();
    const std::vector<Variable>& parameters() const noexcept { return parameters_; } // in the order given
    const std::vector<Variable>& averages() const noexcept { return averages_; }     // of each parameter
    double decay() const noexcept { return numbers_->decay; }                        // without the warm-up
    void set_decay(double); // Error(argument) for a decay out of range

    // While it exists, the parameters have the values of the averages, rounded to their dtypes; then they get their own
    // values back.  Changes in between are lost.
    class [[nodiscard]] Averaged {
    public:
        explicit Averaged(const ExponentialMovingAverage&); // average_parameters() makes it
        ~Averaged();
        Averaged(const Averaged&) = delete;
        Averaged& operator=(const Averaged&) = delete;

    private:
        std::vector<Variable> parameters_;
        std::vector<Tensor> before_;
    };
    // Error(state) while a program is recorded.  Programs that read the parameters use the averages at their calls.
    Averaged average_parameters() const { return Averaged(*this); }
    // Gives the parameters the values of the averages for good, as at the end of a training.
    void copy_to_parameters() const;

    // "average.0" and so on, "updates" (i32, one element): what a run needs to go on.  The decay is not part of it.
    StateDict state_dict() const;
    // Loads a result of state_dict().  Throws Error(argument), Error(shape) or Error(dtype), after which nothing has
    // changed, for that of other parameters; Error(state) while a program is recorded.
    void load_state_dict(const StateDict&);

private:
    struct Numbers {
        double decay;
        bool warm_up;
    };
    Tensor weight() const;
    std::vector<Variable> parameters_, averages_;
    Variable updates_;                 // i32 {}
    std::shared_ptr<Numbers> numbers_; // which programs read at each call
};

} // namespace reprise::optim
