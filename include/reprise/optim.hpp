// Optimizers: PyTorch's names, defaults and formulas.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::optim {

using StateDict = std::map<std::string, Tensor>;

// Inside record() a step becomes part of the program; learning rate and step numbers stay numbers of the
// host, asked for at each call.  The program keeps what it needs: it may outlive the optimizer.
class Optimizer {
public:
    virtual ~Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    void zero_grad();
    // Updates the parameters that have a gradient.  Where one does not fit, all stay as they are.
    void step();

    double learning_rate() const noexcept { return *learning_rate_; }
    void set_learning_rate(double); // recorded programs follow
    const std::vector<Variable>& parameters() const noexcept { return parameters_; }

    // To go on later as if nothing had happened: "lr" (f32, [3]: the sum is the double, so that not a bit is
    // lost), and for the parameter with index i "i.step" and its moments under PyTorch's names
    // ("i.momentum_buffer"; "i.exp_avg", "i.exp_avg_sq").
    StateDict state_dict() const;
    void load_state_dict(const StateDict&); // all or, with an Error, nothing

protected:
    // The n-th of the numbers that an update needs of the step's number, which starts at 1.
    using StepNumbers = std::function<double(std::size_t n, std::int64_t step)>;
    struct Rule {
        const char* op; // for errors
        std::vector<std::string> moments;
        std::size_t step_numbers = 0;
        StepNumbers step_number; // kept by programs: holds no reference to the optimizer
    };
    struct Update {
        const Tensor& parameter;
        const Tensor& gradient;
        const std::vector<Variable>& moments;
        const Tensor& learning_rate;             // one element
        const std::vector<Tensor>& step_numbers; // one element each
    };

    Optimizer(std::vector<Variable> parameters, double learning_rate, Rule rule);
    void check_not_negative(const char* what, double value) const;

private:
    // The new values of the parameter and of its moments, in this order.
    virtual std::vector<Tensor> updated(const Update&) const = 0;

    struct Steps { // programs on several threads may count
        std::mutex mutex;
        std::vector<std::int64_t> made; // by parameter
    };
    std::int64_t made(std::size_t index) const;
    void make_moments(std::size_t index);
    void check_entry(const std::string& name, const Tensor&) const;

    std::vector<Variable> parameters_;
    std::vector<std::vector<Variable>> moments_; // by parameter; made at its first step
    std::shared_ptr<Steps> steps_;
    std::shared_ptr<double> learning_rate_;
    Rule rule_;
};

struct SGDOptions {
    double lr = 1e-3;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
};
// g += weight_decay p;  v = momentum v + (1 - dampening) g, at first g;  p -= lr v, with nesterov
// lr (g + momentum v).
class SGD : public Optimizer {
public:
    explicit SGD(std::vector<Variable> parameters, const SGDOptions& = {});

private:
    std::vector<Tensor> updated(const Update&) const override;
    SGDOptions options_;
};

struct AdamOptions {
    double lr = 1e-3;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8;
    double weight_decay = 0; // added to the gradient
};
// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
class Adam : public Optimizer {
public:
    explicit Adam(std::vector<Variable> parameters, const AdamOptions& = {});

protected:
    Adam(const char* name, std::vector<Variable> parameters, const AdamOptions&, bool decoupled);

private:
    std::vector<Tensor> updated(const Update&) const override;
    AdamOptions options_;
    bool decoupled_; // the weight decay
};

struct AdamWOptions {
    double lr = 1e-3;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8;
    double weight_decay = 1e-2; // p -= lr weight_decay p, before the update
};
// Adam with a weight decay that is no part of the gradient.
class AdamW : public Adam {
public:
    explicit AdamW(std::vector<Variable> parameters, const AdamWOptions& = {});
};

} // namespace reprise::optim
