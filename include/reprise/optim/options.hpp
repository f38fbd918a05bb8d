// Options of optimizers in libtorch's style, SGDOptions(0.1).momentum(0.9), and those of a group.
#pragma once
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/settings.hpp>

namespace reprise::optim {

class Optimizer;

// The base class of options.  group.options() returns the options of an optimizer's group, which read and set
// the numbers that the optimizer has.  Other options, and copies, belong to no optimizer.
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
    double number(const char* name, double own) const; // the group's number, or `own` where there is no group
    void set_number(const char* name, double value);   // sets a number of the group
    // Throws Error(argument) for options of a group: `name` can't change there.
    void check_free(const char* name) const;

private:
    friend class Optimizer;
    Optimizer* optimizer_ = nullptr;
    std::size_t group_ = 0;
};

// A number of a group, and its range.
struct GroupNumber {
    const char* name;                                    // PyTorch's name
    double low = 0,                                      // the smallest value
        below = std::numeric_limits<double>::infinity(); // values are below this one
    bool stays_zero = false; // cannot change between 0 and another value, as moments depend on it
};
// Calls f for the first numbers of Adam and its variants, in their each_number().
template <class Fields, class F> void each_number_of_adam(Fields& o, const F& f)
{
    f({"lr"}, o.lr);
    f({"beta1", 0, 1}, o.betas.first);
    f({"beta2", 0, 1}, o.betas.second);
    f({"eps"}, o.eps);
    f({"weight_decay"}, o.weight_decay);
}

// Options that convert to and from those in braces, Fields.  each_number(fields, f) is the one list of the
// numbers of a group: it calls f(GroupNumber, value) for each, in the order in which Rule::number has them.
// Options that are not in it can't be changed in a group.
template <class FieldsOf> class OptionsWith : public OptimizerOptions {
public:
    using Fields = FieldsOf;                               // the options in braces
    OptionsWith() = default;                               // the defaults
    explicit OptionsWith(double lr) { fields_.lr = lr; }   // with this learning rate
    OptionsWith(const Fields& fields) : fields_(fields) {} // those in braces
    OptionsWith(const OptionsWith& other) : OptimizerOptions(other), fields_(other.now()) {} // a copy
    // Takes over options.  Throws Error(argument) for options of a group.
    OptionsWith& operator=(const OptionsWith& other)
    {
        OptimizerOptions::operator=(other);
        fields_ = other.now();
        return *this;
    }

    operator Fields() const { return now(); }           // the options in braces
    double get_lr() const override { return now().lr; } // the learning rate
    // Changes the learning rate.
    void set_lr(double value) override { set<setting::lr>(value); }

protected:
    // Returns the present options.
    Fields now() const
    {
        Fields fields = fields_;
        if (of_group())
            each_number(fields,
                        [this](const GroupNumber& n, double& value) { value = number(n.name, value); });
        return fields;
    }

private:
    friend detail::SettingAccess;
    // Sets an option.  Throws Error(argument) for options of a group, unless it is one of the group's numbers.
    template <class Setting, class T> void set(const T& value)
    {
        Fields fields = now();
        T& option = Setting::in(fields);
        option = value;
        if (of_group()) {
            const auto* begin = reinterpret_cast<const std::byte*>(&option);
            bool is_number = false;
            each_number(fields, [&](const GroupNumber& n, double& part) { // betas have two
                const auto* at = reinterpret_cast<const std::byte*>(&part);
                if (at < begin || at >= begin + sizeof(T)) return;
                is_number = true;
                set_number(n.name, part);
            });
            if (!is_number) check_free(Setting::name);
        }
        fields_ = fields;
    }
    template <class Setting> auto get() const
    {
        Fields fields = now();
        return Setting::in(fields);
    }

    Fields fields_{};
};

// Such options in libtorch's style: each of the settings is a function that sets the option of its name, or
// returns it.
template <class Fields, class... Settings> class NamedOptions
    : public OptionsWith<Fields>,
      public Settings::template Functions<NamedOptions<Fields, Settings...>,
                                          detail::TypeIn<Settings, Fields>>... {
public:
    using OptionsWith<Fields>::OptionsWith;
};
// The setting of the betas, which libtorch has as a tuple.
struct BetasSetting : setting::betas {
    // Its functions, from which options derive.
    template <class Options, class T> struct Functions : setting::betas::Functions<Options, T> {
        using setting::betas::Functions<Options, T>::betas;
        // Sets the betas.
        template <class A, class B> Options& betas(const std::tuple<A, B>& value)
        {
            return betas(T(std::get<0>(value), std::get<1>(value)));
        }
    };
};

} // namespace reprise::optim
