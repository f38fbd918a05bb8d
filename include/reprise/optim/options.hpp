// Options of optimizers as libtorch writes them, SGDOptions(0.1).momentum(0.9), and those of a group.
#pragma once
#include <cstddef>
#include <tuple>
#include <utility>

#include <reprise/error.hpp>

namespace reprise::optim {

class Optimizer;

// The base class of options.  group.options() is the options of an optimizer's group: it reads and sets the
// numbers that the optimizer has.  Other options, and copies, belong to no optimizer.
class OptimizerOptions {
public:
    virtual ~OptimizerOptions() = default;
    virtual double get_lr() const = 0; // the learning rate
    // Sets the learning rate; of a group, as Optimizer::set_lr().
    virtual void set_lr(double) = 0;

protected:
    OptimizerOptions() = default;                                    // of no optimizer
    OptimizerOptions(const OptimizerOptions&) noexcept {}            // of no optimizer
    OptimizerOptions& operator=(const OptimizerOptions& other);      // Error(argument) for options of a group
    bool of_group() const noexcept { return optimizer_ != nullptr; } // whether an optimizer's group has them
    // The group's number of this name, or `own` where there is no group or it has no such number.
    double number(const char* name, double own) const;
    void set_number(const char* name, double value); // sets a number of the group, if it has such a number
    // Error(argument) for options of a group: `name` can't change there.
    void check_free(const char* name) const;

private:
    friend class Optimizer;
    Optimizer* optimizer_ = nullptr;
    std::size_t group_ = 0;
};

// The numbers of a group of Adam and its kin, for their options.
template <class Fields, class F>
requires requires(Fields o) { o.eps, o.betas; }
void each_number(Fields& o, const F& f)
{
    f("lr", o.lr);
    f("eps", o.eps);
    f("weight_decay", o.weight_decay);
    f("beta1", o.betas.first);
    f("beta2", o.betas.second);
}

// Options that convert to and from those in braces, Fields.  each_number(fields, f) calls f(name, number) for
// each number of a group, with the optimizer's name of it.
template <class FieldsOf> class OptionsWith : public OptimizerOptions {
public:
    using Fields = FieldsOf;                               // the options in braces
    OptionsWith() = default;                               // the defaults
    explicit OptionsWith(double lr) { fields_.lr = lr; }   // with this learning rate
    OptionsWith(const Fields& fields) : fields_(fields) {} // those in braces
    OptionsWith(const OptionsWith& other) : OptimizerOptions(other), fields_(other.now()) {} // a copy
    // Takes over options.  Error(argument) for options of a group.
    OptionsWith& operator=(const OptionsWith& other)
    {
        OptimizerOptions::operator=(other);
        fields_ = other.now();
        return *this;
    }

    operator Fields() const { return now(); }           // the options in braces
    double get_lr() const override { return now().lr; } // the learning rate
    // Changes the learning rate.
    void set_lr(double value) override
    {
        change([&](Fields& fields) { fields.lr = value; });
    }

protected:
    // The present options.
    Fields now() const
    {
        Fields fields = fields_;
        if (of_group())
            each_number(fields, [this](const char* name, double& value) { value = number(name, value); });
        return fields;
    }
    // Calls f(fields) and takes over what it changes.
    template <class F> void change(const F& f)
    {
        Fields fields = now();
        f(fields);
        if (of_group())
            each_number(fields, [this](const char* name, double& value) { set_number(name, value); });
        fields_ = fields;
    }

private:
    Fields fields_{};
};

// An option as a member function: name(value) sets it, name() reads it.
#define REPRISE_OPTIMIZER_OPTION(name)                                                                       \
    auto& name(const decltype(Fields::name)& value)                                                          \
    {                                                                                                        \
        this->change([&](Fields& fields) { fields.name = value; });                                          \
        return *this;                                                                                        \
    }                                                                                                        \
    auto name() const { return this->now().name; }
// The same for an option that can't be changed in a group.
#define REPRISE_FIXED_OPTION(name)                                                                           \
    auto& name(const decltype(Fields::name)& value)                                                          \
    {                                                                                                        \
        this->check_free(#name);                                                                             \
        this->change([&](Fields& fields) { fields.name = value; });                                          \
        return *this;                                                                                        \
    }                                                                                                        \
    auto name() const { return this->now().name; }
// The betas, which libtorch has as a tuple.
#define REPRISE_BETAS_OPTION                                                                                 \
    REPRISE_OPTIMIZER_OPTION(betas)                                                                          \
    template <class A, class B> auto& betas(const std::tuple<A, B>& value)                                   \
    {                                                                                                        \
        return betas(std::pair<double, double>(std::get<0>(value), std::get<1>(value)));                     \
    }

} // namespace reprise::optim
