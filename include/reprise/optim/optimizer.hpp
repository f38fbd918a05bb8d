// What all optimizers share: parameter groups, steps, state.
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

using StateDict = std::map<std::string, Tensor>;

// Parameters that an optimizer is made with, and options of their own: Adam({{body, {.lr = 1e-4}}, {head}}).
template <class Options> struct ParamGroup {
    ParamGroup(std::vector<Variable> p)
        : params(std::move(p)) {} // NOLINT(google-explicit-constructor): as a dict is
    ParamGroup(std::vector<Variable> p, const Options& o) : params(std::move(p)), options(o) {}
    std::vector<Variable> params;
    std::optional<Options> options; // none: those that the optimizer is given for all groups
};

// Inside record() a step becomes part of the program; learning rate, the other numbers of a group and step numbers
// stay numbers of the host, asked for at each call.  The program keeps what it needs: it may outlive the optimizer.
//
// Parameters are in groups, each with numbers of its own: the constructor makes the first, add_param_group() of each
// optimizer further ones.  The update of all parameters is one launch; groups that differ in more than numbers (with
// and without momentum, nesterov, maximize, amsgrad, centered) run different kernels, one for each kind.
class Optimizer {
public:
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    void zero_grad();
    // The closure clears the gradients, computes the loss, calls backward() and gives the loss; then a step is made.  Gives
    // the loss.
    Tensor step(const std::function<Tensor()>& closure);
    // Updates the parameters that have a gradient.  Where one does not fit, all stay as they are.  Those that take the
    // same numbers are computed together: what can't be computed is told to who reads any of them.
    void step();

    const std::vector<Variable>& parameters() const noexcept
    {
        return parameters_;
    } // of all groups, in order
    std::size_t groups() const noexcept { return groups_.size(); }
    std::vector<Variable> parameters(std::size_t group) const;

    // A group as PyTorch shows it: for (auto& group : optimizer.param_groups()) group.lr = 0.1;  It is valid as long as
    // the optimizer.
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
        GroupView(Optimizer& o, std::size_t group)
            : params(o.parameters(group)), lr(o, group), optimizer_(&o), group_(group)
        {}
        std::vector<Variable> params;
        Rate lr;
        double option(const std::string& name) const { return optimizer_->option(name, group_); }
        void set_option(const std::string& name, double value)
        {
            optimizer_->set_option(name, value, group_);
        }

    private:
        Optimizer* optimizer_;
        std::size_t group_;
    };
    std::vector<GroupView> param_groups();

    // The numbers of a group by PyTorch's names: "lr", "weight_decay", "momentum", "eps"; betas are "beta1" and
    // "beta2".  Recorded programs follow what is set.  Error(argument) for a name or group that there is not, a
    // value out of range, and a momentum that would begin or cease to be 0.
    bool has_option(const std::string& name) const;
    double option(const std::string& name, std::size_t group = 0) const;
    void set_option(const std::string& name, double value, std::size_t group);

    double get_lr(std::size_t group = 0) const { return option("lr", group); }
    void set_lr(double value) { set_learning_rate(value); } // of all groups
    void set_lr(double value, std::size_t group) { set_option("lr", value, group); }
    double learning_rate(std::size_t group = 0) const { return option("lr", group); }
    void set_learning_rate(double); // of all groups
    void set_learning_rate(double value, std::size_t group) { set_option("lr", value, group); }
    // What schedules start from; set by the first one of a group.
    std::optional<double> initial_learning_rate(std::size_t group = 0) const;
    void set_initial_learning_rate(double, std::size_t group);

    // To go on later as if nothing had happened.  Of the group g "param_groups.g.params" (i32, the indices of its
    // parameters) and "param_groups.g.NAME" for each number, such as "param_groups.0.lr" (i32, [2]: the low and the
    // high half of the double's bits; one f32 is taken too); for the parameter with index i "i.step" (i32) and its
    // moments under PyTorch's names ("i.momentum_buffer"; "i.exp_avg", "i.exp_avg_sq").
    StateDict state_dict() const;
    void load_state_dict(const StateDict&); // all or, with an Error, nothing

protected:
    struct Option {
        const char* name;
        double low = 0, below = std::numeric_limits<double>::infinity(); // its range
        bool stays_zero = false; // or stays another number: moments depend on it
    };
    struct Rule {
        const char* op;              // for errors
        std::vector<Option> options; // "lr" is the first
        // The n-th of the numbers that an update takes, of the group's options in their order and of the step's
        // number, which starts at 1.  Programs keep it.
        std::size_t numbers;
        double (*number)(std::size_t n, const double* options, std::int64_t step);
        std::uint32_t by_step; // bit n: number n is another for another step
    };
    struct Moment {
        const char* name;   // PyTorch's
        double initial = 0; // before the first step
    };
    struct Update {
        std::size_t group;
        const std::vector<StepOf>& of;      // parameters of the group that take the same numbers
        const std::vector<Tensor>& numbers; // one element each
    };

    explicit Optimizer(Rule rule) : rule_(std::move(rule)), steps_(std::make_shared<Steps>()) {}
    template <class Own, class Options>
    static void add_groups(Own& own, std::initializer_list<ParamGroup<Options>> groups, const Options& usual)
    {
        if (groups.size() == 0) own.add_param_group({}, usual); // which says that there are no parameters
        for (const ParamGroup<Options>& g : groups) own.add_param_group(g.params, g.options.value_or(usual));
    }
    // `values`: of rule.options.
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
