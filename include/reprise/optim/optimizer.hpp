// The base class of optimizers: parameter groups, steps, state.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/ops/updates.hpp>
#include <reprise/optim/options.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/optim/precision.hpp>
#include <reprise/optim/rule.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

class GradScaler;

} // namespace reprise

namespace reprise::optim {

using StateDict = std::map<std::string, Tensor>; // the state of an optimizer or a schedule: tensors by name

// A group of parameters with its own options, as in libtorch.
class OptimizerParamGroup {
public:
    // The parameters of a group, which can be written as group.params or group.params().
    struct List : Parameters {
        List(Parameters p) : Parameters(std::move(p)) {}                // these
        const Parameters& operator()() const noexcept { return *this; } // the list
    };
    // Without options.
    OptimizerParamGroup(Parameters p) : params(std::move(p)) {}
    // With options, such as std::make_unique<AdamOptions>(1e-4).
    OptimizerParamGroup(Parameters p, std::shared_ptr<OptimizerOptions> options)
        : params(std::move(p)), options_(std::move(options))
    {}
    List params;                                                      // the parameters
    bool has_options() const noexcept { return options_ != nullptr; } // whether it has options
    OptimizerOptions& options() { return *checked(); }                // its options, else Error(argument)
    const OptimizerOptions& options() const { return *checked(); }    // the same

private:
    OptimizerOptions* checked() const;
    std::shared_ptr<OptimizerOptions> options_;
};

// A type that converts to Parameters, other than a tensor.
template <class P>
concept ListOfParameters =
    std::convertible_to<P, Parameters> && !std::same_as<std::remove_cvref_t<P>, Parameters> &&
    !std::derived_from<std::remove_cvref_t<P>, Tensor>;

// Parameters for an optimizer, with their own options: Adam({{body, {.lr = 1e-4}}, {head}}).
template <class Options> struct ParamGroup {
    // Uses the options that the optimizer is given for all groups.
    ParamGroup(Parameters p) : params(std::move(p)) {} // NOLINT(google-explicit-constructor)
    // The same for other lists.
    template <ListOfParameters P> ParamGroup(P&& p) : params(std::forward<P>(p)) {}
    // Uses its own options.
    ParamGroup(Parameters p, const Options& o) : params(std::move(p)), options(o) {}
    // Takes a group in libtorch's form.  Throws Error(argument) for options of another optimizer.
    template <std::derived_from<OptimizerParamGroup> Group> ParamGroup(const Group& group)
        : params(group.params)
    {
        if (!group.has_options()) return;
        const auto* own = dynamic_cast<const OptionsWith<Options>*>(&group.options());
        if (!own)
            detail::fail(ErrorKind::argument, "ParamGroup",
                         "The options of a group are those of another optimizer.");
        options = static_cast<Options>(*own);
    }
    Parameters params;              // the parameters
    std::optional<Options> options; // their options; none: those of the optimizer
};

// The groups from which an optimizer is constructed, or the parameters of a single group.
template <class Options> struct ParamGroups {
    ParamGroups() = default; // none
    // One group.
    ParamGroups(Parameters p) { groups.emplace_back(std::move(p)); } // NOLINT(google-explicit-constructor)
    // The same for other lists.
    template <ListOfParameters P> ParamGroups(P&& p) { groups.emplace_back(Parameters(std::forward<P>(p))); }
    ParamGroups(std::initializer_list<Tensor> p) { groups.emplace_back(Parameters(p)); } // one group, {w, b}
    ParamGroups(std::initializer_list<ParamGroup<Options>> g) : groups(g) {}             // several groups
    ParamGroups(std::vector<ParamGroup<Options>> g) : groups(std::move(g)) {}            // the same
    // Takes several groups in libtorch's form.
    ParamGroups(const std::vector<OptimizerParamGroup>& g) : groups(g.begin(), g.end()) {}
    std::vector<ParamGroup<Options>> groups; // the groups
};

// Updates parameters by their gradients.  Inside record() a step becomes part of the program, which reads the
// learning rate, the other numbers of a group and the step number from the host at each call.  The program
// may outlive the optimizer.
//
// Parameters are in groups with their own numbers: the constructor creates the first groups, and
// add_param_group() of each optimizer further ones.  The update of all parameters is one launch; groups that
// differ in more than numbers (with or without momentum, nesterov, maximize, amsgrad, centered) run different
// kernels, one for each kind.
class Optimizer {
public:
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    // Sets the gradients of all parameters to undefined, or to zeros.
    virtual void zero_grad(bool set_to_none = true);
    // Calls the closure, performs a step and returns the closure's loss.  The closure clears the gradients,
    // computes the loss, calls backward() and returns the loss.  Throws Error(argument) for a null closure.
    Tensor step(const std::function<Tensor()>& closure);
    // Updates all parameters that have a gradient.  Where a gradient does not fit, an Error is thrown and no
    // parameter changes.  Where the device cannot compute the new values, reading them throws, unless the
    // device is lost: then step() does.
    void step();
    // Updates the parameters unless `skip`, a tensor of one element on their device, is nonzero: then parameters,
    // moments and step numbers stay as they are.  The device decides it, and nothing waits for the value; GradScaler
    // gives whether a gradient is not finite.  From the first such step on, the device counts the steps of the group,
    // and numbers that depend on them, such as Adam's 1 - beta1^t, are computed there in f32; programs that were
    // recorded with step() before that throw Error(state) at their next call.  Errors as of step(); Error(shape) where
    // skip has not one element, Error(argument) where not all parameters are on its device.  NaN skips, too: for a
    // gradient norm that is too large or NaN, give logical_not(norm <= limit).  The first call must not run beside a
    // program of this optimizer on another thread.  A ZeroRedundancyOptimizer skips if any rank does.
    void step_unless(const Tensor& skip);

    // Returns the parameters of all groups, in order.
    const std::vector<Variable>& parameters() const noexcept { return parameters_; }
    std::size_t groups() const noexcept { return groups_.size(); } // the number of groups
    // Returns the parameters of one group.  Throws Error(argument) where there is no such group, as for all
    // members that take one.
    Parameters parameters(std::size_t group) const;

    // A group as in PyTorch: for (auto& group : optimizer.param_groups()) group.lr = 0.1;  A reference to it
    // is valid while the optimizer exists, also when groups are added.  As in libtorch,
    // group.options().set_lr(0.1) does the same, and so does
    // static_cast<AdamOptions&>(group.options()).lr(0.1).
    class GroupView : public OptimizerParamGroup {
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
            Rate& operator/=(double divisor) { return *this = *this / divisor; }
            Rate& operator+=(double more) { return *this = *this + more; }
            Rate& operator-=(double less) { return *this = *this - less; }
            Rate(const Rate&) = default;
            Rate& operator=(const Rate& other) { return *this = static_cast<double>(other); }
            ~Rate() = default;

        private:
            Optimizer* optimizer_;
            std::size_t group_;
        };

    public:
        // For the library itself: param_groups() returns it.
        GroupView(Optimizer& o, std::size_t group, std::shared_ptr<OptimizerOptions> options)
            : OptimizerParamGroup(o.parameters(group), std::move(options)), lr(o, group), optimizer_(&o),
              group_(group)
        {}
        Rate lr; // the learning rate, a number that can be assigned
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
    std::deque<GroupView>& param_groups() noexcept { return views_; }             // all groups, in order
    const std::deque<GroupView>& param_groups() const noexcept { return views_; } // the same
    // Returns the options of groups without their own; changes apply to groups that are added later.
    OptimizerOptions& defaults() { return *defaults_; }
    const OptimizerOptions& defaults() const { return *defaults_; } // the same

    // Returns whether groups have a number of this name.  The names are PyTorch's: "lr", "weight_decay",
    // "momentum", "eps"; the betas are "beta1" and "beta2".
    bool has_option(const std::string& name) const;
    // Returns a number of a group.  Throws Error(argument) for an unknown name.
    double option(const std::string& name, std::size_t group = 0) const;
    // Sets a number of a group; recorded programs use it from their next call on.  Throws Error(argument) for
    // an unknown name, a value out of range, and a change of the momentum from 0 or to 0.
    void set_option(const std::string& name, double value, std::size_t group);

    double get_lr(std::size_t group = 0) const { return option("lr", group); } // the learning rate of a group
    // Sets the learning rate of all groups.
    void set_lr(double value) { set_learning_rate(value); }
    // Sets the learning rate of one group.
    void set_lr(double value, std::size_t group) { set_option("lr", value, group); }
    // The same as get_lr().
    double learning_rate(std::size_t group = 0) const { return option("lr", group); }
    // Sets the learning rate of all groups.  Throws Error(argument) for a negative one.
    void set_learning_rate(double);
    // Sets the learning rate of one group.
    void set_learning_rate(double value, std::size_t group) { set_option("lr", value, group); }
    // Returns the learning rate from which schedules start.  The first schedule of a group sets it; before
    // that it is nullopt.
    std::optional<double> initial_learning_rate(std::size_t group = 0) const;
    // Sets that learning rate.
    void set_initial_learning_rate(double, std::size_t group);

    // Returns everything that is needed to resume training.  For each group g: "param_groups.g.params" (i32, the
    // indices of its parameters) and "param_groups.g.NAME" for each number, such as "param_groups.0.lr" (i32 [2], the
    // low and the high half of the double's bits).  For each parameter i that was updated: "i.step" (i32) and its
    // moments by PyTorch's names, such as "i.momentum_buffer", or "i.exp_avg" and "i.exp_avg_sq"; with master weights
    // "i.master_param".
    virtual StateDict state_dict() const;
    // Loads a result of state_dict(), or those of all ranks of a ZeroRedundancyOptimizer together; a number may also be
    // an f32 of one element.  Recorded programs use it from their next call on.  Throws Error(argument, shape, dtype),
    // after which nothing has changed, for the state of an optimizer with other parameters, groups or options;
    // Error(state) while a program is recorded.
    virtual void load_state_dict(const StateDict&);

protected:
    // For ZeroRedundancyOptimizer, whose parameters are shards of those of a module.  Returns the tensors to update in
    // place of further parameters:
    virtual Parameters to_update(const Parameters& further) { return further; }
    // Returns the value that a step begins with.
    virtual Tensor value(std::size_t index) const { return parameters_[index]; }
    // Returns whether any rank skips a step, f32 of one element, 0 or 1; `skip` is whether this one does.
    virtual Tensor any_rank(const Tensor& skip) const { return skip; }
    virtual void begin_step() {} // called before each step; what it throws leaves everything as it was
    virtual void end_step() {}   // called after it, when the parameters have their new values
    // Returns whether an entry of the state of a parameter, such as "exp_avg", has a value for each of its elements.
    bool has_elements(std::size_t index, const std::string& entry) const;

    // A tensor that is stored for each parameter, such as a moving average.
    struct Moment {
        const char* name;   // PyTorch's name
        double initial = 0; // the value of its elements before the first step
        bool one = false;   // f32 of one element, in place of the parameter's shape and of Precision::moments
        bool needs_f32 = false; // MomentFormat::automatic is f32 for parameters of f16 and bf16, too
    };
    // Parameters to update together.
    struct Update {
        std::size_t group;                  // their group
        const std::vector<StepOf>& of;      // the parameters, gradients and moments
        const std::vector<Tensor>& numbers; // the numbers of Rule::number, one element each
        Tensor skip;                        // of step_unless(), f32 of one element; undefined in step()
        bool stochastic_rounding;           // Precision::stochastic_rounding of the group
        // Returns skip as a number of a step.
        StepNumber skipped() const { return skip.defined() ? StepNumber(skip) : StepNumber(0.0); }
    };

    using Rule = optim::Rule; // the numbers that an update takes
    // Without groups.
    explicit Optimizer(Rule rule) : rule_(std::move(rule)), steps_(std::make_shared<Steps>()) {}
    // Sets defaults().
    void set_defaults(std::unique_ptr<OptimizerOptions> options) { defaults_ = std::move(options); }
    // Adds a group with the values of Rule::options; `named` becomes the group's options().
    void add_group(Parameters, std::vector<double> values, std::vector<Moment>,
                   std::shared_ptr<OptimizerOptions> named, const Precision& = {});

private:
    friend class reprise::GradScaler;
    // Returns the new values of each parameter, of its moments and, where StepOf::low is defined, of that.
    virtual std::vector<std::vector<Tensor>> updated(const Update&) const = 0;

    struct Group {
        std::size_t first, count; // parameters
        std::vector<Moment> moments;
        Precision precision;
        std::shared_ptr<std::vector<double>> values; // of rule_.options; shared with programs
        std::optional<double> initial_lr;
        Variable made; // i32 [count]: the steps of each parameter, where the device counts them
    };
    struct Steps { // programs of several threads may count steps
        std::mutex mutex;
        std::vector<std::int64_t> made; // by parameter
        std::vector<bool> on_device;    // by group: whether Group::made has the counts instead
    };
    class Call;
    class Step;
    struct Loaded;
    std::int64_t made(std::size_t index) const;
    std::vector<std::int64_t> made(const Group&) const;
    void check_device(const Device&) const;
    void count_on_device(std::size_t group, const Device&);
    void set_made(Group&, const std::vector<std::int64_t>&);
    bool has_master(const Group&, std::size_t index) const;
    std::vector<std::pair<std::string, Tensor>> initial_state(const Group&, std::size_t index) const;
    void make_moments(const Group&, std::size_t index);
    void make_step(const Tensor& skip);
    void step_unless_any(const Tensor& skip);
    void check_parameters(const Parameters&) const;
    void check_option(std::size_t option, double value) const;
    void check_change(std::size_t option, double before, double value) const;
    const Group& group(std::size_t) const;
    std::size_t option_index(const std::string& name) const;
    Loaded read(const StateDict&) const;
    void read_group(const StateDict&, std::size_t group, Loaded&) const;
    void read_parameter(const StateDict&, const Group&, std::size_t index, Loaded&) const;
    void check_names(const StateDict&) const;

    Rule rule_;
    std::vector<Group> groups_;
    std::deque<GroupView> views_; // a deque, so that references stay valid when a group is added
    std::unique_ptr<OptimizerOptions> defaults_;
    std::vector<Variable> parameters_;
    // By parameter: the moments, then its master copy if it has one; created at its first step.
    std::vector<std::vector<Variable>> moments_;
    std::shared_ptr<Steps> steps_;
};

// The base class of optimizers with options Named, such as SGDOptions.
template <class Named> class OptimizerOf : public Optimizer {
public:
    using Options = typename Named::Fields; // the options in braces

    // Adds a group of further parameters, with its own options or those of defaults().  Throws
    // Error(argument) for no parameters, ones that are not leaves that require a gradient or come twice, and
    // options out of range.
    void add_param_group(const ParamGroup<Options>& group)
    {
        Options options = group.options ? *group.options : Options(static_cast<const Named&>(defaults()));
        std::vector<Moment> kept = moments(options);
        std::vector<double> values;
        each_number(options, [&](const GroupNumber&, double& value) { values.push_back(value); });
        Precision precision;
        if constexpr (requires { options.precision; }) precision = options.precision;
        add_group(group.params, std::move(values), std::move(kept), std::make_shared<Named>(options),
                  precision);
        kinds_.push_back(options);
    }
    // The same for parameters in braces.
    void add_param_group(std::initializer_list<Tensor> parameters)
    {
        add_param_group(ParamGroup<Options>(Parameters(parameters)));
    }
    // Adds a group of further parameters with options.  Errors as above.
    void add_param_group(Parameters parameters, const Options& options)
    {
        add_param_group(ParamGroup<Options>(std::move(parameters), options));
    }

protected:
    // Creates an optimizer without groups; each_number() lists the numbers of a group.
    explicit OptimizerOf(Rule rule) : Optimizer(with_numbers(std::move(rule))) {}
    // Adds the groups of a constructor; `usual` becomes defaults().
    void add_groups(const ParamGroups<Options>& groups, const Options& usual)
    {
        set_defaults(std::make_unique<Named>(usual));
        if (groups.groups.empty()) add_param_group(Parameters()); // throws: there are no parameters
        for (const ParamGroup<Options>& group : groups.groups) add_param_group(group);
    }
    // Returns the options that a group was created with.
    const Options& made_with(std::size_t group) const { return kinds_[group]; }

private:
    // Returns the tensors to store for each parameter of a group.  Throws Error(argument) for options that do not fit
    // together.
    virtual std::vector<Moment> moments(const Options&) const = 0;
    static Rule with_numbers(Rule rule)
    {
        Options usual;
        each_number(usual, [&](const GroupNumber& n, double&) { rule.options.push_back(n); });
        return rule;
    }
    std::vector<Options> kinds_; // by group
};

// The base class of the library's optimizers.  Self has two static functions: rule() is its Rule, and
// moments_of(options) lists the tensors to store for each parameter of a group, or throws Error(argument) for
// options that do not fit together.
template <class Self, class Named> class BuiltinOptimizer : public OptimizerOf<Named> {
public:
    using Options = typename Named::Fields; // the options in braces

    // Creates an optimizer of one group, Adam(net.parameters(), {.lr = 0.1}), or of several.  The options are
    // those of groups without their own.  Throws Error(argument) for no parameters, ones that are not leaves
    // that require a gradient or come twice, and options out of range.
    explicit BuiltinOptimizer(const ParamGroups<Options>& groups, const Options& options = {})
        : OptimizerOf<Named>(Self::rule())
    {
        this->add_groups(groups, options);
    }
    // The same with a learning rate and the other options' defaults.
    template <shape::Number N> BuiltinOptimizer(const ParamGroups<Options>& groups, N lr)
        : BuiltinOptimizer(groups, Options{.lr = static_cast<double>(lr)})
    {}

private:
    std::vector<Optimizer::Moment> moments(const Options& o) const final { return Self::moments_of(o); }
};

} // namespace reprise::optim
