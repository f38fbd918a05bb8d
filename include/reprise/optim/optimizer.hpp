// The base class of optimizers: parameter groups, steps, state.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/ops/updates.hpp>
#include <reprise/tensor.hpp>

namespace reprise::optim {

using StateDict = std::map<std::string, Tensor>; // the state of an optimizer or a schedule: tensors by name

// Parameters for an optimizer, with options of their own: Adam({{body, {.lr = 1e-4}}, {head}}).
template <class Options> struct ParamGroup {
    // With the options that the optimizer is given for all groups.
    ParamGroup(std::vector<Variable> p) : params(std::move(p)) {} // NOLINT(google-explicit-constructor)
    // With options of its own.
    ParamGroup(std::vector<Variable> p, const Options& o) : params(std::move(p)), options(o) {}
    std::vector<Variable> params;   // the parameters
    std::optional<Options> options; // their options; none: those of the optimizer
};

// Updates parameters by their gradients.  Inside record() a step becomes part of the program, which reads the
// learning rate, the other numbers of a group and the step number from the host at each call.  The program
// may outlive the optimizer.
//
// Parameters are in groups with numbers of their own: the constructor makes the first groups, and
// add_param_group() of each optimizer further ones.  The update of all parameters is one launch; groups that
// differ in more than numbers (with or without momentum, nesterov, maximize, amsgrad, centered) run different
// kernels, one for each kind.
class Optimizer {
public:
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    void zero_grad(); // makes the gradients of all parameters undefined
    // Calls the closure, makes a step and returns the closure's loss.  The closure clears the gradients,
    // computes the loss, calls backward() and returns the loss.  Error(argument) for a null closure.
    Tensor step(const std::function<Tensor()>& closure);
    // Updates all parameters that have a gradient.  Where a gradient does not fit, an Error is thrown and no
    // parameter changes.  Where the device cannot compute the new values, reading them throws, unless the
    // device is lost: then step() does.
    void step();

    // The parameters of all groups, in order.
    const std::vector<Variable>& parameters() const noexcept { return parameters_; }
    std::size_t groups() const noexcept { return groups_.size(); } // the number of groups
    // The parameters of one group.  Error(argument) where there is no such group, as for all members that
    // take one.
    std::vector<Variable> parameters(std::size_t group) const;

    // A group as in PyTorch: for (auto& group : optimizer.param_groups()) group.lr = 0.1;  Valid while the
    // optimizer exists.
    class GroupView {
        class Rate {
        public:
            Rate(Optimizer& o, std::size_t group) : optimizer_(&o), group_(group) {}
            operator double() const { return optimizer_->get_lr(group_); }
            Rate& operator=(double value)
            {
                optimizer_->set_lr(value, group_);
                return *this;
            }
            Rate& operator*=(double factor) { return *this = *this * factor; }

        private:
            Optimizer* optimizer_;
            std::size_t group_;
        };

    public:
        // For the library itself: param_groups() makes it.
        GroupView(Optimizer& o, std::size_t group)
            : params(o.parameters(group)), lr(o, group), optimizer_(&o), group_(group)
        {}
        std::vector<Variable> params; // the group's parameters
        Rate lr;                      // the learning rate, a number that can be assigned
        // Optimizer::option() of the group.
        double option(const std::string& name) const { return optimizer_->option(name, group_); }
        // Optimizer::set_option() of the group.
        void set_option(const std::string& name, double value)
        {
            optimizer_->set_option(name, value, group_);
        }

    private:
        Optimizer* optimizer_;
        std::size_t group_;
    };
    std::vector<GroupView> param_groups(); // views of all groups, in order

    // Whether groups have a number of this name.  The names are PyTorch's: "lr", "weight_decay", "momentum",
    // "eps"; the betas are "beta1" and "beta2".
    bool has_option(const std::string& name) const;
    // A number of a group.  Error(argument) for an unknown name.
    double option(const std::string& name, std::size_t group = 0) const;
    // Sets a number of a group; recorded programs use it from their next call on.  Error(argument) for an
    // unknown name, a value out of range, and a momentum that was 0 and is not, or the reverse.
    void set_option(const std::string& name, double value, std::size_t group);

    double get_lr(std::size_t group = 0) const { return option("lr", group); } // the learning rate of a group
    // Sets the learning rate of all groups.
    void set_lr(double value) { set_learning_rate(value); }
    // Sets the learning rate of one group.
    void set_lr(double value, std::size_t group) { set_option("lr", value, group); }
    // As get_lr().
    double learning_rate(std::size_t group = 0) const { return option("lr", group); }
    // Sets the learning rate of all groups.  Error(argument) for a negative one.
    void set_learning_rate(double);
    // Sets the learning rate of one group.
    void set_learning_rate(double value, std::size_t group) { set_option("lr", value, group); }
    // The learning rate that schedules start from, which the first schedule of a group sets; no value before.
    std::optional<double> initial_learning_rate(std::size_t group = 0) const;
    // Sets that learning rate.
    void set_initial_learning_rate(double, std::size_t group);

    // All that is needed to continue later.  For each group g: "param_groups.g.params" (i32, the indices of
    // its parameters) and "param_groups.g.NAME" for each number, such as "param_groups.0.lr" (i32 [2], the
    // low and the high half of the double's bits).  For each parameter i that was updated: "i.step" (i32) and
    // its moments by PyTorch's names, such as "i.momentum_buffer", or "i.exp_avg" and "i.exp_avg_sq".
    StateDict state_dict() const;
    // Loads what state_dict() returned; a number may also be an f32 of one element.  Recorded programs use it
    // from their next call on.  Error(argument, shape, dtype), after which nothing has changed, for the state
    // of an optimizer with other parameters, groups or options; Error(state) while a program is recorded.
    void load_state_dict(const StateDict&);

protected:
    // A number of a group, and its range.
    struct Option {
        const char* name;                                    // PyTorch's name
        double low = 0,                                      // the smallest value
            below = std::numeric_limits<double>::infinity(); // values are below this one
        bool stays_zero = false; // cannot change between 0 and another value, as moments depend on it
    };
    // How an optimizer computes its numbers.
    struct Rule {
        const char* op;              // the optimizer's name in errors
        std::vector<Option> options; // the numbers of a group; "lr" is the first
        std::size_t numbers;         // how many numbers an update takes
        // Computes the n-th of these numbers from the group's options, in their order, and the step's number,
        // from 1 on.
        double (*number)(std::size_t n, const double* options, std::int64_t step);
        std::uint32_t by_step; // bit n is set where number n depends on the step's number
    };
    // A tensor that is kept for each parameter.
    struct Moment {
        const char* name;   // PyTorch's name
        double initial = 0; // the value of its elements before the first step
    };
    // Parameters to update together.
    struct Update {
        std::size_t group;                  // their group
        const std::vector<StepOf>& of;      // the parameters, gradients and moments
        const std::vector<Tensor>& numbers; // the numbers of Rule::number, one element each
    };

    // Without groups.
    explicit Optimizer(Rule rule) : rule_(std::move(rule)), steps_(std::make_shared<Steps>()) {}
    // Adds all groups of a constructor by add_param_group(); `usual` are the options of groups without their
    // own.
    template <class Own, class Options>
    static void add_groups(Own& own, std::initializer_list<ParamGroup<Options>> groups, const Options& usual)
    {
        if (groups.size() == 0) own.add_param_group({}, usual); // which says that there are no parameters
        for (const ParamGroup<Options>& g : groups) own.add_param_group(g.params, g.options.value_or(usual));
    }
    // Adds a group with the values of Rule::options.
    void add_group(std::vector<Variable> parameters, std::vector<double> values, std::vector<Moment>);

private:
    // The new values of each parameter and of its moments, in this order.
    virtual std::vector<std::vector<Tensor>> updated(const Update&) const = 0;

    struct Group {
        std::size_t first, count; // parameters
        std::vector<Moment> moments;
        std::shared_ptr<std::vector<double>> values; // of rule_.options; programs hold them
        std::optional<double> initial_lr;
    };
    struct Steps { // programs on several threads may count
        std::mutex mutex;
        std::vector<std::int64_t> made; // by parameter
    };
    class Call;
    struct Loaded;
    std::int64_t made(std::size_t index) const;
    void make_moments(const Group&, std::size_t index);
    void check_parameters(const std::vector<Variable>&) const;
    void check_option(std::size_t option, double value) const;
    void check_change(std::size_t option, double before, double value) const;
    const Group& group(std::size_t) const;
    std::size_t option_index(const std::string& name) const;
    Loaded read(const StateDict&) const;
    void read_group(const StateDict&, std::size_t group, Loaded&, std::size_t& used) const;
    void read_parameter(const StateDict&, const Group&, std::size_t index, Loaded&, std::size_t& used) const;
    void check_names(const StateDict&) const;

    Rule rule_;
    std::vector<Group> groups_;
    std::vector<Variable> parameters_;
    std::vector<std::vector<Variable>> moments_; // by parameter; made at its first step
    std::shared_ptr<Steps> steps_;
};

} // namespace reprise::optim
