// The numbers that an optimizer's update takes, such as Adam's lr / (1 - beta1^t) in step t.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <reprise/optim/options.hpp>
#include <reprise/tensor.hpp>

namespace reprise::optim {

// An optimizer writes its numbers as one function template of a step.  For a HostStep, whose options and t are doubles
// of the host, it computes doubles.
class HostStep {
public:
    using Number = double; // the type of a number
    // Step t, from 1 on, with the options of a group.
    HostStep(const double* options, std::int64_t t) : options_(options), t_(static_cast<double>(t)) {}
    double option(std::size_t i) const { return options_[i]; }                  // an option of the group
    double of(double (*f)(const double* options)) const { return f(options_); } // a number of the options
    double t() const { return t_; }                                             // the step's number
    double power(std::size_t i) const { return std::pow(options_[i], t_); }     // option(i)^t
    double one_minus_power(std::size_t i) const { return 1 - std::pow(options_[i], t_); } // 1 - option(i)^t

private:
    const double* options_;
    double t_;
};

// A step of parameters whose steps the device counts: numbers are tensors of dtype f32.
class DeviceStep {
public:
    using Number = Tensor; // the type of a number
    // Step t, f32 of any shape, with the options of a group, which a program reads at each call.
    DeviceStep(std::shared_ptr<const std::vector<double>> options, Tensor t)
        : options_(std::move(options)), t_(std::move(t))
    {}
    Tensor option(std::size_t i) const;                  // an option of the group
    Tensor of(double (*f)(const double* options)) const; // a number of the options
    const Tensor& t() const noexcept { return t_; }      // the step's number
    Tensor power(std::size_t i) const;                   // option(i)^t, as exp(t log(option))
    Tensor one_minus_power(std::size_t i) const;         // 1 - option(i)^t, by expm1(): exact for small t

private:
    template <class F> Tensor number(F f) const;
    std::shared_ptr<const std::vector<double>> options_;
    Tensor t_;
};

// where() for numbers of the host.
inline double where(bool condition, double a, double b) { return condition ? a : b; }

// Describes the numbers that an optimizer's update takes.
struct Rule {
    const char* op;      // the optimizer's name in errors
    std::size_t numbers; // the number of numbers that an update takes
    // Computes the n-th of these numbers.
    double (*number)(std::size_t n, const HostStep&);
    // The same where the device counts the steps, for numbers that depend on t.  Null: step_unless() throws if
    // there are such numbers.
    Tensor (*number_on_device)(std::size_t n, const DeviceStep&) = nullptr;
    std::uint32_t by_step = 0; // bit n is set where number n depends on t
    // Whether the update changes nothing where Update::skip is nonzero; without it step_unless() selects by where().
    bool skips = false;
    // Whether the update rounds stochastically and takes moments in 8 bits, as the steps of ops/updates.hpp do.
    bool low_precision = false;
    std::vector<GroupNumber> options{}; // the numbers of a group, of each_number(); "lr" is the first
};

} // namespace reprise::optim
