// L-BFGS (Liu and Nocedal 1989), as torch.optim.LBFGS.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/optim/options.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/tensor.hpp>

namespace reprise::optim {

// Options of LBFGS in braces, LBFGS::Options.
struct LBFGSSettings {
    double lr = 1; // learning rate, at least 0: the length of an iteration, or the first that is tried
    std::int64_t max_iter = 20; // maximum number of iterations in one step
    // The maximum number of calls of the closure in one step; none: max_iter * 5 / 4.
    std::optional<std::int64_t> max_eval = std::nullopt;
    double tolerance_grad = 1e-7;    // a step ends where no element of the gradient is larger
    double tolerance_change = 1e-9;  // a step ends where parameters or loss change by less
    std::int64_t history_size = 100; // the number of past iterations that approximate the Hessian
    std::string line_search_fn{};    // "strong_wolfe", or empty for iterations of fixed length
};
// Lists no numbers, as LBFGS has no groups.
template <class F> void each_number(LBFGSSettings&, const F&) {}
// The same options in libtorch's style, which convert to those in braces: LBFGSOptions(1).max_iter(20).
using LBFGSOptions =
    NamedOptions<LBFGSSettings, setting::lr, setting::max_iter, setting::max_eval, setting::tolerance_grad,
                 setting::tolerance_change, setting::history_size, setting::line_search_fn>;
// Minimizes a function of few parameters that is the same at each call, to a higher precision than
// first-order methods reach:
//
//     optim::LBFGS optimizer(net.parameters(), {.line_search_fn = "strong_wolfe"});
//     optimizer.step([&] {
//         optimizer.zero_grad();
//         Tensor loss = mse_loss(net(x), y);
//         loss.backward();
//         return loss;
//     });
//
// The directions are computed on the device, in the parameters' dtype.  The host reads the loss and a few
// numbers in each iteration, so a step cannot be recorded.  The parameters are one group, of one dtype and
// device; a missing gradient counts as zeros.
//
// It is no Optimizer, as it has neither groups nor a step() without a closure: schedules do not take it, and its
// state cannot be saved.  Set its rate by set_lr().
class LBFGS {
public:
    using Options = LBFGSSettings; // the options in braces
    // Throws Error(argument) for no parameters, ones that are not leaves that require a gradient, several
    // dtypes or devices, and options out of range.
    explicit LBFGS(Parameters parameters, Options = {});
    // The same for parameters in braces.
    explicit LBFGS(std::initializer_list<Tensor> parameters, Options options = {})
        : LBFGS(Parameters(parameters), std::move(options))
    {}
    // The same with a learning rate and the other options' defaults.
    template <shape::Number N> LBFGS(Parameters parameters, N lr)
        : LBFGS(std::move(parameters), Options{.lr = static_cast<double>(lr)})
    {}
    ~LBFGS();
    LBFGS(const LBFGS&) = delete;
    LBFGS& operator=(const LBFGS&) = delete;

    // Sets the gradients of all parameters to undefined, or to zeros.
    void zero_grad(bool set_to_none = true);
    // Runs up to max_iter iterations and returns the loss before them.  The closure, which is called several
    // times, is as for Optimizer::step(closure).  Throws Error(argument) for a null closure, Error(state)
    // while a program is recorded.
    Tensor step(const std::function<Tensor()>& closure);
    const std::vector<Variable>& parameters() const noexcept; // all parameters
    double get_lr() const noexcept;                           // the learning rate
    void set_lr(double);                                      // sets it; Error(argument) below 0

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace reprise::optim
