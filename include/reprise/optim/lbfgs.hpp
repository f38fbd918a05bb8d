// L-BFGS (Liu and Nocedal 1989), as PyTorch has it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::optim {

struct LBFGSOptions {
    double lr = 1;
    std::int64_t max_iter = 20;                          // in one step
    std::optional<std::int64_t> max_eval = std::nullopt; // calls of the closure in one step; max_iter * 5 / 4
    double tolerance_grad = 1e-7;                        // a step ends where no gradient is larger,
    double tolerance_change = 1e-9;                      // and where parameters or loss change by less
    std::int64_t history_size = 100;                     // pairs of changes that the curvature is known by
    std::string line_search_fn{}; // "strong_wolfe", or none: lr is the length of each step
};
// Minimises a function of few parameters that is the same at each call, to a precision that first-order methods do not
// reach:
//
//     optim::LBFGS optimizer(net.parameters(), {.line_search_fn = "strong_wolfe"});
//     optimizer.step([&] {
//         optimizer.zero_grad();
//         Tensor loss = mse_loss(net(x), y);
//         loss.backward();
//         return loss;
//     });
//
// The directions are computed on the device, in the parameters' dtype; the host reads the loss and a few numbers in each
// iteration, so that a step can't be recorded.  The parameters are one group, of one dtype and device; those without a
// gradient have one of zeros.  It keeps no state that could be saved.
class LBFGS {
public:
    using Options = LBFGSOptions;
    // Error(argument) for no parameters, one that can't be trained, several dtypes or devices, and options out of range.
    explicit LBFGS(std::vector<Variable> parameters, LBFGSOptions = {});
    ~LBFGS();
    LBFGS(const LBFGS&) = delete;
    LBFGS& operator=(const LBFGS&) = delete;

    void zero_grad();
    // As Optimizer::step(closure).  Calls it several times.  Gives the loss before the step.  Error(state) while a program
    // is recorded.
    Tensor step(const std::function<Tensor()>& closure);
    const std::vector<Variable>& parameters() const noexcept;
    double get_lr() const noexcept;
    void set_lr(double); // Error(argument) for one below 0

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace reprise::optim
